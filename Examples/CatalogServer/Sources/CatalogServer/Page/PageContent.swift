/// The content of the page, before it is laid out.
struct PageContent: Sendable {
    var request: PageRequest
    /// Nil if a problem kept them from being read.
    var packages: PackagePage?
    /// Nil if a problem kept them from being read.
    var statistics: CatalogStatistics?
    /// Of the requested package; nil if there is none, or if it is unknown.
    var details: PackageDetails?
    /// A sentence for people about a request that can't be answered.
    var problem: String?
    /// In bytes. No character has fewer, so that the search field accepts no longer text.
    var maximumQueryLength = ServerLimits().queryLength
    var rowsPerPage = ServerLimits().pageLength
}

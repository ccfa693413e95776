/// A request of a page, or of the packages on it: the parameters of `GET /` and of `GET /packages`.
public struct PageRequest: Sendable, Equatable {
    /// The words to search for, as they were typed; nil or without anything but spaces: all packages.
    public var query: String?
    /// Nil for all sections.
    public var section: String?
    /// From 1.
    public var page: Int
    /// The package whose details are shown; nil for none.
    public var package: String?

    public init(query: String? = nil, section: String? = nil, page: Int = 1, package: String? = nil) {
        self.query = query
        self.section = section
        self.page = page
        self.package = package
    }
}

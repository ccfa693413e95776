internal import Hummingbird
internal import HummingbirdCore
internal import PackageCatalog
internal import Quarry

extension CatalogServer {
    func addPackageRoutes(to router: Router<CatalogRequestContext>) {
        router.get("/packages") { request, _ in
            try await packages(PageRequest(QueryParameters(request.uri), limits: limits))
        }
        router.get("/packages/{name}") { _, context in
            let name = try QueryParameters.decode(context.parameters.require("name"), named: "name")
            guard let details = try await details(of: name) else { throw RequestError.noPackage(name) }
            return details
        }
        router.get("/statistics") { _, _ in try await statistics() }
    }

    /// The packages of a page.
    ///
    /// - throws: `RequestError` for a page beyond the last one, `DatabaseError`.
    func packages(_ request: PageRequest) async throws -> PackagePage {
        let list = try await catalog.list(
            matching: request.query, section: request.section, limit: limits.pageLength,
            offset: (request.page - 1) * limits.pageLength, timeout: limits.readTime)
        let pageCount = max(1, (list.matchCount + limits.pageLength - 1) / limits.pageLength)
        guard request.page <= pageCount else { throw RequestError.noPage(request.page, of: pageCount) }
        return PackagePage(
            query: request.query, section: request.section, page: request.page, pageCount: pageCount,
            matchCount: list.matchCount, packages: list.packages.map(PackagePage.Package.init))
    }

    /// A package, or nil.
    func details(of name: String) async throws -> PackageDetails? {
        try await catalog.sheet(
            of: name, depth: limits.treeDepth, limit: limits.treeLength, versionLimit: limits.versionCount,
            timeout: limits.readTime
        ).map(PackageDetails.init)
    }

    func statistics() async throws -> CatalogStatistics {
        let commit = catalog.database.lastCommitNumber
        return try await CatalogStatistics(catalog.overview(timeout: limits.readTime), commit: commit.rawValue)
    }
}

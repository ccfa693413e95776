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
        router.get("/") { request, _ in
            let html = try await page(PageRequest(QueryParameters(request.uri), limits: limits))
            return Response(
                status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
        }
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
            of: name, depth: limits.treeDepth, limit: limits.treeLength, timeout: limits.readTime
        ).map(PackageDetails.init)
    }

    func statistics() async throws -> CatalogStatistics {
        let commit = catalog.database.lastCommitNumber
        return try await CatalogStatistics(catalog.overview(timeout: limits.readTime), commit: commit.rawValue)
    }

    /// The HTML page.
    func page(_ request: PageRequest) async throws -> String {
        async let statistics = statistics()
        var content = PageContent(
            request: request,
            packages: PackagePage(page: 1, pageCount: 1, matchCount: 0, packages: []), statistics: try await statistics)
        do {
            content.packages = try await packages(request)
        } catch let error as RequestError {
            content.problem = error.sentence
        }
        if let package = request.package { content.details = try await details(of: package) }
        return try CatalogPage.render(content)
    }
}

public import Hummingbird
public import PackageCatalog
internal import Quarry

/// A catalogue of packages, served over HTTP.
///
/// ```swift
/// let catalog = try await Catalog.open(path: "catalog.sqlite")
/// let server = CatalogServer(catalog)
/// let application = Application(router: server.makeRouter())
/// ```
public struct CatalogServer: Sendable {
    let catalog: Catalog
    let limits: ServerLimits

    /// A server of an open catalogue.
    public init(_ catalog: Catalog, limits: ServerLimits = ServerLimits()) {
        self.catalog = catalog
        self.limits = limits
    }

    /// The routes.
    public func makeRouter() -> Router<CatalogRequestContext> {
        let router = Router(context: CatalogRequestContext.self)
        addPackageRoutes(to: router)
        return router
    }
}

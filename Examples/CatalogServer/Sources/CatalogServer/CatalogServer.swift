public import Hummingbird
public import HummingbirdCore
public import Logging
internal import NIOCore
public import PackageCatalog
internal import Quarry
internal import QuarryInstrumentation
public import ServiceLifecycle

/// A catalogue of packages, served over HTTP.
///
/// ```swift
/// let catalog = try await Catalog.open(path: "catalog.sqlite")
/// let server = CatalogServer(catalog)
/// let application = Application(router: server.makeRouter(), server: server.http, services: server.services)
/// ```
public struct CatalogServer: Sendable {
    let catalog: Catalog
    let limits: ServerLimits
    let logger: Logger
    let metrics = PrometheusRegistry()
    let desk: ImportDesk
    let hub: EventHub
    let reporter: StatisticsReporter
    let connections = ConnectionCounts()

    /// A server of an open catalogue, which measures its database, and logs slow statements with their plan.
    public init(
        _ catalog: Catalog, limits: ServerLimits = ServerLimits(), logger: Logger = Logger(label: "catalog-server")
    ) {
        self.catalog = catalog
        self.limits = limits
        self.logger = logger
        desk = ImportDesk(limit: limits.importCount)
        hub = EventHub(catalog, desk: desk, limits: limits, logger: logger)
        reporter = StatisticsReporter([catalog.database], factory: metrics)
        var slow = DatabaseTracing.Options([.slowStatements])
        slow.slowStatementThreshold = limits.slowStatement
        catalog.database.addTracer(LoggingTracer(logger: logger, options: slow))
        // Metrics of statements are left out: two readings of the clock for each would be felt in short lookups.
        catalog.database.addTracer(
            MetricsTracer(
                factory: metrics, options: .init([.accesses, .connections, .checkpoints, .blockedThreads, .errors])))
    }

    /// The services that run beside the routes: the source of `GET /events`, and the reports of statistics.
    public var services: [any Service] { [hub, reporter] }

    /// HTTP/1.1 with bounds for connections.
    public var http: HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionBounds(limits: limits, counts: connections)],
                idleTimeout: TimeAmount(limits.idleTime)))
    }

    /// The routes.
    public func makeRouter() -> Router<CatalogRequestContext> {
        let router = Router(context: CatalogRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestMetrics(metrics))
        router.add(middleware: ErrorAnswers())
        router.add(middleware: LengthBound(limits: limits))
        addPackageRoutes(to: router)
        addPageRoutes(to: router)
        addImportRoute(to: router)
        addEventRoute(to: router)
        addHealthRoute(to: router)
        addMetricsRoute(to: router)
        refuseOtherMethods(of: router)
        return router
    }
}

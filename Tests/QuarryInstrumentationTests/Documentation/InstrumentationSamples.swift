#if Instrumentation || AllButTLS
import Foundation
import Logging
import Metrics
import MetricsTestKit
import Quarry
import QuarryInstrumentation
import ServiceLifecycle
import Testing
import UnixSignals

/// The code of the article "QuarryInstrumentation".
@Suite(.timeLimit(.minutes(5))) struct InstrumentationSamples {
    private struct Server: Service {
        let didStart: Step

        func run() async throws {
            didStart.reach()
            try await gracefulShutdown()
        }
    }

    private func backUpEveryNight(_ dbPool: DatabasePool) async throws { try await forever() }

    private func run(path: String, logger: Logger, server: Server) async throws {
        // Before the databases are opened; they may be added later, too.
        DatabaseTracing.addTracer(LoggingTracer(logger: logger, slowStatementThreshold: .milliseconds(100)))
        DatabaseTracing.addTracer(MetricsTracer())
        DatabaseTracing.addTracer(TracingTracer())

        var configuration = Configuration()
        configuration.label = "shop"  // `db.namespace`, instead of the path
        let dbPool = try DatabasePool(path: path, configuration: configuration)

        // Services shut down in the opposite order: the database is closed after the server's last answer.
        let database = DatabaseService(
            dbPool, jobs: [.init("backup") { try await backUpEveryNight(dbPool) }], gracePeriod: .seconds(10),
            logger: logger)
        let statistics = StatisticsReporter([dbPool], every: .seconds(10))
        let group = ServiceGroup(
            services: [database, statistics, server], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }

    private func addSamplingTracer(_ dbPool: DatabasePool) {
        var options = DatabaseTracing.Options([.accesses, .connections, .errors])
        options.everyNthAccess = 10
        dbPool.addTracer(MetricsTracer(options: options))
    }

    /// In a process of its own: the tracers are for all databases of the process, and it gets a signal.
    @Test func samplesRun() async {
        await #expect(processExitsWith: .success) {
            let tests = InstrumentationSamples()
            let database = try TestDatabase()
            tests.addSamplingTracer(database.pool)
            let server = Server(didStart: Step("the server has started"))
            Task {
                try await server.didStart.reached()
                kill(getpid(), SIGTERM)
            }
            try await tests.run(path: database.path, logger: Logger(label: "test"), server: server)
        }
    }
}
#endif

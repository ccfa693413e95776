import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

@testable import CatalogServer

/// The server has ended before it listened.
private struct NotListening: Error {}

extension CatalogServer {
    /// Answers requests on a free port of this machine until a body returns.
    ///
    /// - parameters:
    ///   - services: run beside the routes.
    ///   - body: receives the port. It is cancelled if the server fails.
    func serve<Value: Sendable>(
        services: [any Service], logger: Logger,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: makeRouter(), server: http, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            services: services,
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { listening.yield(port) }
                listening.finish()
            },
            logger: logger)
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        return try await withThrowingTaskGroup(of: Value?.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await group.run()
                return nil
            }
            tasks.addTask {
                guard let port = await ports.first(where: { _ in true }) else { return nil }
                do {
                    let value = try await body(port)
                    await group.triggerGracefulShutdown()
                    return value
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
            }
            var value: Value?
            for try await ended in tasks { value = ended ?? value }
            guard let value else { throw NotListening() }
            return value
        }
    }
}

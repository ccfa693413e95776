internal import Hummingbird
internal import PackageCatalog
internal import Quarry

/// The answer of `GET /health`.
struct Health: Codable, Sendable, Equatable, ResponseEncodable {
    var status = "ok"
}

extension CatalogServer {
    func addHealthRoute(to router: Router<CatalogRequestContext>) {
        router.get("/health") { _, _ in
            guard !hub.hasBegunShutdown else { throw RequestError.shuttingDown }
            guard catalog.isFileInPlace else { throw RequestError.withoutFile }
            do {
                _ = try await catalog.database.read(timeout: limits.healthTime) { db in
                    try Int.fetchOne(db, sql: "SELECT packages FROM totals")
                }
                // Begins and ends a transaction: whether the writer and its lock can be had.
                try await catalog.database.write(timeout: limits.healthTime) { _ in }
            } catch let error as DatabaseError {
                throw RequestError.overloaded("The database can't be used: \(error.message ?? "no message").")
            }
            return Health()
        }
    }
}

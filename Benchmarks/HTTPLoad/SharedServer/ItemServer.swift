import ArgumentParser
import Foundation
import Hummingbird
import NIOCore

#if HTTP_LOAD_QUARRY
import Quarry
#else
import GRDB
#endif

/// A server of small handlers, the same with Quarry and with GRDB.
@main
struct ItemServer: AsyncParsableCommand {
    @Option(help: "The database, which is created.")
    var database: String

    @Option(help: "FULL or NORMAL.")
    var synchronous = "FULL"

    #if HTTP_LOAD_QUARRY
    @Option(help: "The threads on which reads and writes run: automatic, inline, offloaded.")
    var mode = "automatic"
    #endif

    func run() async throws {
        let pool = try DatabasePool(path: database, configuration: try configuration())
        // A setup comes before a pool's own setting.
        try await pool.writeWithoutTransaction { [synchronous] db in
            try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
        }
        try await Item.createTable(in: pool)
        let application = Application(
            router: Self.router(pool), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("Listening on http://127.0.0.1:\(port)\n".utf8))
            })
        try await application.runService()
    }

    private func configuration() throws -> Configuration {
        var configuration = Configuration()
        #if HTTP_LOAD_QUARRY
        switch mode {
        case "automatic": configuration.asyncExecution = .automatic
        case "inline": configuration.asyncExecution = .inline
        case "offloaded": configuration.asyncExecution = .offloaded
        default: throw ValidationError("--mode must be automatic, inline or offloaded, not \(mode).")
        }
        #else
        // The same number of connections.
        configuration.maximumReaderCount = 5
        #endif
        return configuration
    }

    private static func router(_ pool: DatabasePool) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("plain") { _, _ in "ok" }
        router.get("item/:id") { _, context -> Item in
            guard let id = context.parameters.get("id", as: Int64.self),
                let item = try await pool.read({ db in try Item.fetchOne(db, key: id) })
            else { throw HTTPError(.notFound) }
            return item
        }
        // A read that takes as long as one likes.
        router.get("sum/:count") { _, context -> String in
            guard let count = context.parameters.get("count", as: Int.self) else { throw HTTPError(.badRequest) }
            let sum = try await pool.read { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                        SELECT sum(n) FROM number
                        """, arguments: [count])
            }
            return "\(sum ?? 0)"
        }
        router.post("item") { _, _ -> Item in
            try await pool.write { db in
                var item = Item(id: nil, name: "new", price: 1, created: Date())
                try item.insert(db)
                return item
            }
        }
        return router
    }
}

struct Item: Codable, Sendable, FetchableRecord, MutablePersistableRecord, ResponseEncodable {
    static let databaseTableName = "item"

    var id: Int64?
    var name: String
    var price: Double
    var created: Date

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    static let count = 10_000

    static func createTable(in pool: DatabasePool) async throws {
        try await pool.write { db in
            try db.create(table: "item") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("price", .double).notNull()
                t.column("created", .datetime).notNull()
            }
            for number in 1...count {
                var item = Item(
                    id: nil, name: "item \(number)", price: Double(number) / 3,
                    created: Date(timeIntervalSince1970: 1_600_000_000 + Double(number)))
                try item.insert(db)
            }
        }
    }
}

#if Instrumentation || AllButTLS
import Foundation
import Quarry

/// A pool on a temporary file, with a table of players and the label `players`.
final class TestDatabase: Sendable {
    let pool: DatabasePool
    let path: String
    private let folder: URL

    init(_ configure: (inout Configuration) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("quarry-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("players.sqlite").path
        var configuration = Configuration()
        configuration.label = "players"
        // No access of the library's own comes between those that a test counts.
        configuration.wal.idleDelay = nil
        configure(&configuration)
        pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL);
                    INSERT INTO player (name, score) VALUES ('Arthur', 100), ('Barbara', 200), ('Craig', 300);
                    """)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The bytes of the log.
    var logSize: Int {
        (try? FileManager.default.attributesOfItem(atPath: path + "-wal"))?[.size] as? Int ?? 0
    }

    var logExists: Bool { FileManager.default.fileExists(atPath: path + "-wal") }

    /// The number of players in the file, after the pool was closed.
    func playerCount() throws -> Int {
        try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0 }
    }
}
#endif

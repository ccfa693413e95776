import Foundation
import Quarry
import QuarryTestSupport

/// A database whose table `player` has a page of zeros.
public struct DamagedFile: Sendable {
    public let path: String
    public static let rowCount = 2000

    public init(path: String) throws {
        self.path = path
        try Self.makeIntact(path)
        try Self.zeroPage(of: "player", in: path)
    }

    public static func makeIntact(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.makePlayers()
            try db.execute(
                sql: """
                    CREATE INDEX player_name ON player (name);
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO team VALUES (1, 'Reds');
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
                    INSERT INTO player SELECT i, 'player ' || i FROM n;
                    """)
        }
        try queue.close()
    }

    /// Zeros a leaf of a table, while no connection has the file open.
    public static func zeroPage(of table: String, in path: String) throws {
        let queue = try DatabaseQueue(path: path)
        let (page, size) = try queue.read { db in
            let pages = try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno",
                arguments: [table])
            return (pages[pages.count / 2], try Int.fetchOne(db, sql: "PRAGMA page_size")!)
        }
        try queue.close()
        try overwrite(path, at: (page - 1) * size, with: [UInt8](repeating: 0, count: size))
    }

    public static func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    public static let readAll = "SELECT count(name || id) FROM player NOT INDEXED"
}

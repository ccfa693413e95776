import Foundation
import Quarry
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport

/// A database whose rows tell their own content: another content is noticed wherever it comes from.
///
/// ```sql
/// CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, b BLOB)
/// CREATE TABLE u (k TEXT PRIMARY KEY, v BLOB, n INTEGER) WITHOUT ROWID
/// ```
struct SampleDatabase {
    let path: String
    let rowCount: Int

    /// - parameter reservedSize: the bytes at the end of each page that SQLite doesn't use.
    /// - parameter largeSize: the size of each seventh blob.
    init(
        path: String, pageSize: Int = 4096, reservedSize: Int = 0, isAutoVacuum: Bool = false, rowCount: Int,
        largeSize: Int
    ) throws {
        self.path = path
        self.rowCount = rowCount
        try Self.run(path) { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(isAutoVacuum ? 1 : 0);
                    PRAGMA user_version = 7;
                    """)
        }
        if reservedSize > 0 {
            // The first page is empty: its content begins at the end of what is used.
            let end = pageSize - reservedSize
            try DamagedFile.overwrite(path, at: 20, with: [UInt8(reservedSize)])
            try DamagedFile.overwrite(path, at: 105, with: [UInt8(end >> 8), UInt8(end & 0xFF)])
        }
        try Self.run(path) { db in
            try db.execute(
                sql: """
                    PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF;
                    CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, b BLOB);
                    CREATE TABLE u (k TEXT PRIMARY KEY, v BLOB, n INTEGER) WITHOUT ROWID;
                    CREATE INDEX t_s ON t (s);
                    CREATE TABLE gone (b); INSERT INTO gone VALUES (zeroblob(\(3 * pageSize)));
                    """)
            try db.inTransaction {
                for id in 1...rowCount {
                    let size = id % 7 == 0 ? largeSize : id % 40
                    try db.execute(
                        sql: "INSERT INTO t VALUES (?1, ?2, ?3)",
                        arguments: [id, "row \(id) \(size)", Self.blob(id, size)])
                    try db.execute(
                        sql: "INSERT INTO u VALUES (?1, ?2, ?3)",
                        arguments: ["key \(id)", Self.blob(-id, size), size])
                }
                return .commit
            }
            try db.execute(sql: "DROP TABLE gone")
        }
    }

    private static func run(_ path: String, _ body: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction(body)
        try queue.close()
    }

    private static func blob(_ seed: Int, _ size: Int) -> Data {
        var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
        var data = Data(capacity: size + 8)
        while data.count < size { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
        return data.prefix(size)
    }

    /// The rows of a salvaged file.
    struct Saved: Equatable {
        var t = 0
        var u = 0
        /// The rows that aren't as they were.
        var changed: [String] = []
    }

    static func saved(_ path: String) throws -> Saved {
        var saved = Saved()
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.read { db in
            // The schema may be lost.
            if try db.tableExists("t") {
                for row in try Row.fetchAll(db, sql: "SELECT id, s, b FROM t") {
                    let id: Int = row[0]
                    let (text, bytes) = (row[1] as DatabaseValue, row[2] as DatabaseValue)
                    let data = Data.fromDatabaseValue(bytes) ?? Data()
                    let isIntact =
                        text == "row \(id) \(data.count)".databaseValue && bytes == blob(id, data.count).databaseValue
                    saved.t += 1
                    if !isIntact { saved.changed.append("t \(id) \(text)") }
                }
            }
            if try db.tableExists("u") {
                for row in try Row.fetchAll(db, sql: "SELECT k, v, n FROM u") {
                    let values = (0..<3).map { row[$0] as DatabaseValue }
                    let id = String.fromDatabaseValue(values[0]).flatMap { Int($0.dropFirst(4)) } ?? 0
                    let size = Int.fromDatabaseValue(values[2]) ?? 0
                    let isIntact =
                        values[0] == "key \(id)".databaseValue
                        && (0...200_000 ~= size && values[1] == blob(-id, size).databaseValue)
                    saved.u += 1
                    if !isIntact { saved.changed.append("u \(values[0])") }
                }
            }
        }
        return saved
    }
}

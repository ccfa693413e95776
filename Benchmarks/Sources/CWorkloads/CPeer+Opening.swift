import BenchSupport
import CSQLiteBench
import Foundation

/// Rows 11: opening and closing, and migrating what is up to date. The file must be a database, and foreign keys are
/// enforced.
extension CPeer {
    /// Reads the applied migrations, and compares them with the expected ones, in the order of the table's index.
    static func migrate(_ fixtures: Fixtures) throws -> Workload {
        let connection = try open(fixtures.copy())
        try connection.execute(
            """
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES \(BenchSQL.migrations.map { "('\($0)')" }.joined(separator: ", "))
            """)
        let select = Statement(try connection.cached("SELECT identifier FROM grdb_migrations ORDER BY identifier"))
        let expected = BenchSQL.migrations.sorted().map { Array($0.utf8) }
        let mutex = PthreadMutex()
        return .sync { range in
            for _ in range {
                let isUpToDate = try mutex.withLock {
                    defer { sqlite3_reset(select.pointer) }
                    for identifier in expected {
                        guard try connection.step(select.pointer),
                            let text = sqlite3_column_text(select.pointer, 0),
                            Int(sqlite3_column_bytes(select.pointer, 0)) == identifier.count,
                            memcmp(text, identifier, identifier.count) == 0
                        else { return false }
                    }
                    return try !connection.step(select.pointer)
                }
                guard isUpToDate else { throw SQLiteFailure(code: SQLITE_MISMATCH, message: "not up to date") }
            }
            return range.count
        }
    }

    /// Unchecked: used under the mutex alone.
    private struct Statement: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
    }

    static func openConnection(_ fixtures: Fixtures) throws -> Workload {
        let path = try fixtures.copy()
        return .sync { range in
            for _ in range {
                _ = try open(path)
            }
            return range.count
        }
    }

    /// The connections a pool opens for its first read: a writer that switches to WAL mode, and a reader.
    static func openWriterAndReader(_ fixtures: Fixtures) throws -> Workload {
        let path = try fixtures.copy()
        return .sync { range in
            var sum = 0
            for _ in range {
                let writer = try open(path)
                try writer.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
                // In this block, so that the reader is closed before the writer, which takes the log away.
                do {
                    let reader = try open(path, flags: SQLITE_OPEN_READONLY)
                    try reader.execute("BEGIN DEFERRED TRANSACTION; PRAGMA schema_version")
                    sum &+= try reader.integer(BenchSQL.selectScore)
                    try reader.execute("COMMIT TRANSACTION")
                }
                withExtendedLifetime(writer) {}
            }
            return sum
        }
    }

    private static func open(
        _ path: String, flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    ) throws -> Connection {
        let connection = try Connection(path, flags: flags)
        sqlite3_busy_timeout(connection.handle, 5_000)
        try connection.execute("PRAGMA foreign_keys = ON; SELECT * FROM sqlite_master LIMIT 1")
        return connection
    }
}

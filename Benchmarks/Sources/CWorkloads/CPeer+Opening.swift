import BenchSupport
import CSQLiteBench

/// Rows 11: opening and closing. The file must be a database, and foreign keys are enforced.
extension CPeer {
    static func openConnection(_ fixtures: Fixtures) throws -> Workload {
        let path = try fixtures.copy()
        return .sync { range in
            for _ in range {
                _ = try open(path)
            }
            return range.count
        }
    }

    /// What a pool opens for its first read: a writer that sees to WAL mode, and a reader.
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

import QuarryCore

/// Connections in memory, for tasks that need SQLite but no database: checking a pattern, and the tokens of FTS3.
enum FullTextScratch {
    private static let idle = Lock<[Database]>([])
    private static let maximumIdleCount = 2

    /// Runs `body` with a connection that no other caller uses.
    static func with<T>(_ body: (Database) throws -> T) throws -> T {
        let db = try idle.withLock { $0.popLast() } ?? Database(path: ":memory:", options: ConnectionOptions())
        defer {
            idle.withLock { idle in
                if idle.count < maximumIdleCount { idle.append(db) }
            }
        }
        do {
            return try db.asAccess(body)
        } catch let error as DatabaseError {
            // The error leaves out the SQL, which the caller hasn't written.
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }

    /// Throws for a pattern with a NUL, which SQLite would read only in part.
    static func check(_ rawPattern: String) throws(DatabaseError) {
        guard rawPattern.utf8.contains(0) else { return }
        throw DatabaseError(message: "the pattern has a NUL character: \(String(reflecting: rawPattern))")
    }

    /// Searches for the first row that matches a pattern; throws if the pattern is invalid.
    static func look(for rawPattern: String, _ sql: String, _ db: Database) throws {
        do {
            _ = try Row.fetchOne(db.makeStatement(sql: sql), arguments: [rawPattern])
        } catch let error as DatabaseError {
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }
}

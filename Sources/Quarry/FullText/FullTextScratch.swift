import QuarryCore

/// Connections in memory, for what needs SQLite and no database: the check of a pattern, the tokens of FTS3.
enum FullTextScratch {
    private static let idle = Lock<[Database]>([])
    private static let maximumIdleCount = 2

    /// Runs `body` with a connection that nobody else has.
    static func with<T>(_ body: (Database) throws -> T) throws -> T {
        let db = try idle.withLock { $0.popLast() } ?? Configuration().open(path: ":memory:", readonly: false)
        defer {
            idle.withLock { idle in
                if idle.count < maximumIdleCount { idle.append(db) }
            }
        }
        do {
            return try AccessRunner.frame(db, nil, body)
        } catch let error as DatabaseError {
            // The SQL is nothing to the caller.
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }

    /// Throws for a pattern that SQLite would read in part.
    static func check(_ rawPattern: String) throws(DatabaseError) {
        guard rawPattern.utf8.contains(0) else { return }
        throw DatabaseError(message: "the pattern has a NUL character: \(String(reflecting: rawPattern))")
    }

    /// Looks for the first row of a pattern, which throws if that is wrong.
    static func look(for rawPattern: String, _ sql: String, _ db: Database) throws {
        do {
            _ = try Row.fetchOne(db.makeStatement(sql: sql), arguments: [rawPattern])
        } catch let error as DatabaseError {
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }
}

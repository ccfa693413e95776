import Quarry

/// SQL with any number of statements: each is found, nothing between them is lost, and whatever runs leaves the
/// connection usable.
enum Statements {
    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.statementTimeout = 0.05
        configuration.prepareDatabase { db in
            // Nothing is attached, which would write files; and nothing is large.
            try db.setLimit(.attached, to: 0)
            try db.setLimit(.length, to: 100_000)
            try db.setLimit(.sqlLength, to: 100_000)
        }
        return configuration
    }

    static func check(_ bytes: [UInt8]) throws {
        let sql = String(decoding: bytes, as: UTF8.self)
        // This limit is the process's: https://www.sqlite.org/pragma.html#pragma_hard_heap_limit
        if sql.lowercased().contains("heap") { return }
        let queue = try DatabaseQueue(configuration: configuration())
        try queue.writeWithoutTransaction { db in
            try checkPieces(sql, db, bytes)
            try? db.execute(sql: sql)
            if db.isInsideTransaction { try db.rollback() }
        }
        let one = try queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        try expectEqual(one, 1, "the connection afterwards", bytes)
    }

    /// Prepares the statements, without running them, and each of them alone.
    private static func checkPieces(_ sql: String, _ db: Database, _ bytes: [UInt8]) throws {
        let statements: SQLStatementCursor
        var rest = Substring(sql).utf8
        do {
            statements = try db.allStatements(sql: sql)
        } catch {
            throw Violation("a series of statements began with an error: \(error)")
        }
        var count = 0
        while true {
            let statement: Statement?
            do {
                statement = try statements.next()
            } catch is DatabaseError {
                return
            }
            guard let statement else { break }
            count += 1
            let piece = Array(statement.sql.utf8)
            guard let first = piece.first, let last = piece.last else { throw Violation("a statement without SQL") }
            // A comment that has only begun needs a space to be one.
            let opensComment = piece.dropLast().suffix(2).elementsEqual("/*".utf8)
            let ends = opensComment ? [first] : [first, last]
            guard !ends.contains(where: { " \t\n\r\u{b}\u{c};".utf8.contains($0) }) else {
                throw Violation("a statement with space around it: \(String(reflecting: statement.sql))")
            }
            guard let range = rest.firstRange(of: piece) else {
                throw Violation("a statement that isn't in its place: \(String(reflecting: statement.sql))")
            }
            rest = rest[range.upperBound...]
            let alone = try db.makeStatement(sql: statement.sql)
            try expectEqual(alone.sql, statement.sql, "the statement alone", bytes)
            try expectEqual(alone.isReadonly, statement.isReadonly, "whether it only reads", bytes)
        }
        let single = Result { try db.makeStatement(sql: sql) }
        switch (single, count) {
        case (.success, 1): break
        case (.failure(let error as DatabaseError), 0):
            try expectEqual(error.message, "empty statement", "the error of no statement", bytes)
        case (.failure(let error as DatabaseError), 2...):
            try expectEqual(error.resultCode, .SQLITE_MISUSE, "the error of several statements", bytes)
        default: throw Violation("\(count) statements, and one is \(single)")
        }
    }
}

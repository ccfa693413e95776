import QuarryCore
import QuarryTestSupport
import Testing

/// A connection that its own function uses, which must not keep it.
private final class Connection: @unchecked Sendable {
    // Sendable: the function is called in an access of the connection alone.
    private weak var database: Database?

    init(_ database: Database) { self.database = database }

    func get() throws -> Database { try #require(database) }
}

/// Auxiliary functions of FTS5.
@Suite struct FTS5FunctionTests {
    private func withDocuments(_ body: (Database) throws -> Void) throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE d USING fts5(a, b);
                    INSERT INTO d(rowid, a, b) VALUES (3, 'foo bar foo', 'bar baz'), (7, 'x', ?), (9, 'y', NULL);
                    """, arguments: ["foo\0 "])
            try body(db)
        }
    }

    private func text(_ db: Database, _ name: String, _ pattern: String) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT \(name)(d) FROM d WHERE d MATCH ? ORDER BY rowid", arguments: [pattern])
    }

    @Test func matchKnowsItsRowAndSizes() throws {
        try withDocuments { (db) throws in
            db.add(
                function: FTS5Function("facts") { match in
                    """
                    row \(match.rowID) of \(try match.rowCount()), \(match.columnCount) columns, \
                    \(try match.columnText(0).debugDescription) \(try match.columnText(1).debugDescription), \
                    sizes \(try match.columnSize(0)) \(try match.columnSize(1)) \(try match.columnSize()), \
                    total \(try match.columnTotalSize(0)) \(try match.columnTotalSize(1)) \
                    \(try match.columnTotalSize()), arguments \(match.arguments.count)
                    """
                })
            #expect(
                try text(db, "facts", "foo") == [
                    #"row 3 of 3, 2 columns, "foo bar foo" "bar baz", sizes 3 2 5, total 5 3 8, arguments 0"#,
                    #"row 7 of 3, 2 columns, "x" "foo\0 ", sizes 1 1 2, total 5 3 8, arguments 0"#,
                ])
        }
    }

    @Test func matchKnowsItsPhrases() throws {
        try withDocuments { (db) throws in
            db.add(
                function: FTS5Function("places") { match in
                    let phrases = try (0..<match.phraseCount).map {
                        "\(try match.phraseSize($0)):\(try match.rowCount(withPhrase: $0))"
                    }
                    let places = try match.instances().map { "\($0.phrase)@\($0.column).\($0.offset)" }
                    return "\(phrases) \(places)"
                })
            #expect(
                try text(db, "places", #"foo OR "bar baz""#) == [
                    #"["1:2", "2:1"] ["0@0.0", "0@0.2", "1@1.0"]"#, #"["1:2", "2:1"] ["0@1.0"]"#,
                ])
        }
    }

    @Test func argumentsAndResults() throws {
        try withDocuments { (db) throws in
            db.add(function: FTS5Function("last") { match in match.arguments.last })
            let sql =
                "SELECT last(d), last(d, 1), last(d, 1, ?), last(d, 2.5), last(d, x'00'), last(d, NULL) FROM d('x')"
            let row = try #require(try Row.fetchOne(db, sql: sql, arguments: ["é\0"]))
            let values: [DatabaseValue] = [
                .null, 1.databaseValue, "é\0".databaseValue, 2.5.databaseValue, [UInt8(0)].databaseValue, .null,
            ]
            #expect(Array(row.databaseValues) == values)
            // The first of two is replaced.
            db.add(function: FTS5Function("last") { _ in "new" })
            #expect(try text(db, "last", "x") == ["new"])
        }
    }

    @Test func functionRanksRows() throws {
        try withDocuments { (db) throws in
            db.add(function: FTS5Function("hits") { match in -(try match.instanceCount()) })
            try db.execute(sql: "INSERT INTO d(rowid, a) VALUES (11, 'foo foo foo foo')")
            #expect(
                try Int.fetchAll(db, sql: "SELECT rowid FROM d('foo') WHERE rank MATCH 'hits()' ORDER BY rank")
                    == [11, 3, 7])
        }
    }

    @Test func matchTokenizesTexts() throws {
        try withDocuments { (db) throws in
            db.add(
                function: FTS5Function("words") { match in try match.tokenize("Été, the\0 END").joined(separator: "|") }
            )
            #expect(try text(db, "words", "x") == ["ete|the|end"])
        }
    }

    @Test func onceForQueryRunsOncePerQuery() throws {
        try withDocuments { (db) throws in
            let calls = Recorded(0)
            db.add(
                function: FTS5Function("numbered") { match in
                    try match.onceForQuery { match in
                        calls.update { $0 += 1 }
                        return match.phraseCount
                    }
                })
            #expect(try Int.fetchAll(db, sql: "SELECT numbered(d) FROM d('foo OR bar')") == [2, 2])
            #expect(calls.value == 1)
            #expect(try Int.fetchAll(db, sql: "SELECT numbered(d) FROM d('foo')") == [1, 1])
            #expect(calls.value == 2)
        }
    }

    @Test func errorsReachTheStatement() throws {
        struct Odd: Error, CustomStringConvertible {
            var description: String { "an odd row" }
        }
        try withDocuments { (db) throws in
            let functions: [(String, ResultCode, String, @Sendable (borrowing FTS5Match) throws -> Int?)] = [
                (
                    "f1", .SQLITE_CONSTRAINT_CHECK, "no",
                    { _ in
                        throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "no")
                    }
                ),
                ("f2", .SQLITE_ERROR, "an odd row", { _ in throw Odd() }),
                (
                    "f3", .SQLITE_RANGE, "there is no column 2: the table has 2",
                    {
                        _ = try $0.columnText(2)
                        return 1
                    }
                ),
                ("f4", .SQLITE_RANGE, "there is no column -1: the table has 2", { try $0.columnSize(-1) }),
                ("f5", .SQLITE_RANGE, "there is no column 2: the table has 2", { try $0.columnTotalSize(2) }),
                ("f6", .SQLITE_RANGE, "there is no phrase 1: the query has 1", { try $0.phraseSize(1) }),
                ("f7", .SQLITE_RANGE, "there is no phrase -1: the query has 1", { try $0.rowCount(withPhrase: -1) }),
                ("f8", .SQLITE_RANGE, "column index out of range", { try $0.instance(99).phrase }),
                ("f9", .SQLITE_RANGE, "column index out of range", { try $0.instance(-1).phrase }),
            ]
            for (name, code, message, body) in functions {
                db.add(function: FTS5Function(name) { match in try body(match) })
                let sql = "SELECT \(name)(d) FROM d('x')"
                expectError(code, message, sql: sql) { try Row.fetchAll(db, sql: sql) }
            }
            db.add(function: FTS5Function("stop") { _ in throw CancellationError() })
            let sql = "SELECT stop(d) FROM d('x')"
            expectError(.SQLITE_INTERRUPT, "interrupted", sql: sql) { try Row.fetchAll(db, sql: sql) }
            // Elsewhere there is no row.
            let outside = "SELECT f1(1)"
            let error = #expect(throws: DatabaseError.self) { try Row.fetchAll(db, sql: outside) }
            #expect(error?.message == "unable to use function f1 in the requested context")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM d") == 3)
        }
    }

    @Test func databaseInFunction() throws {
        try withDocuments { (db) throws in
            let connection = Connection(db)
            db.add(
                function: FTS5Function("total_rows") { _ in
                    try Int.fetchOne(connection.get(), sql: "SELECT COUNT(*) FROM d")
                })
            db.add(
                function: FTS5Function("again") { _ in
                    try Int.fetchOne(connection.get(), sql: "SELECT again(d) FROM d('x')")
                })
            #expect(try Int.fetchOne(db, sql: "SELECT total_rows(d) FROM d('x')") == 3)
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchOne(db, sql: "SELECT again(d) FROM d('x')")
            }
            #expect(error?.message?.contains("statements run inside each other") == true)
            #expect(try Int.fetchOne(db, sql: "SELECT total_rows(d) FROM d('x')") == 3)
        }
    }
}

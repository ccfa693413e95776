import QuarryCore
import QuarryTestSupport
import Testing

@Suite("SQL with its values")
struct SQLTests {
    private enum CodingKeys: String, CodingKey { case name, order }
    private enum Columns: String, NamedColumn { case id, score }
    private enum Team: Int, DatabaseValueConvertible { case red = 7 }

    private func expectBuilt(
        _ literal: SQL, _ sql: String, _ arguments: StatementArguments = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let built = try withConnection { try literal.build($0) }
        #expect(built.sql == sql, sourceLocation: sourceLocation)
        #expect(built.arguments == arguments, sourceLocation: sourceLocation)
    }

    @Test func valuesBecomeArguments() throws {
        try expectBuilt("SELECT 1", "SELECT 1")
        try expectBuilt("a = \("O'Brien") AND b = \(1)", "a = ? AND b = ?", ["O'Brien", 1])
        let none: String? = nil
        let some: Int? = 1
        try expectBuilt("\(none), \(some), \(1.5), \(true)", "?, ?, ?, ?", [nil, 1, 1.5, true])
        let any: any DatabaseValueConvertible = "x"
        let anyNone: (any DatabaseValueConvertible)? = nil
        try expectBuilt("\(any), \(anyNone)", "?, ?", ["x", nil])
        try expectBuilt("\(Team.red), \(DatabaseValue.null)", "?, ?", [7, nil])
        let bytes: [UInt8] = [1, 2]
        try expectBuilt("\(bytes)", "?", [bytes])
        let noBytes: [UInt8]? = nil
        try expectBuilt("\(noBytes), \([1, 2] as [UInt8])", "?, ?", [nil, bytes])
        try expectBuilt("\("'; DROP TABLE t; --")", "?", ["'; DROP TABLE t; --"])
    }

    @Test func sequencesBecomeLists() throws {
        try expectBuilt("id IN \([1, 2, 3])", "id IN (?,?,?)", [1, 2, 3])
        try expectBuilt("id IN \([1])", "id IN (?)", [1])
        try expectBuilt("id IN \([1.5, 2]), \(["a", "b"])", "id IN (?,?), (?,?)", [1.5, 2, "a", "b"])
        let small: [Int8] = [1]
        try expectBuilt("id IN \(small)", "id IN (?)", [1])
        try expectBuilt("id IN \([1, nil] as [Int?])", "id IN (?,?)", [1, nil])
        try expectBuilt("id IN \(1...3)", "id IN (?,?,?)", [1, 2, 3])
        try expectBuilt("id IN \(Set(["a"]))", "id IN (?)", ["a"])
        let mixed: [any DatabaseValueConvertible] = [1, "a"]
        try expectBuilt("id IN \(mixed)", "id IN (?,?)", [1, "a"])
        try expectBuilt("id IN \([Int]())", "id IN (SELECT NULL WHERE NULL)")
        try expectBuilt("id IN \([])", "id IN (SELECT NULL WHERE NULL)")
        try expectBuilt("id IN \([DatabaseValue.null, 1.databaseValue])", "id IN (?,?)", [nil, 1])
        try withConnection { db throws in
            #expect(try Bool.fetchOne(db, SQLRequest<Bool>("SELECT 1 IN \([Int]())")) == false)
            #expect(try Bool.fetchOne(db, SQLRequest<Bool>("SELECT 1 NOT IN \([Int]())")) == true)
            #expect(try Bool.fetchOne(db, SQLRequest<Bool>("SELECT NULL IN \([Int]())")) == false)
            #expect(try Bool.fetchOne(db, SQLRequest<Bool>("SELECT 2 IN \([1, 2])")) == true)
        }
    }

    @Test func identifiersAreQuoted() throws {
        try expectBuilt("SELECT \(identifier: "order") FROM \(identifier: #"a"b"#)", #"SELECT "order" FROM "a""b""#)
        try expectBuilt("\(Columns.score) \(CodingKeys.order)", #""score" "order""#)
        #expect("".quotedDatabaseIdentifier == #""""#)
        #expect("e\u{301}\"\u{301}".quotedDatabaseIdentifier == "\"e\u{301}\"\"\u{301}\"")
        try withConnection { db throws in
            let name = #"we"ird; -- 😀"#
            try db.execute(literal: "CREATE TABLE \(identifier: name) (\(identifier: name) TEXT)")
            try db.execute(literal: "INSERT INTO \(identifier: name) VALUES (\("x"))")
            #expect(try Row.fetchAll(db, SQLRequest<Row>("SELECT * FROM \(identifier: name)")) == [[name: "x"]])
        }
    }

    @Test func fragmentsAreEmbedded() throws {
        try expectBuilt("SELECT \(sql: "a, b") FROM t", "SELECT a, b FROM t")
        try expectBuilt("x = \(sql: "? + ?", arguments: [1, 2])", "x = ? + ?", [1, 2])
        let condition: SQL = "a = \(1)"
        try expectBuilt(
            "SELECT * FROM t WHERE \(condition) OR \(literal: condition)", "SELECT * FROM t WHERE a = ? OR a = ?",
            [1, 1])
        try expectBuilt("ORDER BY a COLLATE \(Database.CollationName.nocase)", "ORDER BY a COLLATE NOCASE")
        // A name is no SQL, whatever it holds.
        try expectBuilt(
            "ORDER BY a COLLATE \(Database.CollationName("NOCASE, (SELECT \"p\")"))",
            #"ORDER BY a COLLATE "NOCASE, (SELECT ""p"")""#)
        #expect(Database.CollationName.binary.rawValue == "BINARY" && Database.CollationName.rtrim.rawValue == "RTRIM")
        #expect(Database.CollationName(rawValue: "x") == Database.CollationName("x"))
        let request: SQLRequest<Int> = "SELECT \(2)"
        try expectBuilt("SELECT \(1) IN \(request)", "SELECT ? IN (SELECT ?)", [1, 2])
    }

    @Test func namedArgumentsOfPartsComeTogether() throws {
        let left = SQL(sql: "SELECT :a", arguments: ["a": 1])
        try expectBuilt(
            left + ", \(2), " + SQL(sql: ":b", arguments: ["b": 3]), "SELECT :a, ?, :b", ["a": 1, "b": 3] + [2])
        try withConnection { db throws in
            let twice = left + SQL(sql: ", :a", arguments: ["a": 2])
            expectError(.SQLITE_MISUSE, "already defined statement argument: a", sql: "SELECT :a, :a") {
                try db.execute(literal: twice)
            }
        }
    }

    @Test func sqlComposes() throws {
        var sql: SQL = "SELECT \(1)"
        sql.append(literal: ", \(2)")
        sql.append(sql: ", ?", arguments: [3])
        sql += ", 4"
        try expectBuilt(sql + SQL(sql: ", 5"), "SELECT ?, ?, ?, 4, 5", [1, 2, 3])
        let parts: [SQL] = ["a = \(1)", "b = \(2)"]
        try expectBuilt(parts.joined(separator: " AND "), "a = ? AND b = ?", [1, 2])
        try expectBuilt(parts.joined(), "a = ?b = ?", [1, 2])
        try expectBuilt([SQL]().joined(separator: ","), "")
        try expectBuilt([parts[0]].joined(separator: ","), "a = ?", [1])
        #expect(SQL("").isEmpty && ([SQL]().joined()).isEmpty)
        let value: SQL = "\(1)"
        #expect(!sql.isEmpty && !value.isEmpty)
    }

    @Test func connectedFragmentsAreBuiltWithTheirConnection() throws {
        struct Fragment: SQLFragment {
            var body: @Sendable (Database) throws -> (sql: String, arguments: StatementArguments)
            var nestingDepth: Int { 0 }
            var definesTable: Bool { false }

            func build(in context: any SQLContext) throws -> (sql: String, arguments: StatementArguments) {
                try body(#require(context as? Database))
            }
        }
        let changes = Fragment { db in ("? + \(db.changesCount)", [1]) }
        let sql = SQL(elements: [.sql("SELECT ", []), .fragment(changes)])
        try expectBuilt(sql, "SELECT ? + 0", [1])
        struct Failure: Error {}
        let failing = SQL(elements: [.fragment(Fragment { _ in throw Failure() })])
        try withConnection { db throws in
            #expect(throws: Failure.self) { try failing.build(db) }
            #expect(throws: Failure.self) { try db.execute(literal: failing) }
            #expect(throws: Failure.self) { try SQLRequest<Row>(literal: failing).fetchAll(db) }
        }
    }

    @Test func statementsOfLiteralsHaveTheirArguments() throws {
        try withConnection { db throws in
            try db.execute(literal: "CREATE TABLE t (a); INSERT INTO t VALUES (\(1)); INSERT INTO t VALUES (\("x"))")
            #expect(try Row.fetchAll(db, sql: "SELECT a FROM t") == [["a": 1], ["a": "x"]])
            #expect(try Int.fetchOne(db.makeStatement(literal: "SELECT \(1) + \(2)")) == 3)
            #expect(try Int.fetchOne(db.cachedStatement(literal: "SELECT \(1) + \(2)")) == 3)
            #expect(try Int.fetchOne(db.cachedStatement(literal: "SELECT \(3) + \(4)")) == 7)
        }
    }
}

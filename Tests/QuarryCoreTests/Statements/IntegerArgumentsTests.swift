import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Integers as arguments")
struct IntegerArgumentsTests {
    private func withTable(_ body: (Database, Statement) throws -> Void) throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            try body(db, db.makeStatement(sql: "INSERT INTO t VALUES (?, ?)"))
        }
    }

    private func rows(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT a, typeof(a) AS ta, b, typeof(b) AS tb FROM t ORDER BY rowid")
    }

    @Test func integersOfAnyWidthAreBound() throws {
        try withTable { db, statement in
            try statement.execute(arguments: [1, -2])
            #expect(statement.arguments == [1, -2])
            try statement.execute()
            try statement.execute(arguments: [Int64.min, .max])
            try statement.execute(arguments: [UInt8(3), 255])
            try statement.execute(arguments: [UInt64(4), UInt64(Int64.max)])
            let values = try Row.fetchAll(db, sql: "SELECT a, b FROM t ORDER BY rowid")
            #expect(
                values == [
                    ["a": 1, "b": -2], ["a": 1, "b": -2], ["a": Int64.min, "b": Int64.max], ["a": 3, "b": 255],
                    ["a": 4, "b": Int64.max],
                ])
        }
    }

    @Test func integersAmongOthersKeepTheirType() throws {
        try withTable { db, statement in
            try statement.execute(arguments: [1, 2.5])
            try statement.execute(arguments: [3, nil])
            try statement.execute(arguments: [4, "5"])
            #expect(
                try rows(db) == [
                    ["a": 1, "ta": "integer", "b": 2.5, "tb": "real"],
                    ["a": 3, "ta": "integer", "b": nil, "tb": "null"],
                    ["a": 4, "ta": "integer", "b": "5", "tb": "text"],
                ])
        }
    }

    @Test func integersReplaceOtherArguments() throws {
        try withTable { db, statement in
            try statement.execute(arguments: ["x", "y"])
            try statement.execute(arguments: [1, 2])
            #expect(statement.arguments == [1, 2])
            try statement.setArguments(["z", 3])
            #expect(statement.arguments == ["z", 3])
            try statement.execute()
            try statement.execute(arguments: [4, 5])
            statement.arguments = [6, "w"]
            #expect(statement.arguments == [6, "w"])
            try statement.execute()
            let texts = try String.fetchAll(db, sql: "SELECT a || ' ' || b FROM t ORDER BY rowid")
            #expect(texts == ["x y", "1 2", "z 3", "4 5", "6 w"])
        }
    }

    @Test(arguments: [":a, :b", "@a, $b", ":b, :a", "?2, :a"]) func integersAreBoundByName(parameters: String) throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            guard parameters != "?2, :a" else {
                // Parameters that have no name, or aren't all given.
                let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (\(parameters))")
                expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 0", sql: statement.sql) {
                    try statement.execute(arguments: ["a": 1])
                }
                return
            }
            let columns = parameters.filter { !":@$".contains($0) }
            let statement = try db.makeStatement(sql: "INSERT INTO t (\(columns)) VALUES (\(parameters))")
            let name = "a"
            try statement.execute(arguments: ["a": 1, "b": -2])
            #expect(statement.arguments == ["a": 1, "b": -2])
            try statement.execute()
            try statement.execute(arguments: ["b": Int64.min, name: .max])
            #expect(statement.arguments == ["a": Int64.max, "b": Int64.min])
            try statement.execute(arguments: ["a": UInt8(3), "b": 255])
            try statement.execute(arguments: ["a": 0, "b": 5, "a": 4])
            try statement.execute(arguments: ["a": 6, "b": nil])
            try statement.execute(arguments: ["a": "x", "b": 7.5])
            #expect(
                try Row.fetchAll(db, sql: "SELECT a, b FROM t ORDER BY rowid") == [
                    ["a": 1, "b": -2], ["a": 1, "b": -2], ["a": Int64.max, "b": Int64.min], ["a": 3, "b": 255],
                    ["a": 4, "b": 5], ["a": 6, "b": nil], ["a": "x", "b": 7.5],
                ])
            expectError(.SQLITE_MISUSE, "missing statement argument: a", sql: statement.sql) {
                try statement.execute(arguments: ["c": 1, "b": 2])
            }
            #expect(throws: DatabaseError.self) { try statement.execute(arguments: ["a": UInt64.max, "b": 1]) }
            try statement.execute(arguments: [8, 9])
            #expect(statement.arguments == [8, 9])
        }
    }

    @Test func integersAreBoundByLongAndEquivalentNames() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let long = try db.makeStatement(
                sql: "INSERT INTO t VALUES (:a_name_of_many_letters, :another_name_of_letters)")
            let name = String(decoding: Array("a_name_of_many_letters".utf8), as: UTF8.self)
            try long.execute(arguments: ["a_name_of_many_letters": 1, "another_name_of_letters": 2])
            try long.execute(arguments: [name: 3, "another_name_of_letters": 4])
            let repeated = try db.makeStatement(sql: "INSERT INTO t VALUES (:a, @a)")
            try repeated.execute(arguments: ["a": 5])
            // Two parameters with names that are one to a dictionary: the last counts.
            let accents = try db.makeStatement(sql: "INSERT INTO t VALUES (:\u{E9}, :e\u{301})")
            try accents.execute(arguments: ["\u{E9}": 6, "e\u{301}": 7])
            #expect(
                try Row.fetchAll(db, sql: "SELECT a, b FROM t ORDER BY rowid") == [
                    ["a": 1, "b": 2], ["a": 3, "b": 4], ["a": 5, "b": 5], ["a": 7, "b": 7],
                ])
        }
    }

    @Test func integersThatDoNotFitAreRefused() throws {
        try withTable { db, statement in
            let sql = "INSERT INTO t VALUES (?, ?)"
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 1", sql: sql) {
                try statement.execute(arguments: [1])
            }
            expectError(.SQLITE_MISUSE, "wrong number of statement arguments: 3", sql: sql) {
                try statement.execute(arguments: [1, 2, 3])
            }
            #expect(throws: DatabaseError.self) { try statement.execute(arguments: [UInt64.max, 1]) }
            #expect(try rows(db) == [])
            try statement.execute(arguments: [7, 8])
            #expect(try rows(db).count == 1)
        }
    }

    @Test func integersAreInTheErrorOfTheirStatement() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)")
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            try statement.execute(arguments: [1])
            let error = #expect(throws: DatabaseError.self) { try statement.execute(arguments: [1]) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
            #expect(error?.arguments == [1])
        }
    }
}

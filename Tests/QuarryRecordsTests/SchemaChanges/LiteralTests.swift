import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite("Literals in the schema")
struct LiteralTests {
    private static let values: [DatabaseValue] = [
        .null, "".databaseValue, "O'Brien".databaseValue, "'".databaseValue, "'\u{301}".databaseValue,
        "a\0b".databaseValue, "\0".databaseValue, "'\0'".databaseValue, "😀 ? :a \" -- /*".databaseValue,
        Int64.min.databaseValue, Int64.max.databaseValue, (-1).databaseValue, 0.databaseValue,
        [UInt8]().databaseValue, [0, 255, 39, 10].databaseValue, 1.5.databaseValue, 0.1.databaseValue,
        (-0.1).databaseValue, 1e300.databaseValue, Double.greatestFiniteMagnitude.databaseValue,
        Double.leastNonzeroMagnitude.databaseValue, Double.leastNormalMagnitude.databaseValue,
        (-7.017468483350796e-305).databaseValue, 0.999218512666948.databaseValue, 1e15.databaseValue,
        9_007_199_254_740_993.0.databaseValue, Double.infinity.databaseValue, (-Double.infinity).databaseValue,
        Date(timeIntervalSince1970: 0).databaseValue, true.databaseValue,
    ]

    @Test(arguments: values)
    func defaultsReadBackAsTheyAre(value: DatabaseValue) throws {
        try withConnection { db in
            try db.create(table: "t") { t in
                t.column("a", .integer)
                t.column("b", .any).defaults(to: value)
                t.column(literal: "c ANY DEFAULT \(value)")
                t.check(sql: "1")
                t.constraint(literal: "CHECK (a IS NOT \(value))")
            }
            try db.execute(sql: "INSERT INTO t (a) VALUES (12345)")
            let row = try #require(try Row.fetchOne(db, sql: "SELECT b, c FROM t"))
            #expect((row["b"] as DatabaseValue) == value)
            #expect((row["c"] as DatabaseValue) == value)
        }
    }

    @Test(arguments: values)
    func viewsAndIndexesHoldThem(value: DatabaseValue) throws {
        try withConnection { db in
            try db.create(table: "t") { t in t.column("a", .any) }
            try db.create(index: "i", on: "t", expressions: ["a = \(value)"], condition: "a IS NOT \(value)")
            try db.create(view: "v", asLiteral: "SELECT \(value) AS a")
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT a FROM v") ?? .null == value)
        }
    }

    @Test func addedColumnsHaveTheirDefaultInOldRows() throws {
        for value in Self.values {
            try withConnection { db in
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                try db.alter(table: "t") { t in t.add(column: "b", .any).defaults(to: value) }
                #expect(try DatabaseValue.fetchOne(db, sql: "SELECT b FROM t") ?? .null == value)
            }
        }
    }

    @Test func inADatabaseOfUTF16() throws {
        try withConnection { db in
            try db.execute(sql: "PRAGMA encoding = 'UTF-16'")
            try db.create(table: "t") { t in
                t.column("a")
                t.column("b").defaults(to: "é'\0b\0")
            }
            try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
            #expect(try String.fetchOne(db, sql: "SELECT b FROM t") == "é'\0b\0")
        }
    }

    @Test func whatCantBeStoredIsRefused() throws {
        try withConnection { db in
            expectError(
                .SQLITE_MISMATCH,
                "could not write 18446744073709551615 as a literal: it doesn't fit in a signed integer of 64 bits"
            ) {
                try db.create(table: "t") { t in t.column("a").defaults(to: UInt64.max) }
            }
            // As where it is bound.
            try db.create(table: "t") { t in t.column("a").defaults(to: Double.nan) }
            #expect(try schemaSQL(db) == [#"CREATE TABLE "t" ("a" DEFAULT NULL)"#])
        }
    }

    @Test func realsThatAreReadInexactlyAreWrittenOtherwise() throws {
        var random = SeededGenerator()
        print("LiteralTests.realsThatAreReadInexactlyAreWrittenOtherwise seed: \(random.seed)")
        try withConnection { db in
            for _ in 0..<500 {
                let value = Double(bitPattern: random.next())
                guard value.isFinite else { continue }
                try db.create(view: "v", asLiteral: "SELECT \(value) AS a")
                let read = try #require(try Double.fetchOne(db, sql: "SELECT a FROM v"))
                #expect(read == value, "\(value)")
                try db.drop(view: "v")
            }
        }
    }
}

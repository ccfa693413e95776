import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct PredefinedFunctionTests {
    private func withConnection(_ body: (Database) throws -> Void) throws {
        try TestConnection().access { db in
            db.addPredefinedFunctionsAndCollations()
            try body(db)
        }
    }

    @Test func functions() throws {
        try withConnection { (db) throws in
            func call(_ name: String, _ value: DatabaseValue) throws -> DatabaseValue? {
                try DatabaseValue.fetchOne(db, sql: "SELECT \(name)(?)", arguments: [value])
            }
            let text = "jérÔme ÉLAN".databaseValue
            #expect(try call("swiftCapitalizedString", text) == "Jérôme Élan".databaseValue)
            #expect(try call("swiftLowercaseString", text) == "jérôme élan".databaseValue)
            #expect(try call("swiftUppercaseString", text) == "JÉRÔME ÉLAN".databaseValue)
            #expect(try call("swiftLocalizedCapitalizedString", text) == "Jérôme Élan".databaseValue)
            #expect(try call("swiftLocalizedLowercaseString", text) == "jérôme élan".databaseValue)
            #expect(try call("swiftLocalizedUppercaseString", text) == "JÉRÔME ÉLAN".databaseValue)
            #expect(try call("swiftLowercaseString", "A\u{0}B".databaseValue) == "a\u{0}b".databaseValue)
            #expect(try call("swiftLowercaseString", .null) == .null)
            #expect(try call("swiftLowercaseString", 1.databaseValue) == "1".databaseValue)
        }
    }

    @Test(arguments: [
        (DatabaseCollation.unicodeCompare, ["A", "a", "a10", "a2", "é"]),
        (.caseInsensitiveCompare, ["A", "a", "a10", "a2", "é"]),
        (.localizedStandardCompare, ["a", "A", "a2", "a10", "é"]),
    ])
    func collations(_ collation: DatabaseCollation, _ sorted: [String]) throws {
        try withConnection { (db) throws in
            let sql = """
                SELECT column1 FROM (VALUES ('a2'), ('é'), ('A'), ('a10'), ('a'))
                ORDER BY column1 COLLATE \(collation.name), column1
                """
            #expect(try String.fetchAll(db, sql: sql) == sorted)
        }
    }

    @Test func equality() throws {
        try withConnection { (db) throws in
            func areEqual(_ lhs: String, _ rhs: String, _ collation: DatabaseCollation) throws -> Bool? {
                try Bool.fetchOne(db, sql: "SELECT ? = ? COLLATE \(collation.name)", arguments: [lhs, rhs])
            }
            #expect(try areEqual("é", "e\u{301}", .unicodeCompare) == true)
            #expect(try areEqual("é", "É", .unicodeCompare) == false)
            #expect(try areEqual("é", "É", .caseInsensitiveCompare) == true)
            #expect(try areEqual("é", "É", .localizedCaseInsensitiveCompare) == true)
            #expect(try areEqual("é", "É", .localizedCompare) == false)
            #expect(try areEqual("a", "b", .localizedCompare) == false)
        }
    }

    @Test func closureOfComparisonResults() throws {
        try withConnection { (db) throws in
            db.add(
                collation: DatabaseCollation("byLength") { lhs, rhs in
                    lhs.count < rhs.count
                        ? .orderedAscending : lhs.count > rhs.count ? .orderedDescending : .orderedSame
                })
            db.add(collation: DatabaseCollation("numeric") { $0.compare($1, options: .numeric) })
            let sql = "SELECT column1 FROM (VALUES ('10'), ('9'), ('100')) ORDER BY column1 COLLATE"
            #expect(try String.fetchAll(db, sql: "\(sql) byLength") == ["9", "10", "100"])
            #expect(try String.fetchAll(db, sql: "\(sql) numeric") == ["9", "10", "100"])
        }
    }
}

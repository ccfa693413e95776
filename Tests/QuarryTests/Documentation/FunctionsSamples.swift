import Quarry
import QuarryTestSupport
import Testing

/// The longest of some texts.
struct LongestText: DatabaseAggregate {
    private var longest: String?

    mutating func step(_ dbValues: [DatabaseValue]) {
        guard let text = String.fromDatabaseValue(dbValues[0]) else { return }
        if text.count > longest?.count ?? -1 { longest = text }
    }

    func finalize() -> (any DatabaseValueConvertible)? { longest }
}

/// A sum that also works in `OVER` clauses.
struct ExactSum: DatabaseWindowAggregate {
    private var sum = 0

    mutating func step(_ dbValues: [DatabaseValue]) { sum += Int.fromDatabaseValue(dbValues[0]) ?? 0 }
    mutating func inverse(_ dbValues: [DatabaseValue]) { sum -= Int.fromDatabaseValue(dbValues[0]) ?? 0 }
    func value() -> (any DatabaseValueConvertible)? { sum }
}

@Suite struct FunctionsSamples {
    @Test func functions() throws {
        let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { values in
            guard let name = String.fromDatabaseValue(values[0]) else { return nil }
            return String(name.split(separator: " ").compactMap(\.first))
        }

        var config = Configuration()
        config.prepareDatabase { db in
            db.add(function: initials)
        }
        let dbQueue = try DatabaseQueue(configuration: config)
        let text = try dbQueue.read { db in
            try String.fetchOne(db, sql: "SELECT initials('Arthur Dent')")  // "AD"
        }
        #expect(text == "AD")
    }

    @Test func aggregates() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.makeScoredPlayers(["Arthur": 1, "Barbara": 2, "Craig": 4])
            db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: LongestText.self))
            db.add(function: DatabaseFunction("exactSum", argumentCount: 1, aggregate: ExactSum.self))

            let name = try String.fetchOne(db, sql: "SELECT longest(name) FROM player")  // "Barbara"
            let sums = try Int.fetchAll(
                db,
                sql: """
                    SELECT exactSum(score) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM player
                    """)  // [1, 3, 6]
            #expect(name == "Barbara")
            #expect(sums == [1, 3, 6])
        }
    }

    @Test func collations() throws {
        let dbQueue = try DatabaseQueue()
        let names = try dbQueue.write { db in
            db.add(collation: DatabaseCollation("byLength") { lhs, rhs in lhs.count - rhs.count })
            return try String.fetchAll(
                db, sql: "SELECT * FROM (VALUES ('ccc'), ('a'), ('bb')) ORDER BY 1 COLLATE byLength")
        }  // ["a", "bb", "ccc"]
        #expect(names == ["a", "bb", "ccc"])
    }
}

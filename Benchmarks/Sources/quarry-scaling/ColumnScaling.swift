import BenchSupport
import CSQLiteBench
import Foundation
import Quarry

/// Rows of 1 to 200 integers.
enum ColumnScaling {
    static let counts = [1, 2, 5, 10, 20, 50, 100, 200]

    static func figures(scale: Double, report: (String) -> Void) throws -> [Figure] {
        let names = ["C", "by index", "by name, in order", "by name, backwards"]
        var figure = Figure(
            "columns-time", "Time of a column, its share of the row included", x: .log("columns of the row"),
            y: .log("nanoseconds a column"), series: names)
        for count in counts {
            report("\(count) columns")
            for (name, time) in try measure(columns: count, values: Int(1_000_000 * scale)) {
                figure.add(name, Double(count), time)
            }
        }
        return [figure]
    }

    /// Nanoseconds a column, the median of five rounds.
    private static func measure(columns: Int, values: Int) throws -> [String: Double] {
        let rows = max(100, values / columns)
        let names = (0..<columns).map { "column\($0)" }
        let backwards = Array(names.reversed())
        let select = "SELECT \(names.joined(separator: ", ")) FROM wide"
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE wide(\(names.map { "\($0) INTEGER" }.joined(separator: ", ")))")
            let expressions = names.indices.map { "n + \($0)" }.joined(separator: ", ")
            try db.execute(
                sql: """
                    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(rows))
                    INSERT INTO wide SELECT \(expressions) FROM numbers
                    """)
        }
        return try queue.read { db in
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(db.sqliteConnection, select, -1, &statement, nil) == SQLITE_OK else {
                throw BenchError.noResult
            }
            defer { sqlite3_finalize(statement) }
            let ways: [(String, () throws -> Int)] = [
                (
                    "C",
                    {
                        var sum = 0
                        while sqlite3_step(statement) == SQLITE_ROW {
                            for index in 0..<Int32(columns) { sum &+= Int(sqlite3_column_int64(statement, index)) }
                        }
                        sqlite3_reset(statement)
                        return sum
                    }
                ),
                (
                    "by index",
                    {
                        var sum = 0
                        let cursor = try Row.fetchCursor(db, sql: select)
                        while let row = try cursor.next() {
                            for index in 0..<columns { sum &+= row[index] as Int }
                        }
                        return sum
                    }
                ),
                ("by name, in order", { try sumByName(db, select, names) }),
                ("by name, backwards", { try sumByName(db, select, backwards) }),
            ]
            var times: [String: [Double]] = [:]
            var expected: Int?
            for round in 0...5 {
                for (name, body) in ways {
                    var sum = 0
                    let time = try nanoseconds { sum = try body() }
                    guard sum == expected ?? sum else {
                        throw BenchError.checksumChanged(row: name, peer: .quarry, from: expected ?? 0, to: sum)
                    }
                    expected = sum
                    // The first round warms up.
                    if round > 0 { times[name, default: []].append(time / Double(rows * columns)) }
                }
            }
            return times.mapValues(\.median)
        }
    }

    private static func sumByName(_ db: Database, _ select: String, _ names: [String]) throws -> Int {
        var sum = 0
        let cursor = try Row.fetchCursor(db, sql: select)
        while let row = try cursor.next() {
            for name in names { sum &+= row[name] as Int }
        }
        return sum
    }
}

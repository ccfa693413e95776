import BenchSupport
import CSQLiteBench
import Foundation
import Quarry

/// Many texts of statements on one connection.
enum StatementScaling {
    static let counts = [10, 100, 1_000, 10_000, 100_000]

    static func figures(scale: Double, report: (String) -> Void) throws -> [Figure] {
        let x = Figure.Axis.log("distinct statements, in turns")
        var time = Figure(
            "statements-time", "Time of a query", x: x, y: .linear("microseconds"),
            series: ["Quarry", "C, compiled each time"])
        var kept = Figure(
            "statements-kept", "Statements that the connection keeps", x: x, y: .linear("statements"),
            series: ["Quarry"])
        var memory = Figure(
            "statements-memory", "Memory of the statements", x: x, y: .linear("kilobytes"),
            series: ["SQLite's statements", "growth of the process"])
        for count in counts {
            report("\(count) statements")
            let quarry = try Measurement(.statements, "quarry", count).runInProcess(scale: scale)
            let c = try Measurement(.statements, "c", count).runInProcess(scale: scale)
            time.add("Quarry", Double(count), quarry["nanoseconds"].or(0) / 1_000)
            time.add("C, compiled each time", Double(count), c["nanoseconds"].or(0) / 1_000)
            kept.add("Quarry", Double(count), quarry["statements"].or(0))
            memory.add("SQLite's statements", Double(count), quarry["statementBytes"].or(0) / 1_000)
            memory.add("growth of the process", Double(count), quarry["growthBytes"].or(0) / 1_000)
        }
        return [time, kept, memory]
    }

    static func measure(_ variant: String, statements: Int, scale: Double) throws -> [String: Double] {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE player(id INTEGER PRIMARY KEY, score INTEGER NOT NULL)")
            try db.execute(sql: "INSERT INTO player VALUES (1, 100)")
        }
        let executions = max(statements, Int(100_000 * scale))
        let texts = (0..<statements).map { "SELECT score + \($0) FROM player WHERE id = ?" }
        let run = variant == "c" ? runC : runQuarry
        return try queue.read { db in
            _ = try run(db, texts, min(executions, 1_000))
            let before = ProcessMeter.reading().residentBytes
            var sum = 0
            let time = try nanoseconds { sum = try run(db, texts, executions) }
            let growth = ProcessMeter.reading().residentBytes - before
            let expected = (0..<executions).reduce(0) { $0 + 100 + $1 % statements }
            guard sum == expected else {
                throw BenchError.checksumChanged(row: "statements", peer: .quarry, from: expected, to: sum)
            }
            var result = ["nanoseconds": time / Double(executions), "growthBytes": max(0, growth)]
            result["statements"] = Double(keptStatements(db))
            result["statementBytes"] = Double(statementBytes(db))
            return result
        }
    }

    private static func runQuarry(_ db: Database, _ texts: [String], _ executions: Int) throws -> Int {
        var sum = 0
        for number in 0..<executions {
            sum += try Int.fetchOne(db, sql: texts[number % texts.count], arguments: [1]) ?? 0
        }
        return sum
    }

    private static func runC(_ db: Database, _ texts: [String], _ executions: Int) throws -> Int {
        var sum = 0
        for number in 0..<executions {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(db.sqliteConnection, texts[number % texts.count], -1, &statement, nil) == SQLITE_OK
            else { throw BenchError.noResult }
            defer { sqlite3_finalize(statement) }
            sqlite3_bind_int64(statement, 1, 1)
            guard sqlite3_step(statement) == SQLITE_ROW else { throw BenchError.noResult }
            sum += Int(sqlite3_column_int64(statement, 0))
        }
        return sum
    }

    private static func keptStatements(_ db: Database) -> Int {
        var count = 0
        var statement = sqlite3_next_stmt(db.sqliteConnection, nil)
        while statement != nil {
            count += 1
            statement = sqlite3_next_stmt(db.sqliteConnection, statement)
        }
        return count
    }

    /// https://www.sqlite.org/c3ref/c_dbstatus_options.html
    private static func statementBytes(_ db: Database) -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_STMT_USED, &current, &highest, 0)
        return Int(current)
    }
}

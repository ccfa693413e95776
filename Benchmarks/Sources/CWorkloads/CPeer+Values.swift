import BenchSupport
import CSQLiteBench
import Foundation

/// Rows 12: Foundation's types.
extension CPeer {
    /// An array of what `column` reads of each row.
    @inline(__always)
    static func values<Value>(
        _ fixtures: Fixtures, _ sql: String, _ column: @escaping @Sendable (OpaquePointer, Int32) -> Value,
        _ checksum: @escaping @Sendable ([Value]) -> Int
    ) throws -> Workload {
        let connection = try Connection(fixtures.readPath)
        return .sync { _ in
            let statement = try connection.cached(sql)
            defer { sqlite3_reset(statement) }
            var values: [Value] = []
            while try connection.step(statement) {
                values.append(column(statement, 0))
            }
            return checksum(values)
        }
    }

    static func bindDates() throws -> Workload {
        try bind(BenchValues.dates) { statement, date in
            bindDate(date, to: statement, at: 1)
        }
    }

    static func bindTexts() throws -> Workload {
        try bind(BenchValues.texts) { statement, text in
            bindText(text, to: statement, at: 1)
        }
    }

    @inline(__always)
    private static func bind<Value: Sendable>(
        _ values: [Value], _ bind: @escaping @Sendable (OpaquePointer, Value) -> Int32
    ) throws -> Workload {
        let connection = try Connection(":memory:")
        return Workload(
            .sync { range in
                let statement = try connection.cached(BenchSQL.selectArgument)
                for number in range {
                    guard bind(statement, values[number % values.count]) == SQLITE_OK else {
                        throw connection.failure(SQLITE_MISUSE)
                    }
                    try connection.run(statement)
                }
                return range.count
            },
            finish: {
                let statement = try connection.cached(BenchSQL.selectArgument)
                defer { sqlite3_reset(statement) }
                guard bind(statement, values[values.count - 1]) == SQLITE_OK, try connection.step(statement)
                else { throw connection.failure(SQLITE_MISUSE) }
                return columnText(statement, 0).utf8.reduce(0) { $0 &* 31 &+ Int($1) }
            })
    }
}

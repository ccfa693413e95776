import BenchSupport
import Foundation

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 12: Foundation's types.
extension LibraryWorkloads {
    static func dateArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try Date.fetchAll(db, sql: BenchSQL.selectDates))
        }
    }

    static func uuidArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try UUID.fetchAll(db, sql: BenchSQL.selectPaymentIDs))
        }
    }

    static func decimalArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try Decimal.fetchAll(db, sql: BenchSQL.selectAmounts))
        }
    }

    static func dataArray(_ fixtures: Fixtures) throws -> Workload {
        try scan(fixtures) { db in
            Checksum.of(try Data.fetchAll(db, sql: BenchSQL.selectReceipts))
        }
    }

    static func bindDate() throws -> Workload {
        try bind(BenchValues.dates[999]) { statement, number in
            try statement.execute(arguments: [BenchValues.dates[number % 1_000]])
        }
    }

    static func bindText() throws -> Workload {
        try bind(BenchValues.texts[999]) { statement, number in
            try statement.execute(arguments: [BenchValues.texts[number % 1_000]])
        }
    }

    /// Many executions of one statement in one read. The text of the last value is compared after each pass.
    private static func bind(
        _ last: any DatabaseValueConvertible & Sendable, _ body: @escaping @Sendable (Statement, Int) throws -> Void
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        return Workload(
            .sync { range in
                try queue.read { db in
                    let statement = try db.makeStatement(sql: BenchSQL.selectArgument)
                    for number in range {
                        try body(statement, number)
                    }
                    return range.count
                }
            },
            finish: {
                let text = try queue.read { try String.fetchOne($0, sql: BenchSQL.selectArgument, arguments: [last]) }
                return (text ?? "").utf8.reduce(0) { $0 &* 31 &+ Int($1) }
            })
    }
}

import BenchSupport
import Foundation

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

/// Rows 10: observations of values.
extension LibraryWorkloads {
    /// Runs callbacks where the library has the value, so that no hop of a scheduler is measured.
    private struct CallingScheduler: ValueObservationScheduler {
        func immediateInitialValue() -> Bool { false }
        func schedule(_ action: @escaping @Sendable () -> Void) { action() }
    }

    static func observe(_ writer: some DatabaseWriter) throws -> Workload {
        try createObserved(writer)
        let received = DispatchSemaphore(value: 0)
        let cancellable =
            ValueObservation
            .tracking { db in try Int.fetchOne(db.cachedStatement(sql: BenchSQL.selectObserved)) ?? 0 }
            .start(in: writer, scheduling: CallingScheduler()) {
                fatalError("\($0)")
            } onChange: { _ in
                received.signal()
            }
        received.wait()
        // GRDB may deliver the first value of a pool twice.
        _ = received.wait(timeout: .now() + 0.1)
        return Workload(
            .sync { range in
                for _ in range {
                    try writer.write { db in try db.cachedStatement(sql: BenchSQL.raiseObserved).execute() }
                    received.wait()
                }
                return withExtendedLifetime(cancellable) { range.count }
            },
            finish: {
                defer { while received.wait(timeout: .now() + 0.01) == .success {} }
                return try finish(writer)
            })
    }

    /// Writes while a hundred observations look on.
    ///
    /// - parameter others: whether they observe a hundred other tables rather than the one that is written.
    static func writeObserved(_ writer: some DatabaseWriter, _ sql: String, others: Bool) throws -> Workload {
        try createObserved(writer)
        let started = DispatchSemaphore(value: 0)
        let cancellables = (0..<100).map { number in
            let query = others ? "SELECT COUNT(score) FROM other\(number)" : BenchSQL.selectObserved
            return
                ValueObservation
                .tracking { db in try Int.fetchOne(db.cachedStatement(sql: query)) ?? 0 }
                .start(in: writer, scheduling: CallingScheduler()) {
                    fatalError("\($0)")
                } onChange: { _ in
                    started.signal()
                }
        }
        for _ in cancellables { started.wait() }
        return Workload(
            .sync { range in
                for _ in range {
                    try writer.write { db in try db.cachedStatement(sql: sql).execute() }
                }
                return withExtendedLifetime(cancellables) { range.count }
            }, finish: { try finish(writer) })
    }

    private static func createObserved(_ writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(sql: BenchSQL.createObserved)
            try db.execute(sql: BenchSQL.insertObserved)
        }
    }

    private static func finish(_ writer: some DatabaseWriter) throws -> Int {
        try writer.write { db in
            let score = try Int.fetchOne(db, sql: BenchSQL.selectObserved) ?? 0
            try db.execute(sql: BenchSQL.resetObserved)
            return score
        }
    }
}

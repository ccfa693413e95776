import Foundation
import Quarry
import QuarryCluster
import Synchronization
import Testing

/// The outcomes of the writes of many tasks, and their comparison with the database.
final class WriteLog: Sendable {
    struct Unknown: Sendable {
        let key: String
        let error: DatabaseError
    }

    private struct State {
        var acknowledged: [String] = []
        /// Failed, and nothing was kept.
        var refused: [String] = []
        /// Cancelled, and nothing was kept.
        var cancelled: [String] = []
        var unknown: [Unknown] = []
        /// Errors that should not occur.
        var others: [String] = []
        var isEnding = false
        /// The number of faults so far. Writes that begin later count for `waiters`.
        var faultCount = 0
        var acknowledgedSinceFault = 0
        var failedSinceFault = 0
        var waiters: [Waiter] = []

        /// Notes the error of a write.
        mutating func note(_ error: any Error, _ key: String) {
            switch error {
            case let error as DatabaseError where error.isRetryableInCluster: refused.append(key)
            // The statement timeout, before COMMIT.
            case let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT: refused.append(key)
            case is CancellationError: cancelled.append(key)
            case let error as DatabaseError where error.isOutcomeUnknown:
                unknown.append(Unknown(key: key, error: error))
            default: others.append("\(key): \(error)")
            }
        }

        /// Removes the waiters whose counts are reached.
        mutating func takeReadyWaiters() -> [Waiter] {
            let isReady = { [self] (waiter: Waiter) in
                waiter.count <= (waiter.wantsFailures ? failedSinceFault : acknowledgedSinceFault)
            }
            defer { waiters.removeAll(where: isReady) }
            return waiters.filter(isReady)
        }
    }

    private struct Waiter {
        let count: Int
        let wantsFailures: Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Mutex(State())
    private let padding: Int

    /// - parameter padding: the number of further bytes in each row.
    init(padding: Int = 0) { self.padding = padding }

    static let schema = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, key TEXT NOT NULL, padding BLOB NOT NULL) STRICT;
        CREATE TABLE counter (count INTEGER NOT NULL) STRICT;
        INSERT INTO counter VALUES (0)
        """

    var isEnding: Bool { state.withLock { $0.isEnding } }

    var acknowledgedCount: Int { state.withLock { $0.acknowledged.count } }
    var acknowledgedSinceFault: Int { state.withLock { $0.acknowledgedSinceFault } }
    var refusedCount: Int { state.withLock { $0.refused.count } }
    var cancelledCount: Int { state.withLock { $0.cancelled.count } }
    var unknownWrites: [Unknown] { state.withLock { $0.unknown } }

    func end() { state.withLock { $0.isEnding = true } }

    /// A fault is about to happen.
    func noteFault() {
        state.withLock { state in
            state.faultCount += 1
            (state.acknowledgedSinceFault, state.failedSinceFault) = (0, 0)
        }
    }

    /// Waits until some writes that began after the last fault have been acknowledged.
    func waitForWrites(_ count: Int) async { await wait(for: count, wantsFailures: false) }

    /// Waits until some writes that began after the last fault have failed.
    func waitForFailures(_ count: Int) async { await wait(for: count, wantsFailures: true) }

    private func wait(for count: Int, wantsFailures: Bool) async {
        await withCheckedContinuation { continuation in
            resume { $0.waiters.append(Waiter(count: count, wantsFailures: wantsFailures, continuation: continuation)) }
        }
    }

    /// Changes the state, and lets those waiters go on whose counts are reached.
    private func resume(_ change: (inout State) -> Void) {
        let ready = state.withLock { state in
            change(&state)
            return state.takeReadyWaiters()
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Writes a row with the key, and notes the outcome.
    func write(_ key: String, _ cluster: DatabaseCluster) async {
        let faultCount = state.withLock { $0.faultCount }
        do {
            try await cluster.write { db in
                try db.execute(
                    sql: "INSERT INTO item (key, padding) VALUES (?, zeroblob(?))", arguments: [key, self.padding])
                try db.execute(sql: "UPDATE counter SET count = count + 1")
            }
            resume { state in
                state.acknowledged.append(key)
                if state.faultCount == faultCount { state.acknowledgedSinceFault += 1 }
            }
        } catch {
            resume { state in
                state.note(error, key)
                if state.faultCount == faultCount { state.failedSinceFault += 1 }
            }
        }
    }

    /// Runs writers until `end`, beside `body`.
    func withWriters(_ count: Int, _ cluster: DatabaseCluster, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<count {
                group.addTask {
                    var number = 0
                    while !self.isEnding {
                        await self.write("\(writer)-\(number)", cluster)
                        number += 1
                    }
                }
            }
            defer { end() }
            try await body()
            end()
            try await group.waitForAll()
        }
    }

    /// Compares the database with the outcomes: acknowledged writes are kept once, refused ones are not, and the
    /// journal tells the others.
    func check(_ cluster: DatabaseCluster) async throws {
        let state = state.withLock { $0 }
        let (acknowledged, unknown) = (state.acknowledged, state.unknown)
        let (counts, count, integrity) = try await cluster.read { db in
            var counts: [String: Int] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT key, count(*) FROM item GROUP BY key") {
                counts[row[0]] = row[1]
            }
            return (
                counts, try Int.fetchOne(db, sql: "SELECT count FROM counter"),
                try String.fetchOne(db, sql: "PRAGMA integrity_check")
            )
        }
        let lost = acknowledged.filter { counts[$0] == nil }
        let kept = (state.refused + state.cancelled).filter { counts[$0] != nil }
        #expect(lost == [], "acknowledged writes were lost")
        #expect(kept == [], "refused or cancelled writes were kept")
        #expect(counts.filter { $0.value != 1 } == [:], "writes were kept more than once")
        #expect(state.others == [], "other errors")
        var committedCount = 0
        for write in unknown {
            // The message names the row that tells.
            let isCommitted = try await cluster.isCommitted(write.error)
            #expect(isCommitted == (counts[write.key] != nil), "\(write.key): \(write.error)")
            committedCount += isCommitted ? 1 : 0
        }
        #expect(counts.count == acknowledged.count + committedCount)
        #expect(count == counts.count)
        #expect(integrity == "ok")
        print(
            """
            \(acknowledged.count) writes acknowledged, \(state.refused.count) refused, \
            \(state.cancelled.count) cancelled, \(unknown.count) unknown
            """)
    }
}

extension DatabaseCluster {
    /// Looks up the outcome of a write in the commit journal, as its error's message says.
    func isCommitted(_ error: DatabaseError) async throws -> Bool {
        let message = try #require(error.message)
        let start = try #require(message.range(of: "the id ")?.upperBound)
        let literal = message[start...].prefix { $0 != " " }
        return try await read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS(SELECT * FROM quarry_commit WHERE id = \(literal) AND isFence = 0)") == true
        }
    }
}

import QuarryCore

/// The statements of a traced access, as a value: which run, how long they take, and which are slow.
struct TracedStatements {
    /// A statement that has begun.
    private struct Running {
        let pointer: SQLiteStatement
        let sql: String
        let isExplainable: Bool
        let start: UInt64
        let counters: StatementCounters
        /// The SQL with its arguments; nil if SQLite knows it.
        var expandedSQL: String?
        var rowCount = 0
    }

    /// A statement that has ended.
    struct Ended {
        let pointer: SQLiteStatement
        let sql: String
        /// Whether SQLite can explain it without effects: a PRAGMA may act when it is prepared.
        let isExplainable: Bool
        let expandedSQL: String?
        let start: UInt64
        /// Nanoseconds.
        let duration: UInt64
        let rowCount: Int
        let counters: StatementCounters
        var errorCode: ResultCode?
    }

    /// The slow statements that wait for their plans at most. Others are told without.
    static let maximumSlowCount = 16

    /// Whether each statement is of interest, and not only the slow ones.
    var keepsAll = false

    /// The nanoseconds from which on a statement is slow; nil if nobody asks.
    var slowThreshold: UInt64?

    /// The number of statements that have begun.
    private(set) var count = 0

    private var running: [Running] = []
    private var slow: [Ended] = []

    var runningCount: Int { running.count }
    var hasSlow: Bool { !slow.isEmpty }

    /// - parameter expandedSQL: the SQL with its arguments; nil if SQLite knows it.
    mutating func begin(
        _ pointer: SQLiteStatement, _ sql: String, isExplainable: Bool, _ counters: StatementCounters,
        expandedSQL: String? = nil, now: UInt64
    ) {
        count += 1
        // An execution that ended before its first step was never told.
        running.removeAll { $0.pointer == pointer }
        running.append(
            Running(
                pointer: pointer, sql: sql, isExplainable: isExplainable, start: now, counters: counters,
                expandedSQL: expandedSQL))
    }

    /// The statement that began last has arguments that SQLite doesn't know.
    mutating func expandLast(_ sql: String) {
        if !running.isEmpty { running[running.count - 1].expandedSQL = sql }
    }

    mutating func countRow(_ pointer: SQLiteStatement) {
        guard let index = running.lastIndex(where: { $0.pointer == pointer }) else { return }
        running[index].rowCount += 1
    }

    /// A statement ends. SQLite's own statements, for virtual tables, have not begun here.
    ///
    /// - returns: the events to tell at once. A slow statement is usually told later, with its plan.
    mutating func end(
        _ pointer: SQLiteStatement, now: UInt64, counters: () -> StatementCounters, expandedSQL: () -> String?
    ) -> [TracedEvents.Event] {
        guard let index = running.lastIndex(where: { $0.pointer == pointer }) else { return [] }
        let begun = running.remove(at: index)
        let duration = now > begun.start ? now - begun.start : 0
        let isSlow = slowThreshold.map { duration >= $0 } ?? false
        guard keepsAll || isSlow else { return [] }
        let ended = Ended(
            pointer: pointer, sql: begun.sql, isExplainable: begun.isExplainable,
            expandedSQL: expandedSQL().map { begun.expandedSQL ?? $0 },
            start: begun.start, duration: duration, rowCount: begun.rowCount, counters: counters() - begun.counters)
        var events: [TracedEvents.Event] = keepsAll ? [.statement(ended)] : []
        if isSlow {
            if slow.count < Self.maximumSlowCount {
                slow.append(ended)
            } else {
                events.append(.slowStatement(ended, nil))
            }
        }
        return events
    }

    /// The error of a statement that has ended is known.
    mutating func note(_ code: ResultCode, of pointer: SQLiteStatement) {
        guard let index = slow.lastIndex(where: { $0.pointer == pointer }) else { return }
        slow[index].errorCode = code
    }

    /// The slow statements, which are forgotten.
    mutating func takeSlow() -> [Ended] {
        defer { slow = [] }
        return slow
    }
}

import Quarry
import QuarryCore

/// Decides when a file is checked, and what is known about it.
struct CorruptionStateMachine {
    private enum State {
        /// No sign of damage.
        case clean
        /// The file is being checked.
        case checking(FileIdentity, alarmCount: Int)
        /// Checks have found nothing.
        case falseAlarm(FileIdentity, count: Int, until: UInt64)
        /// The file is damaged.
        case damaged(CorruptionReport)
    }

    /// The end of a check.
    enum Outcome {
        case damaged(CorruptionReport)
        case intact
        /// The check could not be made.
        case failed
    }

    private var state = State.clean

    /// The time after a false alarm in which errors are not checked: doubled by each, up to an hour.
    private static let firstPause: UInt64 = 60_000_000_000
    private static let longestPause: UInt64 = 3_600_000_000_000

    /// A statement has failed.
    ///
    /// - returns: whether the file must be checked.
    mutating func errorDidHappen(_ file: FileIdentity, now: UInt64) -> Bool {
        switch state {
        case .clean: state = .checking(file, alarmCount: 0)
        case .checking: return false
        case .falseAlarm(let old, let count, let until):
            if old == file, now < until { return false }
            state = .checking(file, alarmCount: old == file ? count : 0)
        case .damaged(let report):
            if report.file == file { return false }
            // Another file has the path.
            state = .checking(file, alarmCount: 0)
        }
        return true
    }

    /// A check that `errorDidHappen` has asked for has ended.
    ///
    /// - returns: the damage that wasn't known before.
    mutating func checkDidEnd(_ outcome: Outcome, now: UInt64) -> CorruptionReport? {
        guard case .checking(let file, let count) = state else { return nil }
        switch outcome {
        case .damaged(let report):
            state = .damaged(report)
            return report
        case .intact, .failed:
            let pause = min(Self.firstPause << UInt64(min(count, 10)), Self.longestPause)
            state = .falseAlarm(file, count: count + 1, until: now + pause)
            return nil
        }
    }

    /// The program's check has found damage.
    ///
    /// - returns: whether it wasn't known before.
    mutating func damageWasFound(_ report: CorruptionReport) -> Bool {
        if case .damaged(let known) = state, known.file == report.file { return false }
        state = .damaged(report)
        return true
    }

    /// The content was replaced.
    mutating func fileWasRestored() { state = .clean }

    /// The known damage; another file may have the path now.
    var knownDamage: CorruptionReport? {
        if case .damaged(let report) = state { report } else { nil }
    }
}

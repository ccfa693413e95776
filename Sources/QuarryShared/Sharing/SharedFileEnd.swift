import Quarry
import QuarryCore
import Synchronization

/// The end of the pool of a shared file: until then its connections may be open, though no part of the program can
/// begin to use them any more.
///
/// A pool that is released ends when its last access has ended: then its connections are closed, and none is opened any
/// more. The objects of an access may live on, for example while an observation's callback runs. The next pool of the
/// file waits for the end of each pool before, so that its connections are the only ones.
final class SharedFileEnd: Sendable {
    private struct State {
        /// The groups of the pool once it is released, in the order in which they are closed.
        var groups: [ConnectionGroup] = []
        /// The number of connections that are being opened.
        var openingCount = 0
        var hasEnded = false
    }

    /// How long the next pool waits. Only an access that doesn't end takes that long.
    private static let nanoseconds: UInt64 = 5_000_000_000

    private static let lastNumber = Atomic<UInt64>(0)

    /// The canonical path of the file.
    let path: String
    /// Pools that are made later have higher numbers.
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    private let state: ConditionLock<State>

    /// The gate of a database in a directory, which learns of the end.
    private let gate: (any SharedFileGate)?

    init(_ path: String, gate: (any SharedFileGate)? = nil) {
        self.path = path
        state = ConditionLock(State())
        self.gate = gate
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    // MARK: - Opening

    /// A connection is about to be opened; `openingDidEnd` follows.
    ///
    /// - throws: `SQLITE_MISUSE` after the end: an access of the library that comes so late is of no use.
    func openingWillBegin() throws {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.openingCount += 1 }
            return state.hasEnded
        }
        if hasEnded { throw DatabaseError.connectionIsClosed() }
    }

    func openingDidEnd() { state.withLock { $0.openingCount -= 1 } }

    // MARK: - Ending

    /// The pool is released. It ends now, or with its last access.
    ///
    /// - parameter groups: in the order in which they are closed.
    func poolWasReleased(_ groups: [ConnectionGroup]) {
        state.withLock { $0.groups = groups }
        // The groups and this object retain each other until the end.
        for group in groups { group.whenUnused { self.endIfUnused() } }
        endIfUnused()
    }

    private func endIfUnused() {
        let groups = state.withLock { $0.groups }
        // Looked at again: a read may have begun inside a write that has ended meanwhile.
        guard !groups.isEmpty, groups.allSatisfy({ $0.closeIfUnused() }), groups.allSatisfy(\.isUnused) else { return }
        let hasEnded = state.withLock { state in
            guard state.openingCount == 0 else { return false }
            state.hasEnded = true
            return true
        }
        if hasEnded { end() }
    }

    /// The pool has ended.
    func end() {
        let groups = state.withLock { state in
            state.hasEnded = true
            defer { state.groups = [] }
            return state.groups
        }
        state.broadcast()
        for group in groups { group.whenUnused(nil) }
        gate?.fileDidEnd()
    }

    // MARK: - Waiting

    /// Waits for the ends of pools, for a few seconds.
    ///
    /// - returns: the ends that haven't come, or can't come because this thread has a connection of the pool.
    static func wait(for ends: [SharedFileEnd]) -> [SharedFileEnd] {
        if ends.isEmpty { return [] }
        let deadline = SystemClock.monotonicNanoseconds() + nanoseconds
        return ends.filter { !$0.wait(until: deadline) }
    }

    private func wait(until deadline: UInt64) -> Bool {
        let groups = state.withLock { $0.groups }
        if groups.contains(where: { $0.ownedConnection != nil }) { return false }
        let contents = state.contents
        state.lock()
        defer { state.unlock() }
        if contents.pointee.hasEnded { return true }
        return WorkerThreads.blocking {
            while !contents.pointee.hasEnded, state.wait(until: deadline) {}
            return contents.pointee.hasEnded
        }
    }
}

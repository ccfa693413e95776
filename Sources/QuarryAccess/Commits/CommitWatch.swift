import QuarryCore
import Synchronization

/// Makes a queue or pool notice the commits of other connections while it doesn't write itself.
///
/// `CommitWatchStateMachine` decides. This type takes the lock, asks it, releases the lock, and acts. It holds neither
/// the connection nor its owner.
final class CommitWatch: FileWatcher.Client, @unchecked Sendable {
    // Sendable: the fields are used with the lock held.

    private struct State {
        var machine: CommitWatchStateMachine
        weak var runner: AccessRunner?
        /// The files to watch, and whether all of them have to exist; nil before the first look.
        var files: FileWatcher.Files?
        /// Whether the database is no file.
        var hasNoFile = false
        /// Counts the comparisons by the connection.
        var others: OtherCommits?
        var registration: FileWatcher.Registration?

        var checkCount: Int { others?.checkCount.load(ordering: .relaxed) ?? 0 }
    }

    private let state: Lock<State>

    /// - parameter runner: runs accesses on the connection that writes.
    init(_ runner: AccessRunner, _ times: CommitWatchStateMachine.Times, watchesFiles: Bool) {
        state = Lock(
            State(machine: CommitWatchStateMachine(times, watchesFiles: watchesFiles), runner: runner))
    }

    deinit { state.withLock { $0.registration.take() }?.remove() }

    /// Whether the system tells when the files change.
    var isWatching: Bool { state.withLock { $0.machine.isWatching } }

    /// Whether the database is looked at again and again.
    var isPolling: Bool { state.withLock { $0.machine.isPolling } }

    /// Whether the connection has begun to write, and has told of the commits of others before that.
    var isWriting: Bool { state.withLock { $0.others?.isWriting.load(ordering: .acquiring) ?? false } }

    /// Whether it looks at the connection of a runner.
    func looks(at runner: AccessRunner) -> Bool { state.withLock { $0.runner === runner } }

    /// The commits of others are needed from now on, or are not needed any more.
    func need(_ isNeeded: Bool) { decide { machine, _ in machine.need(isNeeded) } }

    /// The database is closed.
    func end() { decide { machine, _ in machine.end() } }

    func filesDidChange(now: UInt64) { decide { machine, _ in machine.filesDidChange(now: now) } }

    func timeDidCome(now: UInt64) {
        decide { machine, checkCount in machine.timeDidCome(checkCount: checkCount, now: now) }
    }

    private func decide(
        _ body: (inout CommitWatchStateMachine, _ checkCount: Int) -> CommitWatchStateMachine.Action
    ) {
        perform(state.withLock { body(&$0.machine, $0.checkCount) })
    }

    private func perform(_ action: CommitWatchStateMachine.Action) {
        switch action {
        case .none: break
        case .look: look()
        case .wait(let time): registration.wait(until: time)
        case .watchFiles:
            let files = state.withLock { $0.files }
            let succeeded = files.map { registration.watch($0) } ?? false
            decide { machine, _ in machine.watchDidBegin(succeeded, now: SystemClock.monotonicNanoseconds()) }
        case .stop:
            let registration = state.withLock { state in
                state.others = nil
                return state.registration.take()
            }
            registration?.remove()
        }
    }

    private var registration: FileWatcher.Registration {
        state.withLock { state in
            if let registration = state.registration { return registration }
            let registration = FileWatcher.shared.add(self)
            state.registration = registration
            return registration
        }
    }

    /// Looks at the database in an access of the library, which isn't counted as a waiter.
    private func look() {
        // The runner keeps the connection, but not the queue or pool: those may be released meanwhile.
        guard let runner = state.withLock({ $0.runner }) else { return end() }
        runner.enqueue(AccessRequest(.bare, origin: .library)) { [weak self] db in
            self?.note(db)
            db.noteOtherCommits()
        } whenReleased: { [weak self] _ in
            self?.lookDidEnd()
        }
    }

    private func note(_ db: Database) {
        let others = db.otherCommits
        let files = db.mainFilePath.map {
            // A connection that can write has made the log by now, if there has to be one.
            FileWatcher.Files(path: $0, logPath: $0 + "-wal", needsLog: db.configuration.readonly)
        }
        state.withLock { state in
            state.others = others
            state.files = files
            state.hasNoFile = files == nil
        }
    }

    private func lookDidEnd() {
        if state.withLock({ $0.hasNoFile || $0.runner?.group.isClosed ?? true }) { return end() }
        if state.withLock({ $0.machine.isWatching && $0.files != nil }) { watchAgain() }
        decide { machine, checkCount in
            machine.lookDidEnd(checkCount: checkCount, now: SystemClock.monotonicNanoseconds())
        }
    }

    /// Watches a log that was made, or made anew.
    private func watchAgain() {
        guard let (registration, files) = state.withLock({ state in state.registration.map { ($0, state.files) } }),
            let files, registration.isIncomplete
        else { return }
        let now = SystemClock.monotonicNanoseconds()
        guard registration.watch(files) else { return decide { machine, _ in machine.watchDidFail(now: now) } }
    }
}

import Dispatch
import QuarryCore
import Synchronization

/// Learns of the commits of a database: numbers them, keeps them for those who read them, and tells the observations.
///
/// `CommitClock`, `CommitLog` and `ListeningNeeds` decide. This type takes the lock, asks them, releases the lock, and
/// acts.
package final class CommitJournal: DatabasePart {
    private struct State {
        var clock = CommitClock()
        var log = CommitLog()
        var needs = ListeningNeeds()
        /// The setup that makes the connections report what is needed; nil as long as nothing was.
        var listening: ConnectionSetups.Token?
        /// The number of reads that wait for the end of a commit.
        var settlingCount = 0
        /// The tasks that wait for a commit.
        var waiters: [CommitLog.ReaderID: CommitWaiter] = [:]
        /// The tasks that wait for a number.
        var numberWaiters = NumberWaiters()
        /// Whether the waiters are about to be woken.
        var isWaking = false
        var pace = WakePace()
        /// The queue or pool of each reader.
        var databases: [CommitLog.ReaderID: ObjectIdentifier] = [:]
        /// The readers whose queue or pool was closed.
        var ended: Set<CommitLog.ReaderID> = []
        weak var observations: (any CommitAudience)?
        /// Called for the commits of other connections.
        var otherObservers: [ObjectIdentifier: OtherCommitObserver] = [:]
        /// Looks for the commits of other connections; nil as long as they aren't needed.
        var watch: CommitWatch?
        /// Whether all connections are closed: others may change the file unnoticed.
        var isClosed = false

        /// Says when the waiting tasks are woken for a commit: after a pause in nanoseconds; nil if none waits, or if
        /// they are about to be woken.
        mutating func wakeUp(now: @autoclosure () -> UInt64) -> UInt64? {
            let count = waiters.count + numberWaiters.count
            guard !isWaking, count > 0 else { return nil }
            isWaking = true
            return pace.wakeUpIsDue(
                of: count, number: clock.number, limit: log.smallestLimit, now: now())
        }
    }

    private let state = ConditionLock(State())

    /// Grows before an observation or a reader needs commits that none needed before.
    package let needs = NeedsVersion()

    /// Whether several connections have the content of the database, so that one can read while another commits.
    package let needsWillCommit: Bool

    /// How many nanoseconds a read waits for the end of a commit, to know its number. A commit takes that long if it
    /// copies the log into the database, or on a slow disk.
    let settlingTime = Atomic<UInt64>(100_000_000)

    /// The setups of the connections of the database.
    private let setups: ConnectionSetups

    /// The clock of pauses and waits.
    let time: MonotonicClock

    init(_ core: DatabaseCore) {
        setups = core.setups
        time = core.clock
        needsWillCommit = core.isShared
    }

    /// The number of the last commit, in the order in which they are told.
    var number: Int { state.withLock { $0.clock.number } }

    /// The number of the last commit that the program is told: that in the file, if it keeps one.
    package var commitNumber: CommitNumber { state.withLock { $0.clock.commitNumber } }

    /// The number that the program is told of the state that a connection sees.
    ///
    /// - parameter number: the number of the state.
    func commitNumber(ofState number: Int, _ db: Database) -> CommitNumber {
        guard db.options.storesCommitNumbers else { return CommitNumber(rawValue: number) }
        return db.configuredCommitNumber.map { CommitNumber(rawValue: $0) } ?? commitNumber
    }

    /// Whether all commits are counted.
    var countsAll: Bool { state.withLock { $0.needs.countsAll } }

    /// The number of reads that wait for the end of a commit.
    var settlingCount: Int { state.withLock { $0.settlingCount } }

    /// The number of kept commits.
    var keptCount: Int { state.withLock { $0.log.count } }

    /// The number of readers that haven't been released.
    var readerCount: Int { state.withLock { $0.log.readerCount } }

    /// The number of tasks that wait for a commit.
    var waiterCount: Int { state.withLock { $0.waiters.count + $0.numberWaiters.count } }

    /// Makes the observations learn of commits.
    func setObservations(_ observations: any CommitAudience) { state.withLock { $0.observations = observations } }

    // MARK: - Listening

    /// Changes the needs, and makes the connections report what is needed from their next access on.
    ///
    /// - parameter change: returns whether the needs have changed.
    func changeNeeds(_ change: (inout ListeningNeeds) -> Bool) {
        state.withLock { state in
            if change(&state.needs) { listen(&state) }
        }
    }

    /// An observation or a reader is about to need commits that none needed before. Call it with the lock held that
    /// guards the need.
    func needsWillGrow() { needs.grow() }

    private func listen(_ state: inout State) {
        if let token = state.listening { setups.remove(token) }
        state.listening = setups.add(.alsoAtEnd { [weak self] db, moment in self?.install(on: db, at: moment) })
        state.watch?.need(state.needs.isNeeded)
    }

    /// Makes a connection report its commits as far as they are needed.
    private func install(on db: Database, at moment: ConnectionSetups.Moment) {
        let seesOthers = db.configuration.otherProcesses != .ignored
        let isReadonly = db.configuration.readonly
        // A database that is read-only has no commits of its own, but those of others.
        guard !isReadonly || seesOthers && (db.options.isWriterOfPool || !needsWillCommit) else { return }
        let needs = state.withLock { $0.needs }
        let wasListening = db.commitListener != nil
        do {
            try db.listenToCommits(
                needs.isNeeded ? self : nil, rowTables: needs.rowTables, keys: needs.keys, seesOthers: seesOthers)
        } catch {
            // Without rows, a change of one counts as a change of all.
            try? db.listenToCommits(needs.isNeeded ? self : nil, seesOthers: seesOthers)
        }
        // The access that ends may have committed changes before it could report them.
        if moment == .end, needs.isNeeded, !wasListening, !isReadonly, !(db.core?.log.isCheckpoint(of: db) ?? false) {
            commitDidHappen(.unknown)
        }
    }

    /// The commits of other connections are needed, too, as long as any are.
    func watchOthers(of database: any GroupReader) {
        guard let runner = (database as? any GroupWriter)?.writer,
            let interval = database.configuration.otherProcesses.interval
        else { return }
        let isWatched = if case .watched = database.configuration.otherProcesses.kind { true } else { false }
        state.withLock { state in
            if state.watch == nil {
                let times = CommitWatchStateMachine.Times(polling: UInt64(min(max(interval, 0.001), 1e9) * 1e9))
                state.watch = CommitWatch(runner, times, watchesFiles: isWatched)
            }
            state.watch?.need(state.needs.isNeeded)
        }
    }

    /// All connections of a database were closed, which will be opened again.
    package func connectionsWereClosed() {
        let watch = state.withLock { state in
            state.isClosed = true
            return state.watch.take()
        }
        watch?.end()
    }

    /// A closed database was opened again: others may have changed it, or another file may have its path. The database
    /// is nil if it is being released.
    package func connectionsWereOpened(of database: (any GroupReader)?) {
        if let database, state.withLock({ $0.needs.isNeeded }) { watchOthers(of: database) }
        otherConnectionDidCommit(number: nil)
        state.withLock { $0.isClosed = false }
    }

    /// Calls an observer after each commit of other connections.
    package func add(_ observer: OtherCommitObserver, of database: any GroupReader) {
        state.withLock { state in
            state.otherObservers[ObjectIdentifier(observer)] = observer
            needsWillGrow()
            if state.needs.add() { listen(&state) }
        }
        watchOthers(of: database)
    }

    package func remove(_ observer: OtherCommitObserver) {
        state.withLock { state in
            guard state.otherObservers.removeValue(forKey: ObjectIdentifier(observer)) != nil else { return }
            if state.needs.remove() { listen(&state) }
        }
    }

    /// Looks for the commits of other connections.
    var watch: CommitWatch? { state.withLock { $0.watch } }

    // MARK: - Snapshots

    /// How often a read begins anew to learn its number.
    private static let maximumPinCount = 16

    /// Begins a read, and returns the number of the last commit that it sees.
    ///
    /// - returns: the number; a lower one if commits follow each other too fast to know.
    func beginRead(_ db: Database) throws -> Int {
        if let number = try pin(until: settlingDeadline, { try db.beginRead(pinned: true) }, { try db.finishRead {} }) {
            return number
        }
        let number = number
        try db.beginRead(pinned: true)
        return number
    }

    /// Begins a read, with commits waiting if it can't be had between two of them.
    ///
    /// - parameter end: ends a read, whose number isn't known, before the next begins.
    /// - parameter noteOthers: called in the read: tells of the commits of other connections that it may see.
    /// - returns: the number of the last commit that it sees.
    func pinExactly(
        _ begin: () throws -> Void, end: () throws -> Void, noteOthers: () -> Void = {}
    ) throws -> Int {
        if let number = try pin(until: settlingDeadline, begin, end, noteOthers) { return number }
        state.lock()
        defer { state.unlock() }
        let contents = state.contents
        contents.pointee.settlingCount += 1
        defer { contents.pointee.settlingCount -= 1 }
        while contents.pointee.clock.isCommitting { _ = state.wait() }
        try begin()
        return contents.pointee.clock.number
    }

    /// The time at which a read that begins now stops waiting for the end of a commit.
    var settlingDeadline: UInt64 {
        time.now.addingReportingOverflow(settlingTime.load(ordering: .relaxed)).partialValue
    }

    /// Begins a read between two commits.
    ///
    /// - returns: the number of the last commit that it sees; nil if commits follow each other too fast to know. Then
    ///   the read has ended.
    func pin(
        until deadline: UInt64, _ begin: () throws -> Void, _ end: () throws -> Void, _ noteOthers: () -> Void = {}
    ) throws -> Int? {
        for _ in 0..<Self.maximumPinCount {
            guard let number = settledNumber(until: deadline) else { return nil }
            try begin()
            noteOthers()
            let isExact = state.withLock { !$0.clock.isCommitting && $0.clock.number == number }
            if isExact { return number }
            try end()
        }
        return nil
    }

    /// The number of the last commit, once no commit is about to show; nil if one takes too long.
    private func settledNumber(until deadline: UInt64) -> Int? {
        state.lock()
        defer { state.unlock() }
        let contents = state.contents
        guard contents.pointee.clock.isCommitting else { return contents.pointee.clock.number }
        contents.pointee.settlingCount += 1
        defer { contents.pointee.settlingCount -= 1 }
        while contents.pointee.clock.isCommitting, state.wait(until: deadline, time) {}
        return contents.pointee.clock.isCommitting ? nil : contents.pointee.clock.number
    }

    // MARK: - Reading commits

    /// The file keeps the numbers of commits, so all are counted.
    ///
    /// - parameter number: the number in the file.
    func storeNumbers(from number: Int) {
        state.withLock { state in
            state.clock.storeNumbers(from: number)
            guard !state.needs.countsAll else { return }
            needsWillGrow()
            if state.needs.startCounting() { listen(&state) }
        }
    }

    /// Counts all commits from now on, for numbers that are given to the program.
    func startCounting(of database: any GroupReader) {
        let isUnwatched = state.withLock { state in
            guard !state.needs.countsAll else { return state.watch == nil }
            needsWillGrow()
            if state.needs.startCounting() { listen(&state) }
            return true
        }
        // A snapshot that asks first can't be watched.
        if isUnwatched { watchOthers(of: database) }
    }

    /// Starts to keep commits for a reader.
    ///
    /// - parameter database: the queue or pool whose closing ends the reader.
    /// - parameter keys: whether changed keys are asked for.
    /// - parameter limit: the number of commits that are kept.
    func addReader(of database: any GroupReader, keys: Bool, limit: Int) -> CommitLog.ReaderID {
        defer { watchOthers(of: database) }
        return state.withLock { state in
            needsWillGrow()
            if state.needs.addReader(keys: keys) { listen(&state) }
            let id = state.log.addReader(limit: limit)
            state.databases[id] = ObjectIdentifier(database)
            return id
        }
    }

    /// Ends a reader: a task that waits for its next commit gets nil.
    func removeReader(_ id: CommitLog.ReaderID, keys: Bool) {
        let waiter = state.withLock { state -> CommitWaiter? in
            state.log.removeReader(id)
            state.ended.remove(id)
            state.databases[id] = nil
            if state.needs.removeReader(keys: keys) { listen(&state) }
            return state.waiters.removeValue(forKey: id)
        }
        waiter?.resume(returning: [])
    }

    /// Ends the readers of a closed queue or pool, once they have read what is kept.
    package func databaseDidClose(_ database: any GroupReader) {
        if let writer = (database as? any GroupWriter)?.writer, let watch, watch.looks(at: writer) { watch.end() }
        let waiters = state.withLock { state in
            let ids = state.databases.filter { $0.value == ObjectIdentifier(database) }.keys
            state.ended.formUnion(ids)
            return ids.compactMap { id -> (CommitWaiter, [DatabaseCommit])? in
                guard let waiter = state.waiters.removeValue(forKey: id) else { return nil }
                return (waiter, state.log.nextFew(id))
            }
        }
        for (waiter, commits) in waiters { waiter.resume(returning: commits) }
        // The snapshots of a closed pool learn of no commit, either.
        let isWriter = database is any GroupWriter
        endWaiters { $0 === database || isWriter && !($0 is any GroupWriter) }
    }

    /// The commits of a reader up to a number.
    func takeAll(_ id: CommitLog.ReaderID, upTo number: Int, as commitNumber: CommitNumber) -> [DatabaseCommit] {
        state.withLock { $0.log.all(id, upTo: number, as: commitNumber) }
    }

    /// Lets a reader skip the commits up to a number.
    func skip(_ id: CommitLog.ReaderID, to number: Int) { state.withLock { $0.log.skip(id, to: number) } }

    /// The next commits of a reader that have happened already.
    func nextFew(_ id: CommitLog.ReaderID) -> [DatabaseCommit] { state.withLock { $0.log.nextFew(id) } }

    /// The next commits of a reader that may not be behind what reads see.
    ///
    /// - parameter number: the number up to which it is known to have read all.
    package func nextIfSettled(_ id: CommitLog.ReaderID, after number: Int) -> Unread {
        state.withLock { state in
            if !state.ended.isEmpty, state.ended.contains(id) { return .ended }
            if state.isClosed || state.clock.isCommitting { return .unsettled }
            if state.clock.number == number { return .none(number) }
            let commits = state.log.nextFew(id)
            return commits.isEmpty ? .none(state.clock.number) : .commits(commits)
        }
    }

    /// Waits for the next commits of a reader.
    ///
    /// - returns: an empty array at the end, and in a cancelled task.
    func waitForNextFew(_ id: CommitLog.ReaderID) async -> [DatabaseCommit] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CommitWaiter) in
                let commits = state.withLock { state -> [DatabaseCommit]? in
                    if Task.isCancelled { return [] }
                    let commits = state.log.nextFew(id)
                    // An iterator is used by one task at a time.
                    guard commits.isEmpty, state.log.position(of: id) != nil, !state.ended.contains(id),
                        state.waiters[id] == nil
                    else { return commits }
                    state.waiters[id] = continuation
                    return nil
                }
                if let commits { continuation.resume(returning: commits) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: [])
        }
    }

    // MARK: - Waiting for numbers

    /// Waits until a commit has happened.
    ///
    /// - parameter database: the one whose closing ends the wait.
    /// - throws: `CancellationError`; `SQLITE_MISUSE` if the database is closed.
    func wait(for number: CommitNumber, of database: any GroupReader) async throws {
        let id = state.withLock { $0.numberWaiters.makeID() }
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: NumberWaiters.Waiter) in
                let end = state.withLock { state -> NumberWaiters.End? in
                    if state.clock.commitNumber >= number { return .commit }
                    if Task.isCancelled { return .cancellation }
                    state.numberWaiters.add(id, number, of: database, continuation)
                    return nil
                }
                if let end { return continuation.resume(returning: end) }
                // It may have been closed before the waiter was added.
                if database.learnsOfNoCommit { endWaiters { $0 === database } }
            }
        } onCancel: {
            state.withLock { $0.numberWaiters.remove(id) }?.resume(returning: .cancellation)
        }
        switch end {
        case .commit: break
        case .cancellation: throw CancellationError()
        case .closing: throw DatabaseError.connectionIsClosed(database.readers.group.name)
        }
    }

    private func endWaiters(of isClosed: (any GroupReader) -> Bool) {
        for waiter in state.withLock({ $0.numberWaiters.takeAll(of: isClosed) }) { waiter.resume(returning: .closing) }
    }

    // MARK: - Waking

    /// Wakes the tasks that wait, off the thread that commits.
    ///
    /// Commits that happen before that don't wake them again, so a burst of writes wakes each task a few times.
    ///
    /// - parameter pause: the nanoseconds until then.
    private func wake(after pause: UInt64) {
        let wakeAll = { @Sendable [self] in
            let (readers, numbers) = state.withLock { state in
                state.isWaking = false
                var ready: [(CommitWaiter, [DatabaseCommit])] = []
                for (id, waiter) in state.waiters {
                    let commits = state.log.nextFew(id)
                    guard !commits.isEmpty else { continue }
                    state.waiters[id] = nil
                    ready.append((waiter, commits))
                }
                return (ready, state.numberWaiters.takeAll(upTo: state.clock.commitNumber))
            }
            for (waiter, commits) in readers { waiter.resume(returning: commits) }
            for waiter in numbers { waiter.resume(returning: .commit) }
        }
        if pause == 0 { DispatchQueue.global().async(execute: wakeAll) } else { time.after(pause, wakeAll) }
    }
}

/// A task that waits for commits.
typealias CommitWaiter = CheckedContinuation<[DatabaseCommit], Never>

extension CommitJournal: CommitListener {
    package func databaseWillCommit() { state.withLock { $0.clock.commitWillHappen() } }

    package func databaseDidNotCommit() {
        state.withLock { state in
            state.clock.commitDidNotHappen()
            if state.settlingCount > 0 { self.state.broadcast() }
        }
    }

    package func otherConnectionDidCommit(number: Int?) {
        commitDidHappen(.unknown, nil, .other, stored: number)
        for observer in state.withLock({ Array($0.otherObservers.values) }) { observer.onCommit() }
    }

    package func databaseDidCommit(_ db: Database, changes: DatabaseRegion, keys: [TableName: KeyChanges]) -> Int? {
        commitDidHappen(DatabaseChanges(changes, keys), db, stored: db.lastStoredCommitNumber)
    }

    /// A commit has happened.
    ///
    /// - parameter db: the connection that has made it; nil if none of this database has.
    /// - parameter stored: its number in the file; nil if the file keeps none.
    /// - returns: the version of the needs at which these changes aren't needed; nil if they are needed.
    @discardableResult
    func commitDidHappen(
        _ changes: DatabaseChanges, _ db: Database? = nil, _ source: DatabaseCommit.Source = .database,
        stored: Int? = nil
    ) -> Int? {
        let version = needs.current
        let (observations, number, pause, isCounted) = state.withLock { state in
            if state.settlingCount > 0 { self.state.broadcast() }
            guard !changes.isEmpty else {
                state.clock.emptyCommitDidHappen()
                return (nil as (any CommitAudience)?, 0, nil as UInt64?, state.needs.countsAll)
            }
            let number =
                source == .other
                ? state.clock.otherCommitDidHappen(stored: stored) : state.clock.commitDidHappen(stored: stored)
            let commitNumber = state.clock.commitNumber
            state.log.append(number, as: commitNumber) {
                DatabaseCommit(commitNumber, changes, db?.commitNote, source)
            }
            return (state.observations, number, state.wakeUp(now: time.now), state.needs.countsAll)
        }
        if let pause { wake(after: pause) }
        let isUnneeded = observations?.commitDidHappen(changes.region, number: number) ?? true
        return isUnneeded && !isCounted ? version : nil
    }
}

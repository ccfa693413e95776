import Dispatch
import QuarryCore
import Synchronization

/// The observations of a database: learns of commits, and fetches again what they have changed.
///
/// `CommitClock`, `FetchLine` and `ObservationStateMachine` decide. This type takes the lock, asks them, releases the
/// lock, and acts.
final class ObservationBroker: Sendable {
    private struct State {
        var clock = CommitClock()
        var index = ObservationIndex<RunningObservation>()
        var running: [ObjectIdentifier: RunningObservation] = [:]
        var roads: [FetchRoad.ID: FetchRoad] = [:]
        var needs = ListeningNeeds()
        /// The setup that makes the connections report what is needed; nil before the first observation.
        var listening: ConnectionSetups.Token?
        /// The number of fetches that wait for the end of a commit.
        var settlingCount = 0
    }

    /// The actions that follow a decision, to be performed without the lock.
    private struct Work {
        var batches: [FetchRoad] = []
        var pauses: [(RunningObservation, any PaceTimer)] = []
        var extensions: [any PaceTimer] = []
        var retries: [(RunningObservation, milliseconds: Int)] = []
        var values: [(RunningObservation, any Sendable)] = []
        var failures: [(RunningObservation, Remains, any Error)] = []
    }

    /// The objects of an ended observation, to be released without the lock.
    private struct Remains {
        var resources: RunningObservation.Resources?
        var pause: Task<Void, Never>?

        var events: [ObservationEvents] { resources?.events ?? [] }
    }

    private let state = ConditionLock(State())

    /// Grows before an observation, or a fetch, needs changes that none needed before. Changed with the lock held.
    private let version = Atomic<Int>(0)

    /// Whether several connections have the content of the database, so that one can fetch while another commits.
    let needsWillCommit: Bool

    /// Nanoseconds after which a fetch is slow: the next time, it is fetched in a batch without others.
    let slowFetch = Atomic<UInt64>(1_000_000)

    /// How many nanoseconds a fetch waits for the end of a commit. A commit takes that long if it copies the log into
    /// the database, or on a slow disk.
    let settlingTime = Atomic<UInt64>(100_000_000)

    /// The setups of the connections of the database.
    private let setups: ConnectionSetups

    /// - parameter isShared: whether several connections have the content of the database.
    init(_ setups: ConnectionSetups, isShared: Bool) {
        self.setups = setups
        needsWillCommit = isShared
    }

    /// The number of running observations.
    var observationCount: Int { state.withLock { $0.running.count } }

    /// The number of the last commit.
    var commitNumber: Int { state.withLock { $0.clock.number } }

    /// Whether an observation has not ended.
    func isRunning(_ observation: RunningObservation) -> Bool {
        state.withLock { _ in !observation.record.machine.isEnded }
    }

    /// The number of fetches that wait for the end of a commit.
    var settlingCount: Int { state.withLock { $0.settlingCount } }

    // MARK: - Starting and ending

    /// Starts an observation: puts it in line for its first fetch.
    func start(_ observation: RunningObservation) {
        let work = state.withLock { state in
            var work = Work()
            add(observation, to: &state)
            Self.enqueue(observation, &work)
            return work
        }
        perform(work)
    }

    /// Starts an observation, and fetches its first value on this thread.
    func startImmediately(_ observation: RunningObservation) {
        guard let road = observation.record.resources?.road else { return }
        let batch = FetchBatch(self, road)
        state.withLock { state in
            add(observation, to: &state)
            batch.items = Self.take(observation).map { [$0] } ?? []
            batch.begunAt = fetchWillBegin(&state)
        }
        let result = Result { try road.runner.perform(road.request) { db in try batch.run(db) } }
        complete(batch, result, isInLine: false)
    }

    /// Ends an observation whose callbacks have been ended.
    ///
    /// - returns: whether it was running.
    @discardableResult
    func end(_ observation: RunningObservation) -> Bool {
        let (wasRunning, remains) = state.withLock { state in
            (observation.record.machine.end(), detach(observation, from: &state))
        }
        remains.pause?.cancel()
        if wasRunning {
            for events in remains.events { events.didCancel?() }
        }
        return wasRunning
    }

    /// Ends the observations of a reader whose connections are closed.
    func readerDidClose(_ reader: any DatabaseReader) {
        var work = Work()
        work.failures = state.withLock { state in
            let ended = state.running.values.filter { $0.record.resources?.reader === reader }
            return ended.compactMap { observation in
                guard observation.record.machine.end() else { return nil }
                return (observation, detach(observation, from: &state), DatabaseError.connectionIsClosed())
            }
        }
        perform(work)
    }

    /// Ends an observation with an error, unless it has ended.
    private func fail(_ observation: RunningObservation, _ error: any Error) {
        var work = Work()
        work.failures = state.withLock { state in
            guard observation.record.machine.end() else { return [] }
            return [(observation, detach(observation, from: &state), error)]
        }
        perform(work)
    }

    private func add(_ observation: RunningObservation, to state: inout State) {
        state.running[ObjectIdentifier(observation)] = observation
        guard let resources = observation.record.resources else { return }
        if resources.road.kind != .snapshot, state.needs.add() { listen(&state) }
        let road = state.roads[resources.road.id] ?? resources.road
        state.roads[road.id] = road
        road.observationCount += 1
        observation.record.resources = RunningObservation.Resources(
            reader: resources.reader, road: road, fetch: resources.fetch, events: resources.events,
            timer: resources.timer)
    }

    /// Removes an ended observation.
    ///
    /// - returns: its objects, to be released without the lock.
    private func detach(_ observation: RunningObservation, from state: inout State) -> Remains {
        let remains = Remains(resources: observation.record.resources, pause: observation.record.pause)
        state.running[ObjectIdentifier(observation)] = nil
        var mustListen = false
        updateIndex(observation, &state)
        if let region = observation.record.region { mustListen = state.needs.remove(region) }
        if let road = remains.resources?.road, road.kind != .snapshot {
            mustListen = state.needs.remove() || mustListen
        }
        if mustListen { listen(&state) }
        observation.record.region = nil
        observation.record.pause = nil
        observation.record.resources = nil
        if let road = remains.resources?.road {
            road.observationCount -= 1
            if road.observationCount == 0 { state.roads[road.id] = nil }
        }
        return remains
    }

    // MARK: - Listening

    /// Makes the connections report what the observations need, from their next access on.
    private func listen(_ state: inout State) {
        if let token = state.listening { setups.remove(token) }
        state.listening = setups.add(.alsoAtEnd { [weak self] db, moment in self?.install(on: db, at: moment) })
    }

    /// Makes a connection report its commits as far as they are needed.
    private func install(on db: Database, at moment: ConnectionSetups.Moment) {
        guard !db.configuration.readonly else { return }
        let (isNeeded, rowTables) = state.withLock { ($0.needs.isNeeded, $0.needs.rowTables) }
        let wasListening = db.commitListener != nil
        do {
            try db.listenToCommits(isNeeded ? self : nil, rowTables: rowTables)
        } catch {
            // Without rows, a change of one counts as a change of all.
            try? db.listenToCommits(isNeeded ? self : nil)
        }
        // The access that ends may have committed changes before it could report them.
        if moment == .end, isNeeded, !wasListening { commitDidHappen(.fullDatabase) }
    }

    // MARK: - Snapshots

    /// Begins a read, and returns the number of the last commit that it sees.
    func beginRead(_ db: Database) throws -> Int {
        let deadline = SystemClock.monotonicNanoseconds() + settlingTime.load(ordering: .relaxed)
        for _ in 0..<Self.maximumPinCount {
            guard let number = settledNumber(until: deadline) else { break }
            try db.beginRead(pinned: true)
            let isExact = state.withLock { !$0.clock.isCommitting && $0.clock.number == number }
            if isExact { return number }
            try db.finishRead {}
        }
        // Too low a number causes a fetch that finds nothing new, and hides no commit.
        let number = commitNumber
        try db.beginRead(pinned: true)
        return number
    }

    private static let maximumPinCount = 16

    /// The number of the last commit, once no commit is about to show; nil if one takes too long.
    private func settledNumber(until deadline: UInt64) -> Int? {
        state.lock()
        defer { state.unlock() }
        let contents = state.contents
        guard contents.pointee.clock.isCommitting else { return contents.pointee.clock.number }
        contents.pointee.settlingCount += 1
        defer { contents.pointee.settlingCount -= 1 }
        while contents.pointee.clock.isCommitting, state.wait(until: deadline) {}
        return contents.pointee.clock.isCommitting ? nil : contents.pointee.clock.number
    }

    // MARK: - Batches

    private static func enqueue(_ observation: RunningObservation, _ work: inout Work) {
        guard let road = observation.record.resources?.road else { return }
        if road.line.add(observation, isSlow: observation.record.isSlow) { work.batches.append(road) }
    }

    /// Starts a batch, once the program has had its share of the connection.
    private func startBatch(_ road: FetchRoad) {
        let pause = state.withLock { _ in road.pace?.pause(now: SystemClock.monotonicNanoseconds()) ?? 0 }
        guard pause > 0 else { return startBatchNow(road) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(pause))) {
            self.startBatchNow(road)
        }
    }

    private func startBatchNow(_ road: FetchRoad) {
        let batch = FetchBatch(self, road)
        road.runner.enqueue(road.request) { db in
            self.fill(batch)
            try batch.run(db)
        } whenReleased: { result in
            // The users' closures that follow may take a while.
            WorkerThreads.willBeBusy()
            self.complete(batch, result, isInLine: true)
        }
    }

    /// Moves the observations that are due into a batch.
    private func fill(_ batch: FetchBatch) {
        let work = state.withLock { state in
            var work = Work()
            let taken = batch.road.line.take { $0 === $1 || $0.record.resources?.fetch === $1.record.resources?.fetch }
            batch.items = taken.compactMap(Self.take)
            batch.begunAt = fetchWillBegin(&state)
            if batch.road.line.startsBatch() { work.batches.append(batch.road) }
            return work
        }
        perform(work)
    }

    /// The changes of the commits that follow are kept for a fetch.
    private func fetchWillBegin(_ state: inout State) -> Int {
        if !state.clock.isKeepingChanges { version.add(1, ordering: .releasing) }
        return state.clock.fetchWillBegin()
    }

    private static func take(_ observation: RunningObservation) -> FetchBatch.Item? {
        guard observation.record.machine.fetchWillBegin(), let resources = observation.record.resources else {
            return nil
        }
        return FetchBatch.Item(
            observation: observation, resources: resources, isFirst: observation.record.region == nil,
            previousRegion: observation.record.region)
    }

    /// The connection of a batch is given back: its outcomes are delivered.
    private func complete(_ batch: FetchBatch, _ result: Result<Void, any Error>, isInLine: Bool) {
        var accessError: (any Error)? = if case .failure(let error) = result { error } else { nil }
        // A read of the disk that fails ends the transaction. The fetch that has met the error has it as its outcome,
        // and the others are fetched in another batch.
        if batch.items.contains(where: { $0.outcome != nil }) { accessError = nil }
        let work = state.withLock { [accessError] state in
            var work = Work()
            if batch.begunAt == nil, accessError != nil {
                // No connection could be had.
                batch.items = batch.road.line.takeAll().compactMap(Self.take)
            }
            for item in batch.items { settle(item, accessError, batch.road, &state, &work) }
            if let number = batch.begunAt { state.clock.fetchDidEnd(begunAt: number) }
            if isInLine {
                if let beginning = batch.beginning {
                    batch.road.pace?.batchDidEnd(from: beginning, to: SystemClock.monotonicNanoseconds())
                }
                batch.road.line.batchDidEnd()
                if batch.road.line.startsBatch() { work.batches.append(batch.road) }
            }
            return work
        }
        // The objects of a cancelled observation are released here, without the lock.
        batch.items = []
        perform(work)
    }

    private func settle(
        _ item: FetchBatch.Item, _ accessError: (any Error)?, _ road: FetchRoad, _ state: inout State,
        _ work: inout Work
    ) {
        let observation = item.observation
        switch item.outcome {
        case .value(let value, let region, let snapshot, let isSlow):
            guard !observation.record.machine.isEnded else { return }
            observation.record.isSlow = isSlow
            if road.kind == .snapshot {
                // No commit changes it.
                observation.record.region = DatabaseRegion()
            } else if let region, item.findsRegion {
                setRegion(region, of: observation, &state)
            }
            let isOutdated =
                observation.record.region.map { state.clock.mayHaveChanged($0, since: snapshot) } ?? true
            let action = observation.record.machine.fetchDidSucceed(isOutdated: isOutdated)
            updateIndex(observation, &state)
            if action == .deliver { work.values.append((observation, value)) }
            if observation.record.machine.isResting, let timer = observation.record.resources?.timer {
                work.pauses.append((observation, timer))
            }
        case .failure(let error): fail(observation, error, &state, &work)
        case nil:
            if let accessError { return fail(observation, accessError, &state, &work) }
            Self.note(observation.record.machine.fetchDidNotHappen(), observation, &work)
        }
    }

    private func fail(
        _ observation: RunningObservation, _ error: any Error, _ state: inout State, _ work: inout Work
    ) {
        switch observation.record.machine.fetchDidFail(isTransient: error.isTransient) {
        case .retry(let milliseconds): work.retries.append((observation, milliseconds))
        case .fail: work.failures.append((observation, detach(observation, from: &state), error))
        case .none, .enqueue, .startPause, .extendPause, .deliver: break
        }
    }

    /// Follows the region of an observation as it varies.
    private func setRegion(
        _ region: DatabaseRegion, of observation: RunningObservation, _ state: inout State
    ) {
        let previous = observation.record.region
        guard previous != region else { return }
        observation.record.region = region
        var mustListen = state.needs.add(region)
        if let previous { mustListen = state.needs.remove(previous) || mustListen }
        if mustListen { listen(&state) }
    }

    /// Keeps the index up to date: it has the observations to which a change matters, and none that will be fetched
    /// anyway. So a commit costs nothing for those.
    private func updateIndex(_ observation: RunningObservation, _ state: inout State) {
        guard let region = observation.record.region else { return }
        let belongs = observation.record.machine.isWatching
        guard belongs != observation.record.isIndexed else { return }
        observation.record.isIndexed = belongs
        if belongs {
            version.add(1, ordering: .releasing)
            state.index.insert(observation, of: region)
        } else {
            state.index.remove(observation, of: region)
        }
    }

    // MARK: - Actions

    private static func note(
        _ action: ObservationStateMachine.Action, _ observation: RunningObservation, _ work: inout Work
    ) {
        switch action {
        case .enqueue: enqueue(observation, &work)
        case .startPause:
            if let timer = observation.record.resources?.timer { work.pauses.append((observation, timer)) }
        case .extendPause:
            if let timer = observation.record.resources?.timer { work.extensions.append(timer) }
        case .retry(let milliseconds): work.retries.append((observation, milliseconds))
        case .none, .deliver, .fail: break
        }
    }

    private func perform(_ work: consuming Work) {
        for road in work.batches { startBatch(road) }
        for timer in work.extensions { timer.begin() }
        for (observation, timer) in work.pauses { startPause(observation, timer) }
        for (observation, milliseconds) in work.retries {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
                [weak self, weak observation] in
                guard let self, let observation else { return }
                self.decide(observation) { $0.retryPauseDidEnd() }
            }
        }
        for (observation, remains, error) in work.failures {
            remains.pause?.cancel()
            for events in remains.events { events.didFail?(error) }
            observation.sink.fail(error)
        }
        for (observation, value) in work.values { deliver(value, to: observation) }
    }

    private func deliver(_ value: any Sendable, to observation: RunningObservation) {
        switch observation.sink.receive(value) {
        case .delivering: break
        case .dropped: valueWasTaken(observation)
        case .failed(let error): fail(observation, error)
        }
    }

    /// The scheduler has taken a value: the next fetch may begin.
    func valueWasTaken(_ observation: RunningObservation) {
        decide(observation) { $0.valueWasTaken() }
    }

    private func decide(
        _ observation: RunningObservation,
        _ body: (inout ObservationStateMachine) -> ObservationStateMachine.Action
    ) {
        let work = state.withLock { state in
            var work = Work()
            Self.note(body(&observation.record.machine), observation, &work)
            updateIndex(observation, &state)
            return work
        }
        perform(work)
    }

    private func startPause(_ observation: RunningObservation, _ timer: any PaceTimer) {
        timer.begin()
        let task = Task.detached { [weak self, weak observation] in
            do { try await timer.wait() } catch { return }
            guard let self, let observation else { return }
            self.decide(observation) { $0.pauseDidEnd() }
        }
        let isEnded = state.withLock { _ in
            if !observation.record.machine.isEnded { observation.record.pause = task }
            return observation.record.machine.isEnded
        }
        if isEnded { task.cancel() }
    }
}

extension ObservationBroker: CommitListener {
    func databaseWillCommit() { state.withLock { $0.clock.commitWillHappen() } }

    func databaseDidNotCommit() {
        state.withLock { state in
            state.clock.commitDidNotHappen()
            if state.settlingCount > 0 { self.state.broadcast() }
        }
    }

    func databaseDidCommit(_ db: Database, changes: DatabaseRegion) -> Int? { commitDidHappen(changes) }

    var needsVersion: Int { version.load(ordering: .acquiring) }

    /// A commit has happened.
    ///
    /// - returns: the version of the needs at which no observation needs these changes; nil if one does.
    @discardableResult
    func commitDidHappen(_ changes: DatabaseRegion) -> Int? {
        var unneededAt: Int?
        // Most commits change nothing that is observed: they make no list of actions.
        let work: Work? = state.withLock { state in
            state.clock.commitDidHappen(changes)
            if state.settlingCount > 0 { self.state.broadcast() }
            guard !changes.isEmpty else { return nil }
            var changed: [RunningObservation] = []
            state.index.forEach(changedBy: changes) { observation in
                if observation.record.region?.isModified(by: changes) ?? true { changed.append(observation) }
            }
            guard !changed.isEmpty else {
                if !state.clock.isKeepingChanges { unneededAt = version.load(ordering: .relaxed) }
                return nil
            }
            var work = Work()
            for observation in changed {
                Self.note(observation.record.machine.regionDidChange(), observation, &work)
                updateIndex(observation, &state)
            }
            return work
        }
        if let work { perform(work) }
        return unneededAt
    }
}

extension Error {
    /// Whether the same fetch may succeed a moment later.
    fileprivate var isTransient: Bool {
        guard let error = self as? DatabaseError else { return false }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT, .SQLITE_SCHEMA: return true
        default: return false
        }
    }
}

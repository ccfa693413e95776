import Dispatch
import QuarryCore
import Synchronization

/// The observations of a database: learns of commits, and fetches again what they have changed.
///
/// `ChangeLog`, `FetchLine` and `ObservationStateMachine` decide. This type takes the lock, asks them, releases the
/// lock, and acts.
final class ObservationBroker: DatabasePart {
    private struct State {
        var log = ChangeLog()
        var index = ObservationIndex<RunningObservation>()
        var running: [ObjectIdentifier: RunningObservation] = [:]
        var roads: [FetchRoad.ID: FetchRoad] = [:]
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

    /// Tells of commits.
    let journal: CommitJournal

    /// Nanoseconds after which a fetch is slow: the next time, it is fetched in a batch without others.
    let slowFetch = Atomic<UInt64>(1_000_000)

    init(_ journal: CommitJournal) { self.journal = journal }

    /// The number of running observations.
    var observationCount: Int { state.withLock { $0.running.count } }

    /// Whether an observation has not ended.
    func isRunning(_ observation: RunningObservation) -> Bool {
        state.withLock { _ in !observation.record.machine.isEnded }
    }

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

    /// Ends the observations of a reader whose connections are closed: at once, or when the value that it has fetched
    /// is in line for its receiver.
    func databaseDidClose(_ reader: any GroupReader) {
        var work = Work()
        work.failures = state.withLock { state in
            let ended = state.running.values.filter { $0.record.resources?.reader === reader }
            return ended.compactMap { observation in
                guard observation.record.machine.databaseDidClose() else { return nil }
                let error = DatabaseError.connectionIsClosed(reader.readers.group.name)
                return (observation, detach(observation, from: &state), error)
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
        if resources.road.kind != .snapshot {
            journal.changeNeeds { $0.add() }
            journal.watchOthers(of: resources.reader)
        }
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
        updateIndex(observation, &state)
        journal.changeNeeds { needs in
            var hasChanged = false
            if let region = observation.record.region { hasChanged = needs.remove(region) }
            guard let road = remains.resources?.road, road.kind != .snapshot else { return hasChanged }
            return needs.remove() || hasChanged
        }
        observation.record.region = nil
        observation.record.pause = nil
        observation.record.resources = nil
        if let road = remains.resources?.road {
            road.observationCount -= 1
            if road.observationCount == 0 { state.roads[road.id] = nil }
        }
        return remains
    }

    // MARK: - Batches

    private static func enqueue(_ observation: RunningObservation, _ work: inout Work) {
        guard let road = observation.record.resources?.road else { return }
        if road.line.add(observation, isSlow: observation.record.isSlow) { work.batches.append(road) }
    }

    /// Starts a batch, once the program has had its share of the connection.
    private func startBatch(_ road: FetchRoad) {
        let pause = state.withLock { _ in road.pace?.pause(now: journal.time.now) ?? 0 }
        guard pause > 0 else { return startBatchNow(road) }
        journal.time.after(pause) { self.startBatchNow(road) }
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
        if !state.log.isKeepingChanges { journal.needsWillGrow() }
        let number = journal.number
        state.log.fetchWillBegin(at: number)
        return number
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
            if let number = batch.begunAt { state.log.fetchDidEnd(begunAt: number) }
            if isInLine {
                if let beginning = batch.beginning {
                    batch.road.pace?.batchDidEnd(from: beginning, to: journal.time.now)
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
            observation.record.snapshot = snapshot
            if road.kind == .snapshot {
                // No commit changes it.
                observation.record.region = DatabaseRegion()
            } else if let region, item.findsRegion {
                setRegion(region, of: observation, &state)
            }
            let isOutdated =
                observation.record.region.map { state.log.mayHaveChanged($0, since: snapshot) } ?? true
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
        switch observation.record.machine.fetchDidFail(isTransient: (error as? DatabaseError)?.isTransient ?? false) {
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
        journal.changeNeeds { needs in
            let grows = needs.add(region)
            return previous.map { needs.remove($0) } ?? false || grows
        }
    }

    /// Keeps the index up to date: it has the observations to which a change matters, and none that will be fetched
    /// anyway. So a commit costs nothing for those.
    private func updateIndex(_ observation: RunningObservation, _ state: inout State) {
        guard let region = observation.record.region else { return }
        let belongs = observation.record.machine.isWatching
        guard belongs != observation.record.isIndexed else { return }
        observation.record.isIndexed = belongs
        if belongs {
            journal.needsWillGrow()
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
            journal.time.after(UInt64(milliseconds) * 1_000_000) { [weak self, weak observation] in
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
        var work = Work()
        work.failures = state.withLock { state in
            guard observation.record.machine.valueWasHandedOver() else { return [] }
            let error = DatabaseError.connectionIsClosed(observation.record.resources?.reader.readers.group.name)
            return [(observation, detach(observation, from: &state), error)]
        }
        perform(work)
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

extension ObservationBroker: CommitAudience {
    func commitDidHappen(_ changes: DatabaseRegion, number: Int) -> Bool {
        // Most commits change nothing that is observed: they make no list of actions.
        let (work, isUnneeded): (Work?, Bool) = state.withLock { state in
            state.log.commitDidHappen(changes, number: number)
            var changed: [RunningObservation] = []
            var isNeeded = state.log.isKeepingChanges
            state.index.forEach(changedBy: changes) { observation in
                guard observation.record.region?.isModified(by: changes) ?? true else { return }
                isNeeded = true
                // A fetch may see a commit, and end, before the broker is told of it.
                if observation.record.snapshot < number { changed.append(observation) }
            }
            guard !changed.isEmpty else { return (nil, !isNeeded) }
            var work = Work()
            for observation in changed {
                Self.note(observation.record.machine.regionDidChange(), observation, &work)
                updateIndex(observation, &state)
            }
            return (work, false)
        }
        if let work { perform(work) }
        return isUnneeded
    }
}

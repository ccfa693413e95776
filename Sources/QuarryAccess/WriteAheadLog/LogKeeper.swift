import QuarryCore

/// Keeps the write-ahead log of a database small, and finds the readers that hold it back.
///
/// `LogStateMachine` decides. This type takes the lock, asks the machine, releases the lock, and acts. Checkpoints are
/// accesses of the library to the writer's connection: they run between two writes.
final class LogKeeper: DatabasePart {
    private struct State {
        var machine: LogStateMachine
        var statistics = WALStatistics()
        /// The size of a page, once a checkpoint has found it.
        var pageSize = LogKeeper.usualPageSize
        /// The running reads, and when each was first seen.
        var reads: [ConnectionGroup.RunningAccess: UInt64] = [:]
        /// The snapshots and stable readers at the last tick.
        var pinned: Set<Int> = []
        /// The stale readers that were reported.
        var reported: Set<ReportedReader> = []
        var hasWarnedOfProcess = false
    }

    /// Identifies a reader.
    private enum ReaderID: Hashable {
        case pinned(Int)
        case read(ConnectionGroup.RunningAccess)
    }

    /// A snapshot is reported again if it is stale after its backup.
    private struct ReportedReader: Hashable {
        let id: ReaderID
        let kind: WALReader.Kind
    }

    /// The size of a page as long as it isn't known: <https://www.sqlite.org/pragma.html#pragma_page_size>.
    private static let usualPageSize = 4_096

    private weak let core: DatabaseCore?
    private weak let writer: AccessRunner?
    private weak let readers: AccessRunner?
    private let settings: LogSettings
    /// The path of the file.
    private let path: String
    private let state: Lock<State>

    init(_ core: DatabaseCore, writer: AccessRunner, readers: AccessRunner, _ settings: LogSettings, path: String) {
        self.core = core
        self.writer = writer
        self.readers = writer === readers ? nil : readers
        self.settings = settings
        self.path = path
        state = Lock(
            State(
                machine: LogStateMachine(
                    settings.wal, maintenanceInterval: settings.maintenance.interval, pageSize: Self.usualPageSize,
                    now: settings.time.now)))
    }

    deinit { settings.clock.remove(ObjectIdentifier(self)) }

    private var name: String { settings.label ?? path }

    /// Asks the machine, and sets the number of pages of which a commit tells.
    private func decide(
        _ core: DatabaseCore, _ body: (inout LogStateMachine, _ now: UInt64) -> [LogStateMachine.Action]
    ) -> [LogStateMachine.Action] {
        state.withLock { state in
            let actions = body(&state.machine, settings.time.now)
            core.log.setTellingPages(state.machine.tellingPages)
            return actions
        }
    }

    private func perform(_ actions: [LogStateMachine.Action]) {
        for action in actions {
            switch action {
            case .startTicking: settings.clock.add(ObjectIdentifier(self)) { [weak self] in self?.tick() ?? false }
            case .work(let work): run(work)
            }
        }
    }

    // MARK: - Events

    /// A commit has made the log as long as it tells of.
    func commitDidHappen(pages: Int, commitCount: Int) {
        guard let core else { return }
        perform(decide(core) { $0.commitDidHappen(pages: pages, commits: commitCount, now: $1) })
    }

    /// The clock ticks.
    ///
    /// - returns: whether it has to tick on.
    func tick() -> Bool {
        guard let core, let writer, !writer.group.isClosed else {
            state.withLock { $0.machine.databaseDidClose() }
            return false
        }
        // A shared database that is closed is opened by its next access, not by its keeper.
        guard writer.group.connectionCount > 0 else { return true }
        noteReads()
        notePinnedReaders(core)
        let (pages, commits) = core.log.extent
        let isBusy = !writer.group.isIdle
        perform(decide(core) { $0.tick(pages: pages, commits: commits, isBusy: isBusy, now: $1) })
        handleStaleReaders(core)
        return state.withLock { $0.machine.wantsTicks }
    }

    /// A snapshot or stable reader has ended.
    func readerDidEnd() { state.withLock { $0.machine.readerDidEnd() } }

    /// Whether the last checkpoint was held back or has failed.
    var isHeldBack: Bool { state.withLock { $0.machine.isHeldBack } }

    // MARK: - Work

    /// Runs work on the writer's connection, in its line.
    private func run(_ work: LogStateMachine.Work) {
        guard let writer else { return }
        let ended = Lock<EndedWork?>(nil)
        let group = writer.group
        writer.enqueue(AccessRequest(.bare, origin: .library)) { db in
            let result = try self.run(work, db, group)
            ended.withLock { $0 = result }
        } whenReleased: { result in
            // The program's closure may take a while.
            WorkerThreads.willBeBusy()
            switch result {
            case .success: if let ended = ended.withLock({ $0 }) { self.handle(ended) }
            case .failure(let error): self.workDidFail(work, error)
            }
        }
    }

    /// Work that has ended, and what follows.
    private struct EndedWork: Sendable {
        let outcome: LogWork.Outcome
        let actions: [LogStateMachine.Action]
    }

    /// The machine is told of the end before the connection is given back: the next commit finds it ready.
    private func run(_ work: LogStateMachine.Work, _ db: Database, _ group: ConnectionGroup) throws -> EndedWork? {
        guard let core else { return nil }
        let logWork = LogWork(db, settings.wal, group)
        switch work {
        case .checkpoint(let reason):
            core.log.noteCheckpoint(of: db)
            let result = try logWork.checkpoint(reason)
            return EndedWork(outcome: .checkpoint(result), actions: checkpointDidEnd(result, core))
        case .maintenance:
            let duration = try logWork.maintain(settings.maintenance)
            maintenanceDidEnd(core)
            return EndedWork(outcome: .maintenance(duration), actions: [])
        }
    }

    private func checkpointDidEnd(_ result: LogWork.CheckpointResult, _ core: DatabaseCore) -> [LogStateMachine.Action]
    {
        let (pages, commits) = core.log.extent
        return decide(core) { machine, now in
            machine.checkpointDidEnd(
                result.outcome, pageSize: result.pageSize, pages: pages, commits: commits, now: now)
        }
    }

    /// Does what follows work, without a connection.
    private func handle(_ ended: EndedWork) {
        perform(ended.actions)
        guard let core else { return }
        switch ended.outcome {
        case .checkpoint(let result):
            // Also if the program leaves its checkpoints to the other process.
            defer { warnOfOtherProcess() }
            guard let checkpoint = result.checkpoint else { return }
            state.withLock { state in
                state.statistics.note(checkpoint)
                if let pageSize = result.pageSize { state.pageSize = pageSize }
            }
            tell(.checkpoint(checkpoint))
            if checkpoint.reason == .size, !checkpoint.isEmptied {
                tell(.logIsLarge(bytes: checkpoint.bytes, readers: allReaders(core).map(\.reader)))
            }
        case .maintenance(let duration):
            state.withLock { $0.statistics.maintenanceCount += 1 }
            tell(.maintenance(duration))
        }
    }

    private func workDidFail(_ work: LogStateMachine.Work, _ error: any Error) {
        guard let core, let writer, !writer.group.isClosed else {
            return state.withLock { $0.machine.databaseDidClose() }
        }
        state.withLock { $0.statistics.failureCount += 1 }
        switch work {
        case .checkpoint:
            perform(checkpointDidEnd(.init(outcome: .failed, pageSize: nil, checkpoint: nil), core))
        case .maintenance: maintenanceDidEnd(core)
        }
        tell(.failed(error))
    }

    private func maintenanceDidEnd(_ core: DatabaseCore) {
        let commits = core.log.extent.commits
        _ = decide(core) { machine, now in
            machine.maintenanceDidEnd(commits: commits, now: now)
            return []
        }
    }

    /// The program has called `maintain(for:)`.
    func didMaintain(_ checkpoint: WALCheckpoint?) {
        state.withLock { state in
            if let checkpoint { state.statistics.note(checkpoint) }
            state.statistics.maintenanceCount += 1
        }
        if TracerList.hasAny, let checkpoint { trace(checkpoint) }
    }

    // MARK: - Readers

    /// Notes the reads that run now. A read costs nothing for it: connections have a number for each access.
    private func noteReads() {
        guard let readers else { return }
        let running = readers.group.runningAccesses
        let now = settings.time.now
        state.withLock { state in
            state.reads = Dictionary(uniqueKeysWithValues: running.map { ($0, state.reads[$0] ?? now) })
        }
    }

    /// Lets a checkpoint be tried again if a snapshot or stable reader was closed.
    private func notePinnedReaders(_ core: DatabaseCore) {
        let pinned = Set((core.pinnedReadersIfMade?.all ?? [:]).keys)
        state.withLock { state in
            if !state.pinned.isSubset(of: pinned) { state.machine.readerDidEnd() }
            state.pinned = pinned
        }
    }

    /// The known readers, the oldest first.
    private func allReaders(_ core: DatabaseCore) -> [(id: ReaderID, reader: WALReader)] {
        let now = settings.time.now
        func age(_ start: UInt64) -> Duration { .nanoseconds(Int64(clamping: now > start ? now - start : 0)) }
        let pinned = (core.pinnedReadersIfMade?.all ?? [:]).map { id, entry in
            (id: ReaderID.pinned(id), reader: WALReader(kind: entry.kind, label: entry.label, age: age(entry.start)))
        }
        let reads = state.withLock { $0.reads }.map { access, start in
            (
                id: ReaderID.read(access),
                reader: WALReader(
                    kind: readers?.group.isReadByBackup(access) ?? false ? .backup : .read,
                    label: readers?.group.label(of: access), age: age(start))
            )
        }
        return (pinned + reads).sorted { $0.reader.age > $1.reader.age }
    }

    /// Reports and ends the stale readers of a log that they hold back.
    private func handleStaleReaders(_ core: DatabaseCore) {
        guard let age = settings.wal.staleReaders.age, state.withLock({ $0.machine.isHeldBack }) else { return }
        let stale = allReaders(core).filter { $0.reader.age >= .seconds(age) }
        let new = state.withLock { state in
            let readers = stale.map { ReportedReader(id: $0.id, kind: $0.reader.kind) }
            defer { state.reported = Set(readers) }
            return zip(stale, readers).filter { !state.reported.contains($0.1) }.map(\.0)
        }
        for (_, reader) in new {
            ErrorLog.log(
                ResultCode.SQLITE_WARNING.rawValue, "\(reader) keeps the write-ahead log of \(name) from being emptied")
            tell(.staleReader(reader))
        }
        guard case .end = settings.wal.staleReaders else { return }
        // A backup is no forgotten reader: it ends by itself.
        for (id, reader) in stale where reader.kind != .backup && end(id, reader, core) {
            state.withLock { state in
                state.statistics.endedReaderCount += 1
                state.machine.readerDidEnd()
            }
            tell(.readerWasEnded(reader))
        }
    }

    private func end(_ id: ReaderID, _ reader: WALReader, _ core: DatabaseCore) -> Bool {
        let error = DatabaseError(
            resultCode: .SQLITE_ABORT,
            message: """
                \(reader) was ended: it kept the write-ahead log of \(name) from being emptied \
                (Configuration.wal.staleReaders)
                """)
        switch id {
        case .pinned(let id): return core.pinnedReadersIfMade?.end(id, error) ?? false
        case .read(let access): return readers?.group.end(access, error) ?? false
        }
    }

    // MARK: - Telling

    private func tell(_ event: WALEvent) {
        settings.handler?(event)
        if TracerList.hasAny, case .checkpoint(let checkpoint) = event { trace(checkpoint) }
    }

    private func trace(_ checkpoint: WALCheckpoint) {
        guard let core, let writer else { return }
        TracerList.deliver(core, writer.configuredTracers, .checkpoints) { _ in
            .checkpoint(.init(database: writer.source, checkpoint: checkpoint))
        }
    }

    /// The versions of SQLite in which two connections that write and checkpoint can corrupt a file:
    /// <https://www.sqlite.org/wal.html#walresetbug>.
    static let corruptingVersions: Range<CInt> = 3_007_000..<3_051_003

    /// `3.40.1` for 3040001.
    private static func text(ofVersion number: CInt) -> String {
        "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
    }

    private func warnOfOtherProcess() {
        guard Self.corruptingVersions.contains(Database.sqliteLibVersionNumber),
            !state.withLock({ $0.hasWarnedOfProcess }), let process = FileSystem.otherProcess(withDatabase: path)
        else { return }
        // Another checkpoint may have ended meanwhile.
        let isFirst = state.withLock { state in
            defer { state.hasWarnedOfProcess = true }
            return !state.hasWarnedOfProcess
        }
        guard isFirst else { return }
        let version = Self.text(ofVersion: Database.sqliteLibVersionNumber)
        ErrorLog.log(
            ResultCode.SQLITE_WARNING.rawValue,
            """
            process \(process) has \(name) open too: SQLite \(version) can corrupt a file that several connections \
            write to and checkpoint (https://www.sqlite.org/wal.html#walresetbug)
            """)
        tell(.otherProcessMayCorrupt(processID: process, sqliteVersion: version))
    }

    func statistics(_ core: DatabaseCore) -> WALStatistics {
        var (statistics, pageSize) = state.withLock { ($0.statistics, $0.pageSize) }
        let (pages, commits) = core.log.extent
        statistics.bytes = pages * pageSize
        statistics.commitCount = commits
        statistics.oldestReader = allReaders(core).first?.reader
        return statistics
    }
}

extension WALStatistics {
    mutating func note(_ checkpoint: WALCheckpoint) {
        checkpointCount += 1
        if checkpoint.isEmptied { emptyingCount += 1 }
        lastCheckpoint = checkpoint
    }
}

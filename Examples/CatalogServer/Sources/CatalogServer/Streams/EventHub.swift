internal import Logging
internal import NIOCore
internal import PackageCatalog
internal import Quarry
public import ServiceLifecycle
internal import Synchronization

/// The service behind `GET /events`: one observation and one reader of commits for all clients.
///
/// Each event is encoded once. Several commits within `ServerLimits.eventPause` come as one event.
public final class EventHub: Service {
    private let catalog: Catalog
    private let desk: ImportDesk
    private let limits: ServerLimits
    private let logger: Logger
    private let pending = Mutex(CommitEvent?.none)
    private let isShuttingDown = Atomic(false)
    let subscribers: EventSubscribers

    init(_ catalog: Catalog, desk: ImportDesk, limits: ServerLimits, logger: Logger) {
        self.catalog = catalog
        self.desk = desk
        self.limits = limits
        self.logger = logger
        subscribers = EventSubscribers(limit: limits.eventClients, buffer: limits.eventBuffer)
    }

    /// Whether the service group has begun to shut down.
    var hasBegunShutdown: Bool { isShuttingDown.load(ordering: .relaxed) }

    /// Observes the catalogue until the service is shut down.
    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.observeStatistics() }
                group.addTask { await self.readCommits() }
                group.addTask { await self.sendImports() }
                group.addTask { await self.keepAlive() }
            }
        }
        noteShutdown()
    }

    /// The routes refuse imports, and `/health` tells so.
    func noteShutdown() { isShuttingDown.store(true, ordering: .relaxed) }

    private func observeStatistics() async {
        let observation = ValueObservation.tracking(CatalogOverview.fetch).removeDuplicates()
            .throttle(for: limits.eventPause)
        while !Task.isCancelled {
            do {
                for try await overview in observation.values(in: catalog.database) {
                    let statistics = CatalogStatistics(
                        overview, commit: catalog.database.lastCommitNumber.rawValue)
                    try subscribers.send(ServerSentEvent.buffer("statistics", statistics), presentOf: "statistics")
                }
            } catch {
                if Task.isCancelled { return }
                logger.warning("The observation of statistics has ended, and begins again: \(error)")
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func readCommits() async {
        let (pulse, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                for await _ in pulse {
                    if let event = pending.withLock({ $0.take() }) { send("commit", event) }
                    try? await Task.sleep(for: limits.eventPause)
                }
            }
            for await commit in catalog.database.commits {
                pending.withLock { pending in
                    if pending == nil { pending = CommitEvent(commit) } else { pending!.add(commit) }
                }
                signal.yield()
            }
            signal.finish()
        }
    }

    private func sendImports() async {
        for await _ in desk.changes {
            for status in desk.takeChanged() {
                let kind = "import \(status.id)"
                send("import", status, presentOf: kind)
                if status.state != .running { subscribers.forget(kind) }
            }
            try? await Task.sleep(for: limits.eventPause)
        }
    }

    private func keepAlive() async {
        while (try? await Task.sleep(for: limits.keepAlive)) != nil { subscribers.send(ServerSentEvent.keepAlive) }
    }

    private func send(_ name: String, _ event: some Encodable, presentOf kind: String? = nil) {
        do {
            try subscribers.send(ServerSentEvent.buffer(name, event), presentOf: kind)
        } catch {
            logger.error("The event \(name) can't be encoded: \(error)")
        }
    }
}

/// The event `commit`: one commit, or several that came soon after each other.
struct CommitEvent: Codable, Sendable, Equatable {
    /// The number of the last one.
    var number: Int
    /// How many they are.
    var count: Int
    /// The tables that they have changed; absent if these aren't known, because another process has changed them.
    var tables: [String]?
}

extension CommitEvent {
    init(_ commit: DatabaseCommit) {
        self.init(number: commit.number.rawValue, count: 1, tables: Self.tables(of: commit))
    }

    mutating func add(_ commit: DatabaseCommit) {
        number = commit.number.rawValue
        count += 1
        guard let known = tables, let others = Self.tables(of: commit) else {
            tables = nil
            return
        }
        tables = Set(known + others).sorted()
    }

    private static func tables(of commit: DatabaseCommit) -> [String]? {
        guard commit.source == .database else { return nil }
        return Catalog.tableNames.filter { commit.changes.containsChange(in: $0) }
    }
}

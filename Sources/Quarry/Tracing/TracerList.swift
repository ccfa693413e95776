import QuarryCore
import Synchronization

/// The tracers of one database, or those of the process.
final class TracerList: DatabasePart {
    /// A tracer, until it is removed.
    final class Entry: Sendable {
        let tracer: any DatabaseTracer
        let options: DatabaseTracing.Options
        private let removed = Atomic<Bool>(false)
        private let accessCount = Atomic<Int>(0)
        private let statementCount = Atomic<Int>(0)

        fileprivate init(_ tracer: any DatabaseTracer) {
            self.tracer = tracer
            options = tracer.options
        }

        /// False once the tracer is removed: it is asked before each call.
        var isActive: Bool { !removed.load(ordering: .acquiring) }

        func wants(_ interests: DatabaseTracing.Interests) -> Bool {
            !options.interests.isDisjoint(with: interests)
        }

        /// Whether the next access is reported: each nth is.
        func samplesAccess() -> Bool { Self.samples(accessCount, options.everyNthAccess) }

        /// Whether the next statement is reported.
        func samplesStatement() -> Bool { Self.samples(statementCount, options.everyNthStatement) }

        private static func samples(_ count: borrowing Atomic<Int>, _ every: Int) -> Bool {
            every < 2 || count.wrappingAdd(1, ordering: .relaxed).oldValue % every == 0
        }

        /// Calls the tracer, if it wants the event and hasn't been removed.
        func receive(
            _ interest: DatabaseTracing.Interests, _ event: (DatabaseTracing.Options) -> DatabaseTraceEvent?
        ) {
            guard wants(interest), isActive, let event = event(options) else { return }
            tracer.receive(event)
        }

        /// - returns: whether the tracer hadn't been removed.
        fileprivate func remove() -> Bool { !removed.exchange(true, ordering: .acquiringAndReleasing) }
    }

    /// The tracers for all databases.
    static let process = TracerList()

    /// The number of tracers of all lists. An access compares it with 0, and pays for nothing else if there are none.
    private static let count = Atomic<Int>(0)

    /// Whether there is a tracer, for any database.
    @inline(__always)
    static var hasAny: Bool { count.load(ordering: .relaxed) > 0 }

    private let entries = Lock<[Entry]>([])

    deinit {
        for entry in entries.withLock({ $0 }) where entry.remove() { Self.count.subtract(1, ordering: .relaxed) }
    }

    /// The tracers of a configuration; nil if it has none. A list of their own: the queues of one named database in
    /// memory share a core, and each may have its configuration.
    static func configured(_ configuration: Configuration) -> TracerList? {
        guard !configuration.tracers.isEmpty else { return nil }
        let list = TracerList()
        for tracer in configuration.tracers { list.add(tracer) }
        return list
    }

    /// The tracers that concern a database: those of the process, of the database, and of its configuration.
    static func current(for core: DatabaseCore, _ configured: TracerList?) -> [Entry] {
        var entries = process.entries.withLock { $0 }
        if let list = core.tracersIfMade { entries += list.entries.withLock { $0 } }
        if let configured { entries += configured.entries.withLock { $0 } }
        return entries
    }

    /// Delivers an event that belongs to no access.
    static func deliver(
        _ core: DatabaseCore, _ configured: TracerList?, _ interest: DatabaseTracing.Interests,
        _ event: (DatabaseTracing.Options) -> DatabaseTraceEvent
    ) {
        guard hasAny, !AccessTrace.isDelivering else { return }
        let entries = current(for: core, configured).filter { $0.wants(interest) }
        guard !entries.isEmpty else { return }
        AccessTrace.$isDelivering.withValue(true) {
            for entry in entries { entry.receive(interest, event) }
        }
    }

    @discardableResult
    func add(_ tracer: any DatabaseTracer) -> TracerRegistration {
        let entry = Entry(tracer)
        entries.withLock { $0.append(entry) }
        Self.count.add(1, ordering: .relaxed)
        return TracerRegistration(list: self, entry: entry)
    }

    func remove(_ entry: Entry) {
        guard entry.remove() else { return }
        Self.count.subtract(1, ordering: .relaxed)
        // Released without the lock: the tracer may hold objects of the user.
        let removed = entries.withLock { entries in
            entries.firstIndex { $0 === entry }.map { entries.remove(at: $0) }
        }
        _ = consume removed
    }
}

extension DatabaseCore {
    /// The tracers of the database.
    var tracers: TracerList { part(TracerList.self) { TracerList() } }

    /// The tracers of the database; nil if there has been none.
    var tracersIfMade: TracerList? { part(TracerList.self) }
}

extension Configuration {
    /// The tracers of a database, from its opening. See `DatabaseTracer`.
    ///
    /// ```swift
    /// config.tracers = [SlowLog()]
    /// ```
    public var tracers: [any DatabaseTracer] {
        get { settings[ConfiguredTracers.self]?.tracers ?? [] }
        set { settings[ConfiguredTracers.self] = newValue.isEmpty ? nil : ConfiguredTracers(tracers: newValue) }
    }
}

private struct ConfiguredTracers: Sendable {
    let tracers: [any DatabaseTracer]
}

import QuarryCore
import Synchronization

/// The tracers of one database, or those of the process.
package final class TracerList: Sendable {
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

    /// Whether a tracer is being called: its accesses aren't traced.
    @TaskLocal static var isDelivering = false

    /// The tracers of the list.
    var current: [Entry] { entries.withLock { $0 } }

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

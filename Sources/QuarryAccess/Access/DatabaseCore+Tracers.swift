import QuarryCore

// The tracers that concern a database.

extension TracerList: DatabasePart {
    /// The tracers of a configuration; nil if it has none. A list of their own: the queues of one named database in
    /// memory share a core, and each may have its configuration.
    package static func configured(_ configuration: Configuration) -> TracerList? {
        guard !configuration.tracers.isEmpty else { return nil }
        let list = TracerList()
        for tracer in configuration.tracers { list.add(tracer) }
        return list
    }

    /// The tracers that concern a database: those of the process, of the database, and of its configuration.
    static func current(for core: DatabaseCore, _ configured: TracerList?) -> [Entry] {
        var entries = process.current
        if let list = core.tracersIfMade { entries += list.current }
        if let configured { entries += configured.current }
        return entries
    }

    /// Delivers an event that belongs to no access.
    static func deliver(
        _ core: DatabaseCore, _ configured: TracerList?, _ interest: DatabaseTracing.Interests,
        _ event: (DatabaseTracing.Options) -> DatabaseTraceEvent
    ) {
        guard hasAny, !isDelivering else { return }
        let entries = current(for: core, configured).filter { $0.wants(interest) }
        guard !entries.isEmpty else { return }
        $isDelivering.withValue(true) {
            for entry in entries { entry.receive(interest, event) }
        }
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

extension DatabaseReader {
    /// Adds a tracer for this database.
    ///
    /// ```swift
    /// let registration = dbPool.addTracer(SlowLog())
    /// …
    /// registration.remove()
    /// ```
    ///
    /// A pool and its snapshots share their tracers, and so do the queues of one named database in memory. The database
    /// keeps the tracer, which must not keep the database.
    ///
    /// - returns: the tracer's registration, with which it can be removed.
    @discardableResult
    public func addTracer(_ tracer: some DatabaseTracer) -> TracerRegistration {
        (groupReader?.core.tracers ?? TracerList()).add(tracer)
    }

    /// Adds a closure as a tracer for this database.
    ///
    /// ```swift
    /// dbPool.addTracer(.init([.waits, .errors])) { event in print(event) }
    /// ```
    ///
    /// - returns: the closure's registration, with which it can be removed.
    @discardableResult
    public func addTracer(
        _ options: DatabaseTracing.Options, _ receive: @escaping @Sendable (DatabaseTraceEvent) -> Void
    ) -> TracerRegistration { addTracer(ClosureTracer(options: options, body: receive)) }
}

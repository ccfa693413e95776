public import QuarryCore

/// Fetches a value, and again after each change of what it was fetched from.
///
/// ```swift
/// let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
/// let cancellable = observation.start(in: dbPool, scheduling: .task) { error in
///     print("failed: \(error)")
/// } onChange: { count in
///     print("\(count) players")
/// }
/// for try await count in observation.values(in: dbPool) { print("\(count) players") }
/// ```
///
/// An observation is a value: it does nothing until it is started, and can be started several times. Once started, it
/// receives the current value, and then a new one after commits that change its region. Several commits may be followed
/// by one value; the last state is always received, and never an older state after a newer one.
///
/// * Fetches run in a read of a pool's readers, and hold up no write. A queue has one connection: a fetch waits in line
///   with the other accesses.
/// * Observations that are due at the same time are fetched in one transaction. If the same observation was started
///   several times, its value is fetched once for all. Observations made by two calls are two, even if their requests
///   are equal.
/// * The next fetch begins only after the last value was taken, so a slow receiver makes no values pile up.
/// * `SQLITE_BUSY`, `SQLITE_LOCKED`, `SQLITE_SCHEMA` and `SQLITE_INTERRUPT` are retried a few times. Any other error
///   ends the observation.
/// * A running observation keeps its queue or pool alive. Closing the database ends its observations with
///   `SQLITE_MISUSE`, "Connection is closed".
/// * A snapshot never changes: an observation of it receives one value.
public struct ValueObservation<Reducer: ValueReducer>: Sendable {
    /// Whether the fetch may write. It then runs in a write transaction, whose own changes are followed by no other
    /// fetch.
    ///
    /// Other observations see these changes as any others. Two observations whose fetches change what the other one
    /// reads are fetched in turn until one of them is cancelled; other writes go on meanwhile.
    public var requiresWriteAccess = false

    let fetch: ObservedFetch
    /// The reducer before the first value.
    let reducer: Reducer
    var events: [ObservationEvents] = []
    var pace: ObservationPace?

    init(_ fetch: ObservedFetch, _ reducer: Reducer) {
        self.fetch = fetch
        self.reducer = reducer
    }

    /// The same observation with another reducer.
    func reducing<Other: ValueReducer>(_ wrap: (Reducer) -> Other) -> ValueObservation<Other> {
        var result = ValueObservation<Other>(fetch, wrap(reducer))
        result.requiresWriteAccess = requiresWriteAccess
        result.events = events
        result.pace = pace
        return result
    }
}

// MARK: - Creating

extension ValueObservation {
    /// Tracks what each fetch reads, which may differ from one to the next.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in
    ///     let player = try Player.fetchOne(db, key: id)
    ///     return try player.flatMap { try Team.fetchOne(db, key: $0.teamID) }
    /// }
    /// ```
    ///
    /// - parameter fetch: called with a connection that reads.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(ObservedFetch(.varying, fetch), ValueReducers.Fetch())
    }

    /// Tracks what the first fetch reads. Later fetches must read from the same tables, columns and rows; their changes
    /// elsewhere are missed.
    ///
    /// ```swift
    /// let observation = ValueObservation.trackingConstantRegion { db in try Player.fetchCount(db) }
    /// ```
    ///
    /// - parameter fetch: called with a connection that reads.
    @preconcurrency
    public static func trackingConstantRegion<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(ObservedFetch(.constant, fetch), ValueReducers.Fetch())
    }

    /// Tracks given regions, whatever is fetched.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(region: Player.all(), Team.all(), fetch: { db in
    ///     try Report.fetch(db)
    /// })
    /// ```
    ///
    /// - parameter region: a region, a table or a request.
    /// - parameter otherRegions: more of them.
    /// - parameter fetch: called with a connection that reads.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        region: any DatabaseRegionConvertible, _ otherRegions: any DatabaseRegionConvertible...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer> where Reducer == ValueReducers.Fetch<Value> {
        tracking(regions: [region] + otherRegions, fetch: fetch)
    }

    /// Tracks given regions, whatever is fetched.
    ///
    /// - parameter regions: regions, tables or requests.
    /// - parameter fetch: called with a connection that reads.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        regions: [any DatabaseRegionConvertible], fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer> where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(ObservedFetch(.regions(regions), fetch), ValueReducers.Fetch())
    }
}

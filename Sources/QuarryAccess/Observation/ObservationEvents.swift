public import QuarryCore

/// The closures of one `handleEvents`.
struct ObservationEvents: Sendable {
    var willStart: (@Sendable () -> Void)?
    var willFetch: (@Sendable () -> Void)?
    var willTrackRegion: (@Sendable (DatabaseRegion) -> Void)?
    var databaseDidChange: (@Sendable () -> Void)?
    var didFail: (@Sendable (any Error) -> Void)?
    var didCancel: (@Sendable () -> Void)?
}

extension ValueObservation {
    /// Calls closures at the events of the observation.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
    ///     .handleEvents(willFetch: { metrics.increment("player.fetches") })
    /// ```
    ///
    /// - parameter willStart: called by `start`.
    /// - parameter willFetch: called before each fetch, on its thread.
    /// - parameter willTrackRegion: receives the region, when it is known and when it has varied.
    /// - parameter databaseDidChange: called before each fetch that a change has caused.
    /// - parameter didReceiveValue: receives each value of the observation so far: `map` and the like that follow are
    ///   not applied.
    /// - parameter didFail: receives the error that ends the observation.
    /// - parameter didCancel: called when the observation is cancelled.
    public func handleEvents(
        willStart: (@Sendable () -> Void)? = nil, willFetch: (@Sendable () -> Void)? = nil,
        willTrackRegion: (@Sendable (DatabaseRegion) -> Void)? = nil,
        databaseDidChange: (@Sendable () -> Void)? = nil,
        didReceiveValue: (@Sendable (Reducer.Value) -> Void)? = nil,
        didFail: (@Sendable (any Error) -> Void)? = nil, didCancel: (@Sendable () -> Void)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        var result = reducing { ValueReducers.Trace(base: $0, didReceiveValue: didReceiveValue) }
        result.events.append(
            ObservationEvents(
                willStart: willStart, willFetch: willFetch, willTrackRegion: willTrackRegion,
                databaseDidChange: databaseDidChange, didFail: didFail, didCancel: didCancel))
        return result
    }

    /// Prints the events of the observation.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }.print("players")
    /// // players: start
    /// // players: fetch
    /// // players: tracked region: player(*)
    /// // players: value: 2
    /// ```
    ///
    /// - parameter prefix: begins each line.
    /// - parameter stream: receives each line in one call, without a line feed, so that a stream of log entries has no
    ///   empty ones; nil for the standard output.
    public func print(
        _ prefix: String = "", to stream: sending (any TextOutputStream)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        let lines = ObservationPrinter(prefix, stream)
        return handleEvents(
            willStart: { lines.print("start") }, willFetch: { lines.print("fetch") },
            willTrackRegion: { lines.print("tracked region: \($0)") },
            databaseDidChange: { lines.print("database did change") },
            didReceiveValue: { lines.print("value: \($0)") }, didFail: { lines.print("failure: \($0)") },
            didCancel: { lines.print("cancel") })
    }
}

/// Writes lines to a stream, from any thread.
private final class ObservationPrinter: Sendable {
    private let prefix: String
    /// The lock is held during the stream's `write`: a stream is changed by one call at a time.
    private let stream: Lock<(any TextOutputStream)?>

    init(_ prefix: String, _ stream: sending (any TextOutputStream)?) {
        self.prefix = prefix.isEmpty ? "" : prefix + ": "
        self.stream = Lock(stream)
    }

    func print(_ text: String) {
        let line = prefix + text
        stream.withLock { stream in
            if stream == nil {
                Swift.print(line)
            } else {
                stream?.write(line)
            }
        }
    }
}

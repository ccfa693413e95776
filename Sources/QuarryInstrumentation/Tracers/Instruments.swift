#if Instrumentation || AllButTLS
internal import Metrics
internal import Quarry

/// The instruments of a backend, made once for each name and its attributes.
final class Instruments: Sendable {
    /// A name and its attributes, in order.
    private struct Key: Hashable {
        let name: String
        let attributes: [Attribute]

        struct Attribute: Hashable {
            let name: String
            let value: String
        }

        init(_ name: String, _ attributes: [(String, String)]) {
            self.name = name
            self.attributes = attributes.map { Attribute(name: $0.0, value: $0.1) }
        }

        var dimensions: [(String, String)] { attributes.map { ($0.name, $0.value) } }
    }

    private struct Made {
        var timers: [Key: Timer] = [:]
        var recorders: [Key: Recorder] = [:]
        var counters: [Key: Counter] = [:]
        var meters: [Key: Meter] = [:]
    }

    /// The number of timers, and of recorders, from which on the attributes that may have any number of values are
    /// omitted: programs may create tables without end.
    static let maximumCount = 2000

    private let factory: any MetricsFactory
    private let made = Lock(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Records a duration, in seconds.
    ///
    /// - parameter open: an attribute that may have any number of values.
    func time(
        _ duration: Duration, _ name: String, _ attributes: [(String, String)], _ open: (String, String)? = nil
    ) {
        instrument(\.timers, name, attributes, open) { key in
            Timer(label: key.name, dimensions: key.dimensions, preferredDisplayUnit: .seconds, factory: factory)
        }.recordNanoseconds(duration.nanoseconds)
    }

    /// Adds a value to a histogram.
    func record(_ value: Int, _ name: String, _ attributes: [(String, String)], _ open: (String, String)? = nil) {
        instrument(\.recorders, name, attributes, open) { key in
            Recorder(label: key.name, dimensions: key.dimensions, aggregate: true, factory: factory)
        }.record(value)
    }

    func count(_ name: String, _ attributes: [(String, String)], by count: Int = 1) {
        instrument(\.counters, name, attributes, nil) { key in
            Counter(label: key.name, dimensions: key.dimensions, factory: factory)
        }.increment(by: count)
    }

    /// Sets a state.
    func set(_ value: Double, _ name: String, _ attributes: [(String, String)]) {
        instrument(\.meters, name, attributes, nil) { key in
            Meter(label: key.name, dimensions: key.dimensions, factory: factory)
        }.set(value)
    }

    private func instrument<Instrument>(
        _ kind: WritableKeyPath<Made, [Key: Instrument]>, _ name: String, _ attributes: [(String, String)],
        _ open: (String, String)?, _ make: (Key) -> Instrument
    ) -> Instrument {
        let reducedKey = Key(name, attributes)
        let wholeKey = open.map { Key(name, attributes + [$0]) } ?? reducedKey
        let (existing, key) = made.withLock { made in
            if let instrument = made[keyPath: kind][wholeKey] { return (instrument as Instrument?, wholeKey) }
            let key = made[keyPath: kind].count < Self.maximumCount ? wholeKey : reducedKey
            return (made[keyPath: kind][key], key)
        }
        if let existing { return existing }
        // The backend is called without the lock. If another thread was faster, its instrument is kept.
        let instrument = make(key)
        return made.withLock { made in
            if let existing = made[keyPath: kind][key] { return existing }
            made[keyPath: kind][key] = instrument
            return instrument
        }
    }
}
#endif

internal import Metrics
internal import Synchronization

/// A backend of swift-metrics that keeps sums in memory, and prints them in Prometheus' text format 0.0.4:
/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
///
/// Timers are histograms in seconds, counters end in `_total`, and dots become underscores.
final class PrometheusRegistry: MetricsFactory {
    private struct State {
        var families: [String: PrometheusFamily] = [:]
    }

    private let state = Mutex(State())

    /// All metrics, by name, each with its labels in order.
    var text: String {
        let families = state.withLock { $0.families }
        return families.sorted { $0.key < $1.key }.map { $0.value.text(named: $0.key) }.joined()
    }

    /// Sets a gauge.
    func set(_ value: Double, _ label: String, _ dimensions: [(String, String)] = []) {
        makeMeter(label: label, dimensions: dimensions).set(value)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(PrometheusName(label, suffix: "_total"), .counter, dimensions) { PrometheusNumber() }
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        instrument(PrometheusName(label, suffix: "_total"), .counter, dimensions) { PrometheusNumber() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(PrometheusName(label), .gauge, dimensions) { PrometheusNumber() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return instrument(PrometheusName(label), .gauge, dimensions) { PrometheusNumber() } }
        return instrument(PrometheusName(label), .histogram, dimensions) {
            PrometheusHistogram(bounds: PrometheusHistogram.counts)
        }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        instrument(PrometheusName(label, suffix: "_seconds"), .histogram, dimensions) {
            PrometheusHistogram(bounds: PrometheusHistogram.seconds)
        }
    }

    // Sums are kept: swift-metrics destroys an instrument when the last one of its name is released, but a counter that
    // begins again would look like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func instrument<Instrument: PrometheusInstrument>(
        _ name: PrometheusName, _ kind: PrometheusFamily.Kind, _ dimensions: [(String, String)],
        _ make: () -> Instrument
    ) -> Instrument {
        let labels = PrometheusName.labels(dimensions)
        return state.withLock { state in
            // One name has one kind. A second kind of the same name gets it as a suffix.
            var key = name.text
            if let family = state.families[key], family.kind != kind { key += "_\(kind)" }
            if let existing = state.families[key]?.instruments[labels] as? Instrument { return existing }
            let instrument = make()
            state.families[key, default: PrometheusFamily(kind: kind)].instruments[labels] = instrument
            return instrument
        }
    }
}

/// The instruments of one name, by their labels.
struct PrometheusFamily {
    enum Kind: String {
        case counter, gauge, histogram
    }

    let kind: Kind
    var instruments: [String: any PrometheusInstrument] = [:]

    func text(named name: String) -> String {
        "# TYPE \(name) \(kind.rawValue)\n"
            + instruments.sorted { $0.key < $1.key }.map { $0.value.text(named: name, labels: $0.key) }.joined()
    }
}

/// Names and labels as Prometheus allows them.
struct PrometheusName {
    let text: String

    init(_ label: String, suffix: String = "") {
        let name = Self.allowed(label, and: ":")
        text = name.hasSuffix(suffix) ? name : name + suffix
    }

    /// `route="/packages",status="200"`
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in "\(allowed(name, and: ""))=\"\(escaped(value))\"" }.joined(separator: ",")
    }

    private static func allowed(_ text: String, and others: String) -> String {
        let characters = text.unicodeScalars.map { scalar -> Character in
            let isAllowed = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isAllowed || others.unicodeScalars.contains(scalar) ? Character(scalar) : "_"
        }
        guard let first = characters.first, !first.isNumber else { return "_" + String(characters) }
        return String(characters)
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

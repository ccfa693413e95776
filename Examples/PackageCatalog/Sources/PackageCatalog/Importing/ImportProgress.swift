/// How far an import has come.
public struct ImportProgress: Sendable, Equatable {
    public var packages = 0
    public var added = 0
    public var updated = 0
    public var removed = 0
    /// Malformed stanzas.
    public var skipped = 0
    public var transactions = 0
    /// Rows written to all tables.
    public var rows = 0
    /// Of the inputs as they are: compressed bytes of a compressed file.
    public var bytesRead = 0
    /// Of all inputs; nil if the length of one isn't known, as that of a pipe.
    public var byteCount: Int?
    public var elapsed = Duration.zero

    public init() {}

    var fraction: Double? {
        guard let byteCount, byteCount > 0 else { return nil }
        return min(Double(bytesRead) / Double(byteCount), 1)
    }

    var rowsPerSecond: Double { rate(rows, per: elapsed) }

    var timeLeft: Duration? { fraction.flatMap { PackageCatalog.timeLeft(after: elapsed, fraction: $0) } }
}

/// Assumes that what is left takes as long for each part as what has been done; nil while nothing has been.
func timeLeft(after elapsed: Duration, fraction: Double) -> Duration? {
    fraction > 0 ? elapsed * ((1 - fraction) / fraction) : nil
}

/// How often something happened in a second; nothing happens in no time.
func rate(_ count: Int, per duration: Duration) -> Double {
    duration > .zero ? Double(count) / (duration / .seconds(1)) : 0
}

/// How far an import has come.
struct ImportProgress: Sendable, Equatable {
    var packages = 0
    var added = 0
    var updated = 0
    var removed = 0
    /// Malformed stanzas.
    var skipped = 0
    var transactions = 0
    /// Rows written to all tables.
    var rows = 0
    var bytesRead = 0
    /// Of all inputs; nil where one of them is a pipe.
    var byteCount: Int?
    var elapsed = Duration.zero

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

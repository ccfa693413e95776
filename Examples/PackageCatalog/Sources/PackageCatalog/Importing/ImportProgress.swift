/// How far an import has come.
struct ImportProgress: Sendable, Equatable {
    var packages = 0
    var added = 0
    var updated = 0
    var removed = 0
    /// Malformed stanzas.
    var skipped = 0
    var batches = 0
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

    /// Assumes that what is left takes as long for each byte as what has been read.
    var timeLeft: Duration? {
        guard let fraction, fraction > 0 else { return nil }
        return elapsed * ((1 - fraction) / fraction)
    }
}

/// How often something happened in a second; nothing happens in no time.
func rate(_ count: Int, per duration: Duration) -> Double {
    duration > .zero ? Double(count) / (duration / .seconds(1)) : 0
}

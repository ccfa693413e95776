import Foundation

extension Int {
    /// `1,234,567`, whatever the locale, so that output can be compared.
    var grouped: String {
        let digits = String(magnitude)
        let groups = stride(from: digits.count, to: 0, by: -3).reversed().map { end in
            digits.dropLast(digits.count - end).suffix(3)
        }
        return (self < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// A number of bytes as `12 KiB`, `3.4 MiB` or `5.6 GiB`.
    var asBytes: String { ((self + 1023) / 1024).asKibibytes }

    /// A number of KiB as `12 KiB`, `3.4 MiB` or `5.6 GiB`.
    var asKibibytes: String {
        switch self {
        case ..<1024: "\(self) KiB"
        case ..<(1024 * 1024): String(format: "%.1f MiB", Double(self) / 1024)
        default: String(format: "%.1f GiB", Double(self) / (1024 * 1024))
        }
    }
}

extension Double {
    /// A rate as `1,234`, or `0.25` where whole numbers say nothing.
    var asRate: String { self < 10 ? String(format: "%.2f", self) : Int(rounded()).grouped }

    /// A fraction as `[####....]`.
    func asBar(width: Int) -> String {
        let filled = Int(self * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
    }
}

extension Duration {
    /// `250 µs`, `3.1 ms`, `2.50 s`.
    var asMeasured: String {
        switch self / .seconds(1) {
        case let seconds where seconds < 0.001: String(format: "%.0f µs", seconds * 1_000_000)
        case let seconds where seconds < 1: String(format: "%.1f ms", seconds * 1000)
        case let seconds: String(format: "%.2f s", seconds)
        }
    }

    /// `0:05`, `1:02:03`, rounded up: what is left isn't over before it is.
    var asClock: String {
        let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return hours > 0
            ? String(format: "%lld:%02lld:%02lld", hours, minutes, seconds % 60)
            : String(format: "%lld:%02lld", minutes, seconds % 60)
    }
}

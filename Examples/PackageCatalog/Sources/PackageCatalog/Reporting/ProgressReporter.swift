extension ImportProgress {
    /// `[#####…] 1,234 packages  45,678 rows/s  0:03 left`, without what isn't known.
    func line(barWidth: Int = 24) -> String {
        var parts: [String] = []
        if let fraction {
            let filled = Int(fraction * Double(barWidth))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
            parts.append("[\(bar)]")
        }
        parts.append("\(packages.grouped) packages")
        parts.append("\(rowsPerSecond.asRate) rows/s")
        if let timeLeft { parts.append("\(timeLeft.asClock) left") }
        return parts.joined(separator: "  ")
    }
}

/// Shows an import on standard error: a bar that is drawn anew on a terminal, elsewhere a line now and then.
///
/// It belongs to the task that imports.
final class ProgressReporter {
    private(set) var latest = ImportProgress()
    private(set) var isImporting = false
    private let console: Console
    private var lastShown: Duration?
    private var isBarShown = false

    init(_ console: Console) { self.console = console }

    func begin() { isImporting = true }

    func report(_ event: ImportEvent) {
        switch event {
        case .malformed(let file, let stanza): say("\(file):\(stanza.line): \(stanza.reason)")
        case .stored(let progress): show(progress)
        }
    }

    /// A line of its own, above the bar.
    func say(_ line: String) {
        removeBar()
        console.error(line.printable + "\n")
    }

    /// The import has ended: later output begins on a new line.
    func finish() {
        removeBar()
        isImporting = false
    }

    private func show(_ progress: ImportProgress) {
        latest = progress
        let interval: Duration = console.errorIsTerminal ? .milliseconds(100) : .seconds(2)
        if let lastShown, progress.elapsed - lastShown < interval { return }
        lastShown = progress.elapsed
        if console.errorIsTerminal {
            console.error("\r\u{1B}[K" + progress.line())
            isBarShown = true
        } else {
            console.error(progress.line() + "\n")
        }
    }

    private func removeBar() {
        if isBarShown { console.error("\r\u{1B}[K") }
        isBarShown = false
    }
}

import Quarry
import Synchronization

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
/// The task that imports reports events; the task that observes the catalogue shows the progress.
final class ProgressReporter: Sendable {
    private struct State {
        var latest = ImportProgress()
        var isImporting = false
        var lastShown: Duration?
        var isBarShown = false
    }

    private let state = Mutex(State())
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// The progress that the import has reported last.
    var latest: ImportProgress { state.withLock { $0.latest } }

    var isImporting: Bool { state.withLock { $0.isImporting } }

    func begin() { state.withLock { $0.isImporting = true } }

    func report(_ event: ImportEvent) {
        switch event {
        case .malformed(let file, let stanza): say("\(file):\(stanza.line): \(stanza.reason)")
        case .stored(let progress): state.withLock { $0.latest = progress }
        }
    }

    /// A line of its own, above the bar.
    func say(_ line: String) {
        state.withLock { state in
            removeBar(&state)
            console.error(line.printable + "\n")
        }
    }

    /// The import has ended: later output begins on a new line.
    func finish() {
        state.withLock { state in
            removeBar(&state)
            state.isImporting = false
        }
    }

    /// Shows the progress of an import that hasn't ended.
    func show(_ progress: ImportProgress) {
        state.withLock { state in
            guard state.isImporting else { return }
            let interval: Duration = console.errorIsTerminal ? .milliseconds(100) : .seconds(2)
            if let lastShown = state.lastShown, progress.elapsed - lastShown < interval { return }
            state.lastShown = progress.elapsed
            if console.errorIsTerminal {
                console.error("\r\u{1B}[K" + progress.line())
                state.isBarShown = true
            } else {
                console.error(progress.line() + "\n")
            }
        }
    }

    private func removeBar(_ state: inout State) {
        if state.isBarShown { console.error("\r\u{1B}[K") }
        state.isBarShown = false
    }
}

extension ProgressReporter {
    /// Runs an import, and shows its progress as the catalogue tells it.
    func showing<Value>(_ catalog: Catalog, during work: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        let values = try await catalog.importProgress()
        begin()
        let display = Task {
            for try await stored in values {
                guard let stored, stored.packages > 0 else { continue }
                var progress = ImportProgress()
                progress.packages = stored.packages
                progress.rows = stored.rows
                progress.bytesRead = stored.bytesRead
                progress.byteCount = stored.byteCount
                progress.elapsed = .now - start
                show(progress)
            }
        }
        defer { display.cancel() }
        return try await work()
    }
}

import Quarry
import Synchronization

extension ImportProgress {
    /// `[#####…] 1,234 packages  45,678 rows/s  0:03 left`, without what isn't known.
    func line(barWidth: Int = 24) -> String {
        var parts: [String] = []
        if let fraction { parts.append(fraction.asBar(width: barWidth)) }
        parts.append("\(packages.grouped) packages")
        parts.append("\(rowsPerSecond.asRate) rows/s")
        if let timeLeft { parts.append("\(timeLeft.asClock) left") }
        return parts.joined(separator: "  ")
    }
}

/// Shows an import on standard error.
///
/// The task that imports reports events; the task that observes the catalogue shows the progress.
final class ProgressReporter: Sendable {
    private let progress = Mutex(ImportProgress())
    private let line: StatusLine

    init(_ console: Console) { line = StatusLine(console) }

    /// The progress that the import has reported last.
    var latest: ImportProgress { progress.withLock(\.self) }

    var isImporting: Bool { line.isShown }

    func begin() { line.begin() }

    func report(_ event: ImportEvent) {
        switch event {
        case .malformed(let file, let stanza): say("\(file):\(stanza.line): \(stanza.reason)")
        case .stored(let progress): self.progress.withLock { $0 = progress }
        }
    }

    /// A line of its own, above the bar.
    func say(_ text: String) { line.say(text) }

    /// The import has ended: later output begins on a new line.
    func finish() { line.finish() }

    /// Shows the progress of an import that hasn't ended.
    func show(_ progress: ImportProgress) { line.show(progress.line(), at: progress.elapsed) }
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

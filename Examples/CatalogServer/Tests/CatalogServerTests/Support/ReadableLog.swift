import Logging
import Synchronization

/// A log that can be read.
struct ReadableLog: LogHandler {
    final class Lines: Sendable {
        private let entries = Mutex<[(line: String, metadata: Logger.Metadata)]>([])
        var all: [String] { entries.withLock { $0.map(\.line) } }
        func add(_ line: String, _ metadata: Logger.Metadata) { entries.withLock { $0.append((line, metadata)) } }

        /// The metadata of the entries with a line.
        func metadata(_ line: String) -> [Logger.Metadata] {
            entries.withLock { $0.filter { $0.line == line }.map(\.metadata) }
        }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.level): \(event.message)", event.metadata ?? [:]) }
}

extension Logger {
    static func readable(_ lines: ReadableLog.Lines) -> Logger {
        Logger(label: "test") { _ in ReadableLog(lines: lines) }
    }
}

import Foundation
import Quarry

/// How a database is opened.
enum DatabaseKind: String {
    case queue
    case walQueue
    case pool

    init(_ name: String) {
        guard let kind = DatabaseKind(rawValue: name) else { fail("no such kind: \(name)") }
        self = kind
    }

    func open(_ path: String, _ configuration: Configuration = Configuration()) throws -> any DatabaseWriter {
        switch self {
        case .queue: return try DatabaseQueue(path: path, configuration: configuration)
        case .walQueue:
            var configuration = configuration
            configuration.journalMode = .wal
            return try DatabaseQueue(path: path, configuration: configuration)
        case .pool: return try DatabasePool(path: path, configuration: configuration)
        }
    }
}

/// A difference that a check found.
struct Wrong: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Writes all of it, at once for what is short: nothing is kept in a buffer that a kill would take away.
func writeAll(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
        var start = 0
        while start < bytes.count {
            let count = write(descriptor, bytes.baseAddress! + start, bytes.count - start)
            if count > 0 { start += count } else if errno != EINTR { exit(3) }
        }
    }
}

/// Says a line to the test.
func say(_ line: some CustomStringConvertible) { writeAll("\(line)\n", to: 1) }

/// Waits until the test closes the standard input.
func waitForStart() {
    var byte: UInt8 = 0
    while true {
        let count = read(0, &byte, 1)
        if count == 0 || (count < 0 && errno != EINTR) { return }
    }
}

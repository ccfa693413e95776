import Foundation
import Synchronization

/// A program in a process of its own, whose standard output comes line by line.
final class RunningProgram: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let ended: AsyncStream<Int32>
    let lines: AsyncStream<String>

    /// Held while a process starts: another one that started meanwhile would inherit its pipe, which then had no end.
    private static let starting = Mutex(())

    init(_ path: String, _ arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let process = process
        ended = AsyncStream { stream in process.terminationHandler = { stream.yield($0.terminationStatus) } }
        let lines = AsyncStream.makeStream(of: String.self)
        self.lines = lines.stream
        try Self.starting.withLock { _ in try Self.withoutBlockedSignals { try process.run() } }
        Self.read(output, into: lines.continuation)
    }

    /// Reads on a thread of its own, which waits in `read`.
    ///
    /// A `readabilityHandler` crashes libdispatch now and then, as it is set back at the output's end: swiftlang's
    /// swift-corelibs-libdispatch has it as issue 949.
    private static func read(_ output: Pipe, into lines: AsyncStream<String>.Continuation) {
        Thread.detachNewThread {
            defer { lines.finish() }
            guard let file = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r") else { return }
            defer { fclose(file) }
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            defer { free(line) }
            while getline(&line, &capacity, file) > 0, let line {
                lines.yield(String(String(cString: line).prefix { $0 != "\n" }))
            }
        }
    }

    /// Threads of tests block signals. A process that starts on such a thread would inherit that, and ignore SIGTERM.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var previous = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try body()
    }

    /// Writes to its standard input.
    func write(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

    func closeInput() throws { try input.fileHandleForWriting.close() }

    /// Sends SIGTERM.
    func terminate() { process.terminate() }

    /// Waits for its end, and returns its exit status.
    func status() async -> Int32? { await ended.first { _ in true } }

    /// The path of a program of this machine; nil if it is missing.
    static func path(of name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// The executable, on a free port of this machine.
final class ServerProcess: Sendable {
    let port: Int
    private let process: Process
    private let ended: AsyncStream<Int32>
    private let errorPath: String

    /// Held while a process starts: another one that started meanwhile would inherit its files.
    private static let starting = Mutex(())

    /// The process has ended before it listened.
    struct NotStarted: Error {
        /// Its standard error.
        let message: String
    }

    /// Returns when it listens.
    ///
    /// - parameter descriptors: how many descriptors it may have; nil for as many as this process.
    init(_ arguments: [String], descriptors: Int? = nil, in folder: TemporaryFolder) async throws {
        let name = UUID().uuidString
        let outputPath = folder.path + "/\(name).out"
        errorPath = folder.path + "/\(name).err"
        for path in [outputPath, errorPath] { try Data().write(to: URL(filePath: path)) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("catalog-server")
        process.arguments = arguments + ["--port", "0"]
        if let descriptors, let executable = process.executableURL {
            process.arguments = ["-c", "ulimit -n \(descriptors); exec \"$@\"", "sh", executable.path]
            process.arguments! += arguments + ["--port", "0"]
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: outputPath)
        process.standardError = FileHandle(forWritingAtPath: errorPath)
        ended = AsyncStream { stream in
            process.terminationHandler = {
                stream.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
            }
        }
        try Self.starting.withLock { _ in try process.run() }
        self.process = process
        var port: Int?
        while port == nil {
            try Task.checkCancellation()
            guard process.isRunning else {
                throw NotStarted(message: Self.text(errorPath))
            }
            port = Self.text(outputPath).firstMatch(of: /Listening on http:\/\/[^ ]*:(\d+)\n/).flatMap { Int($0.1) }
            await Task.yield()
        }
        self.port = port ?? 0
    }

    deinit { if process.isRunning { process.interrupt() } }

    var client: TestClient { TestClient(port: port) }

    /// The answer of `GET /metrics`.
    func metrics() async throws -> String {
        String(buffer: try await client.send(.get, "/metrics").body.collect(upTo: 1 << 20))
    }

    /// Sends SIGTERM.
    func terminate() { process.terminate() }

    /// Waits for its end, and returns its exit status; negative for a signal.
    func status() async -> Int32? { await ended.first { _ in true } }

    var error: String { Self.text(errorPath) }

    private static func text(_ path: String) -> String {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

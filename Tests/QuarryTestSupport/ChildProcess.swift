public import Foundation
import QuarryCore

/// A process of the test's own: `QuarryTestProcess`, with arguments that say what it does.
///
/// ```swift
/// let child = try ChildProcess(["commit", path])
/// try child.readLine() // "1"
/// child.kill()
/// let exit = try child.wait()
/// #expect(exit.status == .signal(SIGKILL))
/// ```
///
/// It is used by one thread, which may block. A child that isn't over at its deadline is killed, and the call that
/// waits for it throws. None is left over: `wait`, or the end of this object, takes leave of it.
public final class ChildProcess {
    /// How it ended.
    public enum Status: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// How it ended, and what it said that wasn't read before.
    public struct Exit: Sendable {
        public var status: Status
        public var lines: [String]
        public var errors: String
    }

    /// It couldn't be started, or didn't end.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let id: pid_t
    private let arguments: [String]
    private let deadline: UInt64
    private var input: Int32
    private var output: Int32
    private var errorOutput: Int32
    private var outputBytes: [UInt8] = []
    private var errorBytes: [UInt8] = []
    private var status: Status?

    /// The program, which is built next to the tests.
    public static func executable() throws -> String {
        #if os(Linux)
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        #else
        let folder = Bundle(for: ChildProcess.self).bundleURL.deletingLastPathComponent()
        #endif
        return folder.appendingPathComponent("QuarryTestProcess").path
    }

    /// Starts it.
    ///
    /// - parameter seconds: how long it may take, all in all.
    public init(_ arguments: [String], deadline seconds: Double = 60) throws {
        self.arguments = arguments
        deadline = SystemClock.monotonicNanoseconds() + UInt64(seconds * 1e9)
        (id, input, output, errorOutput) = try Self.starting.withLock { _ in try Self.start(arguments) }
    }

    /// Held while one starts: between the making of its pipes and their marking, another would inherit them.
    private static let starting = Lock(())

    private static func start(_ arguments: [String]) throws -> (pid_t, Int32, Int32, Int32) {
        let (input, output, errorOutput) = try (pipe(), pipe(), pipe())
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.read, 0)
        posix_spawn_file_actions_adddup2(&actions, output.write, 1)
        posix_spawn_file_actions_adddup2(&actions, errorOutput.write, 2)
        let executable = try executable()
        var words = ([executable] + arguments).map { strdup($0) } + [nil]
        var environment =
            ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + environment { free(text) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, executable, &actions, nil, &words, &environment)
        for descriptor in [input.read, output.write, errorOutput.write] { close(descriptor) }
        guard code == 0 else {
            for descriptor in [input.write, output.read, errorOutput.read] { close(descriptor) }
            throw Failure(description: "\(executable): \(String(cString: strerror(code)))")
        }
        return (id, input.write, output.read, errorOutput.read)
    }

    deinit {
        if status == nil {
            Foundation.kill(id, SIGKILL)
            reap()
        }
        for descriptor in [input, output, errorOutput] where descriptor >= 0 { close(descriptor) }
    }

    /// Closes its standard input: it waits for that where several have to begin at a time.
    public func closeInput() {
        close(input)
        input = -1
    }

    /// The next line it writes; nil when it has ended.
    public func readLine() throws -> String? {
        while true {
            if let end = outputBytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { outputBytes.removeSubrange(...end) }
                return String(decoding: outputBytes[..<end], as: UTF8.self)
            }
            guard output >= 0 else { return nil }
            try readSome()
        }
    }

    /// Kills it, wherever it is.
    public func kill() { Foundation.kill(id, SIGKILL) }

    /// Waits for its end.
    public func wait() throws -> Exit {
        while output >= 0 || errorOutput >= 0 { try readSome() }
        reap()
        var lines: [String] = []
        while let line = try readLine() { lines.append(line) }
        return Exit(status: status ?? .code(-1), lines: lines, errors: String(decoding: errorBytes, as: UTF8.self))
    }

    /// Both of its outputs are at their end, or it is killed: it ends by itself.
    private func reap() {
        guard status == nil else { return }
        var word: Int32 = 0
        while waitpid(id, &word, 0) < 0, errno == EINTR {}
        status = word & 0x7F == 0 ? .code((word >> 8) & 0xFF) : .signal(word & 0x7F)
    }

    /// Reads what there is of its outputs; waits until there is something.
    private func readSome() throws {
        var waits = [output, errorOutput].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let now = SystemClock.monotonicNanoseconds()
        let milliseconds = deadline > now ? Int32((deadline - now) / 1_000_000) : 0
        let count = poll(&waits, 2, milliseconds)
        if count < 0, errno == EINTR { return }
        guard count > 0 else {
            kill()
            reap()
            throw Failure(
                description: """
                    QuarryTestProcess \(arguments.joined(separator: " ")) has not ended in time. It said: \
                    \(String(decoding: errorBytes, as: UTF8.self))
                    """)
        }
        if waits[0].revents != 0 { Self.read(&output, &outputBytes) }
        if waits[1].revents != 0 { Self.read(&errorOutput, &errorBytes) }
    }

    private static func read(_ descriptor: inout Int32, _ bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 {
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 || errno != EINTR {
                close(descriptor)
                descriptor = -1
            }
        }
    }

    /// A pipe that no other child inherits: it would keep its end open.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

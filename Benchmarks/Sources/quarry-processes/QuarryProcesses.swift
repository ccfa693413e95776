import ArgumentParser
import Foundation
import Quarry
import Synchronization

/// Measures the time from a commit of another process to the value that an observation delivers.
///
/// The other process is this program with the command `write`: it commits when it is told to, and says when its commit
/// had returned, by the clock of the machine.
@main
struct QuarryProcesses: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-processes",
        abstract: "Measure the time from another process's commit to an observation's value.",
        subcommands: [Measure.self, Write.self], defaultSubcommand: Measure.self)
}

struct Measure: AsyncParsableCommand {
    @Option(help: "The number of commits for each kind of database.")
    var commits = 500

    @Option(help: "The longest pause between two commits, in milliseconds.")
    var pause = 30.0

    func run() async throws {
        print("time from another process's commit to the delivered value, \(commits) commits each, in ms")
        print("database         median      p90      p99  maximum")
        for kind in DatabaseKind.allCases {
            for (name, setting) in [("watched", OtherProcesses.watched), ("polled 50 ms", .polled(every: 0.05))] {
                let times = try await measure(kind, setting).sorted()
                let columns = [0.5, 0.9, 0.99, 1].map { part in
                    let index = min(times.count - 1, Int(Double(times.count) * part))
                    return String(format: "%8.2f", times[index])
                }
                let label = "\(kind.rawValue) \(name)".padding(toLength: 16, withPad: " ", startingAt: 0)
                print("\(label) \(columns.joined(separator: " "))")
            }
        }
    }

    private func measure(_ kind: DatabaseKind, _ setting: OtherProcesses) async throws -> [Double] {
        let folder = FileManager.default.temporaryDirectory.path + "/quarry-processes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/db"
        var configuration = Configuration()
        configuration.otherProcesses = setting
        let database = try kind.open(path, configuration)
        try await database.write { db in
            try db.execute(sql: "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)")
        }
        let delivered = Mutex<[Int: UInt64]>([:])
        let cancellable = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT n FROM t") ?? -1
        }.start(
            in: database, scheduling: .task, onError: { print("the observation has failed: \($0)") },
            onChange: { value in
                let now = nanoseconds()
                // A commit that was noticed with a later one has the time of that.
                delivered.withLock { $0[value] = $0[value] ?? now }
            })
        func wait(for value: Int) async throws {
            while delivered.withLock({ $0[value] == nil }) { try await Task.sleep(for: .milliseconds(1)) }
        }
        try await wait(for: 0)

        let other = Process()
        let (input, output) = (Pipe(), Pipe())
        other.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        other.arguments = ["write", path, kind.rawValue]
        other.standardInput = input
        other.standardOutput = output
        try other.run()
        let lines = Lines(output.fileHandleForReading)
        guard lines.next() == "ready" else { throw ExitCode.failure }
        var times: [Double] = []
        for number in 1...commits {
            try await Task.sleep(for: .milliseconds(Double.random(in: 1...max(1, pause))))
            try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
            guard let line = lines.next(), let time = UInt64(line) else { throw ExitCode.failure }
            try await wait(for: number)
            let end = delivered.withLock { $0[number] ?? 0 }
            // The value may come before the other process has read the clock.
            times.append(end > time ? Double(end - time) / 1e6 : 0)
        }
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        cancellable.cancel()
        try await database.closeAsync()
        return times
    }
}

/// The lines of a pipe.
private final class Lines {
    private let input: FileHandle
    private var bytes: [UInt8] = []

    init(_ input: FileHandle) { self.input = input }

    /// The next line; nil at the end.
    func next() -> String? {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            let data = input.availableData
            guard !data.isEmpty else { return nil }
            bytes += data
        }
    }
}

/// Commits each number of its input, and says when that was done.
struct Write: ParsableCommand {
    @Argument var path: String
    @Argument var kind: DatabaseKind

    func run() throws {
        let database = try kind.open(path, Configuration())
        try say("ready")
        while let line = readLine(), let number = Int(line) {
            try database.write { db in try db.execute(sql: "UPDATE t SET n = ?", arguments: [number]) }
            try say("\(nanoseconds())")
        }
        try database.close()
    }

    private func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}

enum DatabaseKind: String, CaseIterable, ExpressibleByArgument {
    case pool
    case queue

    func open(_ path: String, _ configuration: Configuration) throws -> any DatabaseWriter {
        switch self {
        case .pool: try DatabasePool(path: path, configuration: configuration)
        case .queue: try DatabaseQueue(path: path, configuration: configuration)
        }
    }
}

/// The clock that all processes of the machine share.
private func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

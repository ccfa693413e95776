import ArgumentParser
import CSQLiteBench
import Foundation
import GRDBWorkloads
import QuarryWorkloads
import Synchronization

/// Measures acknowledged writes a second, and how long each takes, on a disk.
@main
struct QuarryWrites: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-writes", abstract: "Measure acknowledged writes a second of one to many tasks.")

    @Option(help: "Seconds for each figure.")
    var seconds = 2.0

    @Option(help: "The folder of the database, on the disk to measure.")
    var folder = FileManager.default.temporaryDirectory.path

    @Option(parsing: .upToNextOption, help: "The numbers of tasks.")
    var tasks = [1, 8, 64, 1_000]

    @Option(help: "How often each figure is measured; the best counts.")
    var rounds = 3

    func run() async throws {
        print("writes a second; median, p99 and longest in ms")
        for synchronous in ["FULL", "NORMAL"] {
            let c = try (0..<rounds).map { _ in try withPath { try rateOfC($0, synchronous) } }.max() ?? 0
            print("\(synchronous), C, one thread: \(Int(c))")
            for count in tasks {
                for peer in WritePeer.allCases {
                    var best: Times?
                    for _ in 0..<rounds {
                        let times = try await withPath { try await measure($0, peer, synchronous, count) }
                        if times.rate > best?.rate ?? 0 { best = times }
                    }
                    if let best { print("\(synchronous), \(count) tasks, \(peer.rawValue): \(best)") }
                }
            }
        }
    }

    private func withPath<T>(_ body: (String) async throws -> T) async throws -> T {
        let folder = folder + "/quarry-writes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder + "/db")
    }

    private func withPath<T>(_ body: (String) throws -> T) throws -> T {
        let folder = folder + "/quarry-writes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder + "/db")
    }

    private func measure(_ path: String, _ peer: WritePeer, _ synchronous: String, _ count: Int) async throws -> Times {
        let writes = try peer.open(path, synchronous)
        let end = now() + UInt64(seconds * 1e9)
        let start = now()
        let durations = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for index in 0..<count {
                group.addTask {
                    var durations: [UInt64] = []
                    var last = now()
                    while last < end {
                        try await writes.write(index)
                        let time = now()
                        durations.append(time - last)
                        last = time
                    }
                    return durations
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let times = Times(durations, seconds: Double(now() - start) / 1e9)
        guard try writes.count() == durations.count else { throw ValidationError("\(peer) has lost writes") }
        try writes.close()
        return times
    }

    /// One transaction for each row, with prepared statements.
    private func rateOfC(_ path: String, _ synchronous: String) throws -> Double {
        var connection: OpaquePointer?
        guard sqlite3_open(path, &connection) == SQLITE_OK else { throw ValidationError("can't open \(path)") }
        defer { sqlite3_close(connection) }
        let setup = """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous);
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)
            """
        guard sqlite3_exec(connection, setup, nil, nil, nil) == SQLITE_OK else { throw ValidationError("setup") }
        let sql = ["BEGIN IMMEDIATE", "INSERT INTO t (name, score) VALUES ('player 1', 1)", "COMMIT"]
        let statements = sql.map { text -> OpaquePointer? in
            var statement: OpaquePointer?
            sqlite3_prepare_v2(connection, text, -1, &statement, nil)
            return statement
        }
        defer { for statement in statements { sqlite3_finalize(statement) } }
        let start = now()
        var count = 0
        while now() - start < UInt64(seconds * 1e9) {
            for statement in statements {
                guard sqlite3_step(statement) == SQLITE_DONE else { throw ValidationError("a step has failed") }
                sqlite3_reset(statement)
            }
            count += 1
        }
        return Double(count) / (Double(now() - start) / 1e9)
    }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The libraries, and Quarry with and without group commit.
enum WritePeer: String, CaseIterable {
    case grouped = "Quarry, group commit"
    case quarry = "Quarry"
    case grdb = "GRDB"

    /// A database that is written.
    struct Writes: Sendable {
        let write: @Sendable (Int) async throws -> Void
        let count: @Sendable () throws -> Int
        let close: @Sendable () throws -> Void
    }

    func open(_ path: String, _ synchronous: String) throws -> Writes {
        switch self {
        case .grouped, .quarry:
            let writes = try QuarryWorkloads.DurableWrites(
                path: path, synchronous: synchronous, groupCommit: self == .grouped)
            return Writes(write: writes.write, count: writes.count, close: writes.close)
        case .grdb:
            let writes = try GRDBWorkloads.DurableWrites(path: path, synchronous: synchronous, groupCommit: false)
            return Writes(write: writes.write, count: writes.count, close: writes.close)
        }
    }
}

/// How long writes took.
struct Times: CustomStringConvertible {
    let rate: Double
    let sorted: [UInt64]

    init(_ durations: [UInt64], seconds: Double) {
        rate = Double(durations.count) / seconds
        sorted = durations.sorted()
    }

    private func milliseconds(_ part: Double) -> String {
        let index = min(sorted.count - 1, Int(Double(sorted.count) * part))
        return String(format: "%.2f", Double(sorted[index]) / 1e6)
    }

    var description: String {
        sorted.isEmpty ? "none" : "\(Int(rate)); \(milliseconds(0.5)), \(milliseconds(0.99)), \(milliseconds(1))"
    }
}

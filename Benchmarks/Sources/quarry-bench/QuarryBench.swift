import ArgumentParser
import BenchSupport
import CWorkloads
import Dispatch
import Foundation
import GRDBWorkloads
import QuarryWorkloads

@main
struct QuarryBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-bench",
        abstract: "Compares Quarry with the C API and with GRDB, in one process.",
        discussion: "Exits with 1 if a row exceeds its budget, with 2 if the peers did not do the same work.")

    @Option(help: "Run only the rows that start with one of these: 7 or 7.1,7.3 or 7.1/8.")
    var only: String?

    @Option(help: "Measurements of each peer in each row; up to three times as many if they differ.")
    var rounds = 5

    @Option(help: "Shrink tables, operation counts and times.")
    var scale = 1.0

    @Flag(help: "Only check that all peers do the same work: --scale 0.01 --rounds 1, and budgets don't count.")
    var smoke = false

    @Option(help: "Milliseconds for which a peer is measured in a round, before --scale.")
    var sampleMilliseconds = 60.0

    @Option(help: "Write all samples to this file as JSON.")
    var json: String?

    @Flag(help: "List the rows with their budgets and run nothing.")
    var list = false

    mutating func validate() throws {
        if smoke { (scale, rounds) = (0.01, 1) }
        guard rounds > 0 else { throw ValidationError("--rounds must be at least 1") }
        guard scale > 0, scale <= 1 else { throw ValidationError("--scale must be above 0 and at most 1") }
        guard sampleMilliseconds >= 0 else { throw ValidationError("--sample-milliseconds must not be negative") }
        if let json {
            let folder = URL(fileURLWithPath: json).deletingLastPathComponent().path
            guard FileManager.default.isWritableFile(atPath: folder) else {
                throw ValidationError("--json: can't write to the folder \(folder)")
            }
        }
        guard !rows.isEmpty else { throw ValidationError("no row starts with \(only ?? "")") }
    }

    func run() throws {
        if list {
            for row in rows {
                print("\(row.id)\t\(row.title)\t\(row.budget)")
            }
            return
        }
        let results: [RowResult]
        do {
            results = try measure()
        } catch let error as BenchError {
            Self.report("error: \(error)")
            throw ExitCode(2)
        }
        print(ResultTable(results).text)
        if let json {
            try ResultFile(results).write(to: json)
        }
        let over = results.filter { $0.verdict == .over }
        if !over.isEmpty, !smoke {
            Self.report("over budget: \(over.map(\.row.id).joined(separator: ", "))")
            throw ExitCode(1)
        }
    }

    private var rows: [BenchRow] {
        guard let only else { return BenchRow.all }
        let prefixes = only.split(separator: ",")
        return BenchRow.all.filter { row in prefixes.contains { row.matches($0) } }
    }

    private func measure() throws -> [RowResult] {
        Self.report("building the tables")
        let fixtures = try Fixtures(scale: scale, build: buildTables)
        let interruption = Self.onInterrupt {
            fixtures.remove()
            Foundation.exit(130)
        }
        defer {
            interruption.cancel()
            fixtures.remove()
        }
        let harness = Harness(
            peers: [CPeer(), QuarryPeer(), GRDBPeer()],
            fixtures: fixtures,
            options: Harness.Options(
                rounds: rounds, scale: scale, sampleMilliseconds: sampleMilliseconds * scale))
        return try rows.enumerated().map { index, row in
            Self.report("[\(index + 1)/\(rows.count)] \(row.id) \(row.title)")
            return try harness.run(row)
        }
    }

    /// Runs the handler at Ctrl-C, on another thread than the one that measures.
    private static func onInterrupt(_ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler(handler: handler)
        source.resume()
        return source
    }

    private static func report(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}

import Dispatch
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// Eight writers against fifty observations: savepoints, rollbacks, conflicts, triggers, cascades, full text and
    /// changes of the schema.
    @Suite struct ObservationStressTests {
        enum Kind: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
            case pool, memoryQueue

            var testDescription: String { rawValue }
        }

        @Test(arguments: Kind.allCases) func manyWriters(_ kind: Kind) async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "ObservationStressTests.\(kind)")
            await #expect(processExitsWith: .success) {
                [
                    kind = kind as UnderLoad.ObservationStressTests.Kind, seed = seed as UInt64,
                    path = output.path as String
                ]
                in
                ProcessOutput.go(to: path)
                do {
                    try await ObservationRun(kind: kind, seed: seed).run()
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
            try output.show()
        }
    }
}

struct ObservationRun: Sendable {
    static let observationCount = 50
    /// Observations that are cancelled and started again meanwhile: the last ones.
    static let restartedCount = 15
    static let writerCount = 8

    let kind: UnderLoad.ObservationStressTests.Kind
    let seed: UInt64
    private let progress = Recorded("begins")

    init(kind: UnderLoad.ObservationStressTests.Kind, seed: UInt64) {
        self.kind = kind
        self.seed = seed
    }

    func run() async throws {
        Watchdog.start("ObservationStressTests.\(kind), seed \(seed)") { [progress] in progress.value }
        let folder = try TemporaryFolder(isFast: true)
        let writer = try open(folder)
        try await writer.write { db in try ObservedSchema.create(db) }
        var generator = SeededGenerator(seed: seed)
        var runs = ObservedQuery.still.map(ObservedRun.init)
        while runs.count < Self.observationCount { runs.append(ObservedRun(.random(&generator))) }
        let receivers = runs.indices.map { ObservedRun.Receiver.allCases[$0 % ObservedRun.Receiver.allCases.count] }
        let cancellables = Recorded<[AnyDatabaseCancellable]>([])
        try await onOwnThread { [runs] in
            for (run, receiver) in zip(runs, receivers) {
                let cancellable = run.start(in: writer, receiver)
                cancellables.update { $0.append(cancellable) }
            }
        }
        for run in runs.prefix(ObservedQuery.still.count) { try await until("a first value") { run.count > 0 } }

        let end = StressLength.end(ofPart: 1)
        var total = (rounds: 0, commits: 0, restarts: 0)
        // A change that is missed shows only if no other follows, so the writers pause often.
        repeat {
            progress.update { $0 = "round \(total.rounds)" }
            let seed = generator.next()
            let (commits, restarted) = try await burst(writer, runs, cancellables, seed)
            for (index, run) in restarted { runs[index] = run }
            try await check(runs, writer)
            total = (total.rounds + 1, total.commits + commits, total.restarts + restarted.count)
        } while SystemClock.monotonicNanoseconds() < end
        progress.update { $0 = "ends" }
        cancellables.update { list in
            defer { list = [] }
            return list
        }.forEach { $0.cancel() }
        try await until("no observation is left") { writer.groupReader?.core.observations.observationCount == 0 }
        print(
            "ObservationStressTests.\(kind): \(total.rounds) rounds, \(total.commits) commits, \(total.restarts) restarts, "
                + "\(runs.map(\.fetches.value).reduce(0, +)) fetches, \(runs.map(\.count).reduce(0, +)) values")
        try await onOwnThread { try writer.close() }
    }

    /// Lets all writers write for a moment, while observations are cancelled and started again.
    ///
    /// - returns: the number of commits, and the new observations.
    private func burst(
        _ writer: any DatabaseWriter, _ runs: [ObservedRun], _ cancellables: Recorded<[AnyDatabaseCancellable]>,
        _ seed: UInt64
    ) async throws -> (Int, [Int: ObservedRun]) {
        let commits = Recorded(0)
        let end = SystemClock.monotonicNanoseconds() + 30_000_000
        let threads = (0..<Self.writerCount / 2).map { index in
            OwnThread("writer \(index)") {
                var work = ObservedWriter(seed: seed, index: index)
                while SystemClock.monotonicNanoseconds() < end {
                    let isCommitted = try writer.writeWithoutTransaction { db in try write(db, &work) }
                    if isCommitted { commits.update { $0 += 1 } }
                }
            }
        }
        let tasks = (Self.writerCount / 2..<Self.writerCount).map { index in
            Task {
                let work = Recorded(ObservedWriter(seed: seed, index: index))
                while SystemClock.monotonicNanoseconds() < end {
                    let isCommitted = try await writer.writeWithoutTransaction { db in
                        var own = work.value
                        defer { work.update { [own] in $0 = own } }
                        return try write(db, &own)
                    }
                    if isCommitted { commits.update { $0 += 1 } }
                }
            }
        }
        let restarts = OwnThread("restarts") {
            var generator = SeededGenerator(seed: seed, index: Self.writerCount)
            var restarted: [Int: ObservedRun] = [:]
            while SystemClock.monotonicNanoseconds() < end {
                let index = runs.count - 1 - Int.random(in: 0..<Self.restartedCount, using: &generator)
                cancellables.value[index].cancel()
                let receiver = ObservedRun.Receiver.allCases.randomElement(using: &generator) ?? .task
                let run = ObservedRun(runs[index].query)
                let cancellable = run.start(in: writer, receiver)
                let released = cancellables.update { list in
                    defer { list[index] = cancellable }
                    return list[index]
                }
                _ = consume released
                restarted[index] = run
                let seen = commits.value
                try spin(until: "a commit") { commits.value > seen || SystemClock.monotonicNanoseconds() > end }
            }
            return restarted
        }
        for thread in threads { try await thread.value }
        for task in tasks { try await task.value }
        return (commits.value, try await restarts.value)
    }

    private func open(_ folder: TemporaryFolder) throws -> any DatabaseWriter {
        switch kind {
        case .pool: try DatabasePool(path: folder.file("a.sqlite"))
        case .memoryQueue: try DatabaseQueue()
        }
    }

    /// Makes a transaction, or changes without one.
    private func write(_ db: Database, _ work: inout ObservedWriter) throws -> Bool {
        if work.generator.isOne(in: 8) { return try work.changesWithoutTransaction(db) }
        try db.beginTransaction(work.generator.isOne(in: 2) ? .immediate : .deferred)
        let isCommitted = try work.transaction(db)
        if isCommitted { try db.commit() }
        return isCommitted
    }

    /// The last value of each observation is that of the end.
    private func check(_ runs: [ObservedRun], _ writer: any DatabaseWriter) async throws {
        for run in runs {
            progress.update { $0 = run.query.name }
            let rows = try await writer.read { db in try run.query.rows(db) }
            try await until("the last value of \(run.query.name), not \(run.last?.rows ?? "none") but \(rows)") {
                run.last?.rows == rows || !run.faults.isEmpty
            }
            for fault in run.faults { Issue.record("seed \(seed): \(fault)") }
            if run.query.isStill {
                #expect(run.fetches.value == 1 && run.count == 1, "seed \(seed): \(run.query.name)")
            }
        }
    }
}

import Dispatch
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// Memory, threads and descriptors stay as they are, however many commits and observations there are.
    ///
    /// A hundred seconds make 100,000 commits, and ten seconds 10,000 observations, in each of three loads.
    @Suite struct ObservationLeftoverTests {
        @Test(arguments: [true, false]) func leftovers(_ isPool: Bool) async throws {
            let output = try ProcessOutput()
            await #expect(processExitsWith: .success) {
                [isPool = isPool as Bool, path = output.path as String] in
                ProcessOutput.go(to: path)
                do {
                    try await ObservationLeftoverRun(isPool: isPool).run()
                } catch {
                    Issue.record("\(error)")
                }
            }
            try output.show()
        }
    }
}

struct ObservationLeftoverRun: Sendable {
    static let commitCount = min(100_000, Int(StressLength.seconds * 1_000))
    static let startCount = min(10_000, Int(StressLength.seconds * 1_000))

    let isPool: Bool
    let connections = LiveConnections()

    func run() async throws {
        Watchdog.start("ObservationLeftoverTests, pool: \(isPool)") { "" }
        let limits = try await LeftoverLimits.begin()
        var uses: [ProcessUse] = []
        var most = 0
        for _ in 0..<3 {
            most = max(most, try await load())
            uses.append(try await limits.settled(connections))
        }
        print(
            "ObservationLeftoverTests, pool: \(isPool): \(Self.commitCount) commits, \(Self.startCount) observations, "
                + "\(most - limits.before.threads) more threads; \(uses.map(\.description).joined(separator: "; "))")
        limits.check(second: uses[1], third: uses[2])
        // A thread for each connection, one that gives up waiting, one of the test, and the system's.
        #expect(most <= limits.before.threads + Self.readerCount + 3 + LeftoverLimits.systemThreads)
    }

    private static let readerCount = 3

    /// - returns: how many threads there were at most.
    private func load() async throws -> Int {
        let folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = Self.readerCount
        configuration.prepareDatabase { db in connections.add(db) }
        let writer: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
            : try DatabaseQueue(configuration: configuration)
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0); CREATE TABLE other (n INTEGER)")
        }
        var most = try await commit(writer)
        most = max(most, try await startAndCancel(writer))
        #expect(writer.groupReader?.core.observations.observationCount == 0)
        let journal = try #require(writer.groupReader?.core.journal)
        try await until("no commit is kept, and nothing waits") { journal.keptCount == 0 && journal.waiterCount == 0 }
        try await onOwnThread { try writer.close() }
        return most
    }

    /// Commits while the table is observed, and another one; tasks and a stable reader read the commits.
    private func commit(_ writer: any DatabaseWriter) async throws -> Int {
        let last = Recorded(-1)
        let others = Recorded(0)
        let number = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT n FROM t") ?? -1 }
        let other = ValueObservation.tracking { db in
            others.update { $0 += 1 }
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other") ?? -1
        }
        let cancellables = [
            number.start(
                in: writer, scheduling: .task, onError: { Issue.record($0) },
                onChange: { value in last.update { $0 = value } }),
            other.start(in: writer, scheduling: .task, onError: { Issue.record($0) }, onChange: { _ in }),
        ]
        try await until("a first fetch") { others.value == 1 }
        let (beginning, streamed) = (writer.lastCommitNumber.rawValue, Recorded(0))
        let following = (0..<3).map { index in
            Task {
                for await commit in writer.commits(keys: index == 0, bufferingAtMost: index == 1 ? 5 : 1_000) {
                    if index == 0 { streamed.update { $0 = commit.number.rawValue } }
                }
            }
        }
        try await until("the tasks wait") { writer.groupReader?.core.journal.waiterCount == 3 }
        let most = try await onOwnThread(within: 600) {
            let reader = try (writer as? DatabasePool)?.makeStableReader(keys: true)
            var (most, advanced) = (0, 0)
            for index in 1...Self.commitCount {
                try writer.write { db in try db.execute(sql: "UPDATE t SET n = n + 1") }
                guard index.isMultiple(of: 200) else { continue }
                most = max(most, try ProcessUse.threadCount())
                advanced += try reader?.advance().count ?? 200
            }
            #expect(advanced == Self.commitCount)
            try reader?.close()
            return most
        }
        try await until("the last commit") { streamed.value == beginning + Self.commitCount }
        for task in following {
            task.cancel()
            await task.value
        }
        try await until("the last value") { last.value == Self.commitCount }
        #expect(others.value == 1)
        for cancellable in cancellables { cancellable.cancel() }
        return most
    }

    /// Starts and cancels observations: before their first value, after it, as sequences.
    private func startAndCancel(_ writer: any DatabaseWriter) async throws -> Int {
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT n FROM t") ?? -1 }
        let queue = DispatchQueue(label: "values")
        var most = 0
        for index in 0..<Self.startCount {
            switch index % 6 {
            case 0:
                observation.start(in: writer, scheduling: .task, onError: { _ in }, onChange: { _ in }).cancel()
            case 1:
                let hasValue = Recorded(false)
                let cancellable = observation.start(
                    in: writer, scheduling: .async(onQueue: queue), onError: { _ in },
                    onChange: { _ in hasValue.update { $0 = true } })
                try await until("a value") { hasValue.value }
                cancellable.cancel()
            case 2:
                for try await _ in observation.values(in: writer) { break }
            case 3:
                let task = Task { for await _ in writer.commits(keys: true) {} }
                if index.isMultiple(of: 4) { await Task.yield() }
                task.cancel()
                await task.value
            case 4:
                guard let pool = writer as? DatabasePool else { break }
                _ = try await pool.makeStableReader().advance()
            default:
                let task = Task { for try await _ in observation.values(in: writer) {} }
                if index.isMultiple(of: 8) { await Task.yield() }
                task.cancel()
                try await task.value
            }
            if index.isMultiple(of: 100) { most = max(most, try ProcessUse.threadCount()) }
        }
        try await until("no observation is left") { writer.groupReader?.core.observations.observationCount == 0 }
        return most
    }
}

import Dispatch
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

@testable import QuarryAccess

extension UnderLoad {
    /// 10,000 tasks wait for a pool at once: on no thread, in the order they came, and each may give up at any time.
    @Suite struct CrowdTests {
        /// The accesses that have the connections meanwhile.
        enum Holders: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
            /// Synchronous accesses, on threads of their own.
            case threads
            /// Asynchronous accesses, on the library's threads.
            case tasks

            var testDescription: String { rawValue }
        }

        @Test(arguments: Holders.allCases) func crowd(_ holders: Holders) async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "CrowdTests.\(holders)")
            await #expect(processExitsWith: .success) {
                [holders = holders as UnderLoad.CrowdTests.Holders, seed = seed as UInt64, path = output.path as String]
                in
                ProcessOutput.go(to: path)
                do {
                    try await CrowdRun(holders: holders, seed: seed).run()
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
            try output.show()
        }
    }
}

struct CrowdRun: Sendable {
    static let readerCount = 4
    static let taskCount = 10_000

    let holders: UnderLoad.CrowdTests.Holders
    let seed: UInt64

    func run() async throws {
        Watchdog.start("CrowdTests.\(holders), seed \(seed)") { "" }
        _ = try await LeftoverLimits.begin()
        var generator = SeededGenerator(seed: seed)
        let end = StressLength.end(ofPart: 1)
        repeat { try await round(&generator) } while SystemClock.monotonicNanoseconds() < end
    }

    private func round(_ generator: inout SeededGenerator) async throws {
        let folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = Self.readerCount
        let threadsBefore = try ProcessUse.threadCount()
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        var readHolders: [Holder] = []
        for _ in 0..<Self.readerCount {
            readHolders.append(
                try await Holder(holders) {
                    try pool.unsafeRead($0)
                } _: {
                    try await pool.unsafeRead($0)
                })
        }
        let writeHolder = try await Holder(holders) {
            try pool.writeWithoutTransaction($0)
        } _: {
            try await pool.writeWithoutTransaction($0)
        }

        // Readers and writers by turns, one after the other: the order in which they come is known.
        let served = Recorded((readers: [Int](), writers: [Int]()))
        var waiters: [Int: Waiter] = [:]
        for index in 0..<Self.taskCount {
            let isReader = index.isMultiple(of: 2)
            waiters[index] = Waiter {
                if isReader {
                    try await pool.read { _ in served.update { $0.readers.append(index) } }
                } else {
                    try await pool.write { _ in served.update { $0.writers.append(index) } }
                }
            }
            let group = isReader ? pool.readers.group : pool.writer.group
            try await until("\(index) waits") { group.waiterCount == index / 2 + 1 }
        }
        let threads = try ProcessUse.threadCount()
        // A thread of the library's for each access that may run, and one that tasks resume on; the holders' own; and
        // the system's, which come and go.
        let ownThreads = holders == .threads ? Self.readerCount + 1 : 0
        let mostThreads = threadsBefore + Self.readerCount + 1 + 1 + ownThreads + LeftoverLimits.systemThreads
        #expect(threads <= mostThreads, "\(threads) threads, \(threadsBefore) before")

        // One after the other gives up: at the head, at the tail, in the midst.
        var left = Array(0..<Self.taskCount)
        var latencies: [UInt64] = []
        for count in 0..<600 {
            let position = [0, left.count - 1, Int.random(in: 0..<left.count, using: &generator)][count % 3]
            guard let waiter = waiters.removeValue(forKey: left.remove(at: position)) else { continue }
            latencies.append(try await waiter.cancel())
        }
        // Then many at once.
        let crowd = Set(left.shuffled(using: &generator).prefix(left.count / 2))
        left.removeAll { crowd.contains($0) }
        let start = SystemClock.monotonicNanoseconds()
        let leavers = crowd.compactMap { waiters.removeValue(forKey: $0) }
        for leaver in leavers { leaver.task.cancel() }
        for leaver in leavers { try await leaver.expectCancellation() }
        let length = SystemClock.monotonicNanoseconds() - start
        #expect(served.value == (readers: [], writers: []), "nobody is served while all connections are out")
        #expect(pool.readers.group.waiterCount + pool.writer.group.waiterCount == left.count)

        // One connection of each kind comes back: the others are served one after the other.
        try await writeHolder.release()
        try await readHolders[0].release()
        for index in left { try await waiters[index]?.task.value }
        #expect(served.value.readers == left.filter { $0.isMultiple(of: 2) }, "the order in which they came")
        #expect(served.value.writers == left.filter { !$0.isMultiple(of: 2) }, "the order in which they came")
        for holder in readHolders.dropFirst() { try await holder.release() }

        latencies.sort()
        let median = latencies[latencies.count / 2]
        print(
            "CrowdTests.\(holders): \(Self.taskCount) wait, \(threads - threadsBefore) more threads; from cancel() to the "
                + "end of the task: median \(median / 1_000) us, 99th percentile "
                + "\(latencies[latencies.count * 99 / 100] / 1_000) us; \(leavers.count) at once: \(length / 1_000) us")
        // A guard, a hundred times what is measured: a machine may be busy.
        #expect(median < 100_000_000)
    }

    /// Has a connection until it is released.
    private struct Holder {
        typealias Body = @Sendable (Database) throws -> Void
        private let mayGo = DispatchSemaphore(value: 0)
        private let isOver = Step("a holder has given its connection back")

        init(
            _ holders: UnderLoad.CrowdTests.Holders, _ access: @escaping @Sendable (Body) throws -> Void,
            _ asyncAccess: @escaping @Sendable (Body) async throws -> Void
        ) async throws {
            let hasBegun = Step("a holder has its connection")
            let body: Body = { [mayGo] _ in
                hasBegun.reach()
                mayGo.wait()
            }
            switch holders {
            case .threads:
                _ = OwnThread("a holder") { [isOver] in
                    try access(body)
                    isOver.reach()
                }
            case .tasks:
                Task { [isOver] in
                    try await asyncAccess(body)
                    isOver.reach()
                }
            }
            try await hasBegun.reached()
        }

        func release() async throws {
            mayGo.signal()
            try await isOver.reached()
        }
    }

    /// A task that waits for a connection.
    private final class Waiter: Sendable {
        let task: Task<Void, any Error>
        private let end: Recorded<UInt64>

        init(_ access: @escaping @Sendable () async throws -> Void) {
            let end = Recorded<UInt64>(0)
            self.end = end
            task = Task {
                defer { end.update { $0 = SystemClock.monotonicNanoseconds() } }
                try await access()
            }
        }

        /// Cancels the task.
        ///
        /// - returns: the nanoseconds from there to its last line.
        func cancel() async throws -> UInt64 {
            let start = SystemClock.monotonicNanoseconds()
            task.cancel()
            try await expectCancellation()
            return end.value - start
        }

        func expectCancellation() async throws {
            await #expect(throws: CancellationError.self) { try await self.task.value }
        }
    }
}

import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

extension UnderLoad {
    /// Databases that are closed while they are in use: all waiting and all later accesses are told so, acknowledged
    /// changes are in the file, and nothing is left.
    @Suite struct ClosingTests {
        @Test func closing() async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "ClosingTests")
            await #expect(processExitsWith: .success) {
                [seed = seed as UInt64, path = output.path as String] in
                ProcessOutput.go(to: path)
                await ClosingRun(seed: seed).run()
            }
            try output.show()
        }
    }
}

struct ClosingRun: Sendable {
    let seed: UInt64
    let connections = LiveConnections()

    func run() async {
        do {
            try await repeatedly()
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }

    private func repeatedly() async throws {
        Watchdog.start("ClosingTests, seed \(seed)") { [connections] in "\(connections.count) connections live" }
        let limits = try await LeftoverLimits.begin()
        var generator = SeededGenerator(seed: seed)
        var uses: [ProcessUse] = []
        var count = 0
        var transfers = 0
        for _ in 0..<3 {
            let end = StressLength.end(ofPart: 3)
            repeat {
                for kind in BankKind.allCases {
                    transfers += try await openAndClose(kind, &generator)
                    count += 1
                }
            } while SystemClock.monotonicNanoseconds() < end
            uses.append(try await limits.settled(connections))
        }
        print(
            "ClosingTests: \(count) databases, \(transfers) transfers; "
                + uses.map(\.description).joined(separator: "; "))
        limits.check(second: uses[1], third: uses[2], poolCount: count)
    }

    /// Opens a database, and closes it while it is in use.
    ///
    /// - returns: the number of transfers.
    private func openAndClose(_ kind: BankKind, _ generator: inout SeededGenerator) async throws -> Int {
        let folder = try TemporaryFolder(isFast: true)
        let bank = Bank(try kind.open(folder, connections), allowed: kind.allowed.union([.closed]))
        try await onOwnThread { try bank.writer.write { db in try Bank.create(db) } }
        let shelf = SnapshotShelf()
        let seed = generator.next()
        let threads = (0..<3).map { index in
            OwnThread("thread \(index) of the bank") { bank.runThread(seed, index, until: .max, shelf) }
        }
        let tasks = (0..<24).map { index in
            Task { await bank.runTask(seed, index, until: .max, shelf) }
        }
        let patience = Int.random(in: 0..<2_000, using: &generator)
        for _ in 0..<patience { await Task.yield() }
        // Two at a time: both come back when all is closed.
        let closers = (0..<2).map { _ in OwnThread("a closer") { try close(bank) } }
        for closer in closers { try await closer.value }
        let isClosed = try await onOwnThread { Refusal(try error { try bank.writer.read { _ in } }) == .closed }
        if !isClosed { bank.fault("a read after close() hasn't failed") }
        bank.stop()
        for task in tasks { await task.value }
        for thread in threads { try await thread.value }
        shelf.removeAll()
        if kind.isOnFile {
            let path = bank.writer.path
            try await onOwnThread {
                let queue = try DatabaseQueue(path: path)
                try queue.writeWithoutTransaction { db in try bank.audit(db, isLong: false) }
                try queue.close()
            }
        }
        let tally = bank.current
        if !tally.faults.isEmpty {
            Issue.record("seed \(self.seed), \(kind):\n\(tally.faults.joined(separator: "\n"))")
        }
        return tally.acknowledged.count
    }

    /// Closes the database: again, where it may not wait for those who use it.
    private func close(_ bank: Bank) throws {
        while true {
            do {
                return try bank.writer.close()
            } catch {
                guard Refusal(error) == .acquireTimeout, bank.allowed.contains(.acquireTimeout) else { throw error }
            }
        }
    }

    private func error(_ body: () throws -> Void) throws -> any Error {
        do { try body() } catch { return error }
        throw Step.NeverReached("an error")
    }
}

import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

extension UnderLoad {
    /// 64 tasks and some threads move money, look, cancel, interrupt, copy, and drop connections. At the end no money
    /// is missing, and nothing else is left.
    ///
    /// Each runs in a process of its own, whose threads, descriptors and memory it counts.
    @Suite struct BankTests {
        @Test(arguments: BankKind.allCases) func bank(_ kind: BankKind) async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "BankTests.\(kind)")
            await #expect(processExitsWith: .success) {
                [kind = kind as BankKind, seed = seed as UInt64, path = output.path as String] in
                ProcessOutput.go(to: path)
                await BankRun(kind, seed).run()
            }
            try output.show()
        }
    }
}

/// The run of a bank: three times the same load, each with its own database. After the third load, the process has
/// no more than after the second.
struct BankRun: Sendable {
    static let taskCount = 64
    static let threadCount = 6

    let kind: BankKind
    let seed: UInt64
    let connections = LiveConnections()

    init(_ kind: BankKind, _ seed: UInt64) {
        self.kind = kind
        self.seed = seed
    }

    /// An error that is thrown ends an exit test by a trap: it is recorded here.
    func run() async {
        do {
            try await repeatedly()
        } catch {
            Issue.record("seed \(seed), \(kind): \(error)")
        }
    }

    private func repeatedly() async throws {
        Watchdog.start("BankTests.\(kind), seed \(seed)") { [connections] in "\(connections.count) connections live" }
        let limits = try await LeftoverLimits.begin()
        var uses: [ProcessUse] = []
        for repetition in 0..<3 {
            try await load(seed &+ UInt64(repetition))
            uses.append(try await limits.settled(connections))
        }
        print("BankTests.\(kind): after 3 times: " + uses.map(\.description).joined(separator: "; "))
        limits.check(second: uses[1], third: uses[2])
    }

    /// Works with a database for a third of the time, and drops it.
    private func load(_ seed: UInt64) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let bank = Bank(try kind.open(folder, connections), allowed: kind.allowed)
        try await bank.writer.write { db in try Bank.create(db) }
        let shelf = SnapshotShelf()
        let end = StressLength.end(ofPart: 3)
        let threads = (0..<Self.threadCount).map { index in
            OwnThread("thread \(index) of the bank") { bank.runThread(seed, index, until: end, shelf) }
        }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<Self.taskCount {
                group.addTask { await bank.runTask(seed, index, until: end, shelf) }
            }
        }
        for thread in threads { try await thread.value }
        shelf.removeAll()
        try await onOwnThread { try bank.writer.writeWithoutTransaction { db in try bank.audit(db) } }
        print("BankTests.\(kind): \(bank.report)")
        let faults = bank.current.faults
        if !faults.isEmpty {
            Issue.record("seed \(self.seed), \(kind):\n\(faults.joined(separator: "\n"))")
        }
    }
}

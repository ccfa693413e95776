import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

extension UnderLoad {
    /// Accesses of three databases inside accesses, on threads and in tasks, beside barriers, copies and `close()`:
    /// each ends, with a result or with an error that says why not.
    @Suite struct NestingTests {
        @Test func nesting() async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "NestingTests")
            await #expect(processExitsWith: .success) { [seed = seed as UInt64, path = output.path as String] in
                ProcessOutput.go(to: path)
                do {
                    try await NestingRun(seed: seed).run()
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
            try output.show()
        }
    }
}

final class NestingRun: Sendable {
    private static let databaseCount = 3
    private static let threadCount = 6
    private static let taskCount = 8

    /// One access: its kind and its database.
    private struct Level: CustomStringConvertible {
        enum Kind: CaseIterable {
            case read, unsafeRead, reentrantRead, write, bareWrite, reentrantWrite, barrier, concurrentRead, callback
            case releaseMemory, close, snapshot, backup
        }

        let kind: Kind
        let database: Int

        var description: String { "\(database).\(kind)" }
    }

    private let seed: UInt64
    private let databases = Recorded<[DatabasePool]>([])
    /// The nest in which each thread and task is.
    private let states: Recorded<[String]>
    /// How many closures are yet to be called.
    private let pending = Recorded(0)
    private let faults = Recorded<[String]>([])
    private let counts = Recorded<[String: Int]>([:])

    init(seed: UInt64) {
        self.seed = seed
        states = Recorded(Array(repeating: "", count: Self.threadCount + Self.taskCount))
    }

    func run() async throws {
        Watchdog.start("NestingTests, seed \(seed)") { [states] in states.value.joined(separator: "\n") }
        var generator = SeededGenerator(seed: seed)
        let end = StressLength.end(ofPart: 1)
        repeat {
            let folder = try TemporaryFolder(isFast: true)
            var configuration = Configuration()
            configuration.maximumReaderCount = Int.random(in: 1...3, using: &generator)
            configuration.asyncExecution = [.automatic, .inline, .offloaded].randomElement(using: &generator)!
            let pools = try (0..<Self.databaseCount).map { index in
                try DatabasePool(path: folder.file("\(index).sqlite"), configuration: configuration)
            }
            databases.update { $0 = pools }
            for pool in pools { try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") } }
            let roundSeed = generator.next()
            let threads = (0..<Self.threadCount).map { index in
                OwnThread("thread \(index)") { self.act(SeededGenerator(seed: roundSeed, index: index), index) }
            }
            let tasks = (0..<Self.taskCount).map { index in
                Task { await self.actAsync(roundSeed, Self.threadCount + index) }
            }
            for thread in threads { try await thread.value(within: .infinity) }
            for task in tasks { await task.value }
            try await until("all callbacks have ended") { pending.value == 0 }
            for pool in databases.value { try await onOwnThread { try pool.close() } }
        } while SystemClock.monotonicNanoseconds() < end && faults.value.isEmpty
        print("NestingTests: \(counts.value.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        if !faults.value.isEmpty { Issue.record("seed \(seed):\n\(faults.value.joined(separator: "\n"))") }
    }

    // MARK: - Acting

    private func act(_ generator: SeededGenerator, _ index: Int) {
        var generator = generator
        for _ in 0..<60 {
            let nest = nest(&generator)
            begin(nest, index)
            record(nest) { try self.run(nest[...]) }
        }
        states.update { $0[index] = "" }
    }

    private func actAsync(_ seed: UInt64, _ index: Int) async {
        var generator = SeededGenerator(seed: seed, index: index)
        for _ in 0..<60 {
            let nest = nest(&generator)
            begin(nest, index)
            do {
                try await runAsync(nest)
                count("ok")
            } catch {
                note(error, nest)
            }
        }
        states.update { $0[index] = "" }
    }

    private func begin(_ nest: [Level], _ index: Int) {
        states.update { $0[index] = "\(index): \(nest)" }
    }

    private func nest(_ generator: inout SeededGenerator) -> [Level] {
        (0..<Int.random(in: 1...4, using: &generator)).map { depth in
            let isRare = generator.isOne(in: 4)
            let common: [Level.Kind] = [.read, .write, .read, .bareWrite, .reentrantWrite]
            let kind = (isRare ? Level.Kind.allCases : common).randomElement(using: &generator)!
            return Level(kind: kind, database: Int.random(in: 0..<Self.databaseCount, using: &generator))
        }
    }

    private func runAsync(_ nest: [Level]) async throws {
        let pool = databases.value[nest[0].database]
        let rest = nest.dropFirst()
        switch nest[0].kind {
        case .read, .reentrantRead: try await pool.read { _ in try self.run(rest) }
        case .unsafeRead: try await pool.unsafeRead { _ in try self.run(rest) }
        case .write, .reentrantWrite: try await pool.write { _ in try self.run(rest) }
        case .bareWrite: try await pool.writeWithoutTransaction { _ in try self.run(rest) }
        case .barrier: try await pool.barrierWriteWithoutTransaction { _ in try self.run(rest) }
        case .callback:
            try await withCheckedThrowingContinuation { continuation in
                pool.asyncWrite { _ in
                    try self.run(rest)
                } completion: { _, result in
                    continuation.resume(with: result)
                }
            }
        default: try await onOwnThread { try self.run(nest[...]) }
        }
    }

    private func run(_ nest: ArraySlice<Level>) throws {
        guard let level = nest.first else { return }
        let rest = nest.dropFirst()
        let pool = databases.value[level.database]
        switch level.kind {
        case .read: try pool.read { _ in try run(rest) }
        case .unsafeRead: try pool.unsafeRead { _ in try run(rest) }
        case .reentrantRead: try pool.unsafeReentrantRead { _ in try run(rest) }
        case .write: try pool.write { _ in try run(rest) }
        case .bareWrite: try pool.writeWithoutTransaction { _ in try run(rest) }
        case .reentrantWrite: try pool.unsafeReentrantWrite { _ in try run(rest) }
        case .barrier: try pool.barrierWriteWithoutTransaction { _ in try run(rest) }
        case .concurrentRead:
            let copy = Array(rest)
            pending.update { $0 += 1 }
            pool.asyncConcurrentRead { result in
                defer { self.pending.update { $0 -= 1 } }
                guard (try? result.get()) != nil else { return }
                self.record(copy) { try self.run(copy[...]) }
            }
        case .callback:
            let copy = Array(rest)
            pending.update { $0 += 1 }
            // Also where it is refused.
            pool.asyncRead { _ in
                defer { self.pending.update { $0 -= 1 } }
                self.record(copy) { try self.run(copy[...]) }
            }
        case .releaseMemory:
            pool.releaseMemory()
            try run(rest)
        case .close:
            try pool.close()
            // Several may close it: one opens it again.
            let failure = databases.update { databases in
                databases[level.database] === pool
                    ? thrown {
                        databases[level.database] = try DatabasePool(path: pool.path, configuration: pool.configuration)
                    } : nil
            }
            if let failure { throw failure }
            try run(rest)
        case .snapshot:
            let snapshot = try pool.makeSnapshot()
            try snapshot.read { _ in try run(rest) }
            try snapshot.close()
        case .backup:
            let other = databases.value[(level.database + 1) % Self.databaseCount]
            try pool.backup(to: other) { _ in try self.run(rest) }
        }
    }

    // MARK: - Results

    private func record(_ nest: [Level], _ body: () throws -> Void) {
        do {
            try body()
            count("ok")
        } catch {
            note(error, nest)
        }
    }

    private func thrown(_ body: () throws -> Void) -> (any Error)? {
        do { try body() } catch { return error }
        return nil
    }

    private func count(_ name: String) { counts.update { $0[name, default: 0] += 1 } }

    private func note(_ error: any Error, _ nest: [Level]) {
        let message = (error as? DatabaseError)?.message ?? "\(error)"
        let expected = [
            "Database methods are not reentrant.", "deadlock: ", "Connection is closed", "unable to close ",
            "a snapshot sees the last commit", "cannot start a transaction", "database is locked",
            "database table is locked", "The destination of a backup can't be used", "destination database is in use",
            "A transaction has been left open", "Snapshot is lost.", "a concurrent read",
        ]
        guard let name = expected.first(where: { message.hasPrefix($0) }) else {
            faults.update { $0.append("\(nest): \(error)") }
            return
        }
        count(name)
    }
}

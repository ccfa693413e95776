import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess

/// Accesses of all kinds, and accesses inside others, do on a cluster what they do on a pool.
@Suite("Accesses of a cluster", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterAccessTests {
    private static func insert(_ db: Database, _ name: String) throws {
        try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
    }

    private static func names(_ db: Database) throws -> String {
        try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id").joined(separator: ",")
    }

    /// The result, or the code of the error, with the cluster's and the pool's own message.
    private func result(_ body: () throws -> String) -> String {
        do {
            return try body()
        } catch let error as DatabaseError {
            return "error \(error.extendedResultCode): \(error.message ?? "")"
        } catch {
            return "error \(error)"
        }
    }

    /// Runs the same accesses on a pool and on a cluster, and expects the same results and rows.
    private func expectSame(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (any DatabaseWriter, _ result: (() throws -> String) -> String) throws -> [String]
    ) throws {
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        let local = try body(pool.pool, result) + [pool.pool.read(Self.names)]
        let remote = try body(fixture.cluster, result) + [fixture.cluster.read(Self.names)]
        // The names of the files and of the cluster differ.
        func general(_ text: String, _ path: String) -> String {
            text.split(separator: path, omittingEmptySubsequences: false).joined(separator: "PATH")
        }
        #expect(
            remote.map { general($0, fixture.cluster.path) } == local.map { general($0, pool.pool.path) }, "\(name)",
            sourceLocation: sourceLocation)
        #expect(fixture.nodes.aborts == [], "\(name)", sourceLocation: sourceLocation)
    }

    /// The program blocks the thread of its access: others read and write meanwhile.
    @Test func aProgramThatBlocks() async throws {
        let fixture = try ClusterFixture()
        let isBlocked = Step("the program blocks")
        let isWritten = Step("another task has written")
        let program = Task {
            try await fixture.cluster.write { db in try Self.insert(db, "a") }
            isBlocked.reach()
            // One of Swift's threads mustn't be blocked.
            try #require(WorkerThreads.isCurrentThread)
            try isWritten.wait()
            try await fixture.cluster.write { db in try Self.insert(db, "c") }
        }
        try await isBlocked.reached()
        try await fixture.cluster.write { db in try Self.insert(db, "b") }
        #expect(try await fixture.cluster.read(Self.names) == "a,b")
        isWritten.reach()
        try await program.value
        #expect(try await fixture.cluster.read(Self.names) == "a,b,c")
    }

    @Test func nestedAccesses() throws {
        try expectSame("a write in a read") { writer, result in
            [
                result {
                    try writer.read { db in
                        let before = try Self.names(db)
                        try writer.write { db in try Self.insert(db, "a") }
                        return try before + "|" + Self.names(db)
                    }
                }
            ]
        }
        try expectSame("a read in a write") { writer, result in
            [
                result {
                    try writer.write { db in
                        try Self.insert(db, "a")
                        return try writer.read(Self.names) + "|" + Self.names(db)
                    }
                }
            ]
        }
        try expectSame("a read in a read") { writer, result in
            [result { try writer.read { _ in try writer.read(Self.names) } }]
        }
        try expectSame("a write in a write") { writer, result in
            [
                result {
                    try writer.write { db in
                        try Self.insert(db, "a")
                        try writer.write { db in try Self.insert(db, "b") }
                        return "done"
                    }
                },
                result {
                    try writer.writeWithoutTransaction { db in
                        try Self.insert(db, "c")
                        try writer.writeWithoutTransaction { db in try Self.insert(db, "d") }
                        return "done"
                    }
                },
            ]
        }
        try expectSame("a barrier") { writer, result in
            [
                result {
                    try writer.barrierWriteWithoutTransaction { db in
                        try Self.insert(db, "a")
                        return try writer.read(Self.names)
                    }
                },
                result { try writer.read { _ in try writer.barrierWriteWithoutTransaction(Self.names) } },
                result { try writer.barrierWriteWithoutTransaction(Self.names) },
            ]
        }
        try expectSame("reentrant") { writer, result in
            [
                result {
                    try writer.unsafeReentrantWrite { db in
                        try Self.insert(db, "a")
                        try writer.unsafeReentrantWrite { db in try Self.insert(db, "b") }
                        return try writer.unsafeReentrantRead(Self.names)
                    }
                },
                result {
                    try writer.unsafeReentrantRead { _ in try writer.unsafeReentrantRead(Self.names) }
                },
                result { try writer.unsafeRead(Self.names) },
                result {
                    try writer.write { db in
                        try Self.insert(db, "c")
                        return try writer.unsafeReentrantRead(Self.names)
                    }
                },
            ]
        }
    }

    @Test func concurrentReads() async throws {
        func run(_ writer: any DatabaseWriter) async throws -> [String] {
            var results: [String] = []
            try await writer.write { db in try Self.insert(db, "a") }
            let (stream, continuation) = AsyncStream<String>.makeStream()
            @Sendable func answer(_ result: Result<Database, any Error>) {
                do {
                    continuation.yield(try Self.names(result.get()))
                } catch let error as DatabaseError {
                    continuation.yield("error \(error.extendedResultCode): \(error.message ?? "")")
                } catch {
                    continuation.yield("error \(error)")
                }
            }
            var answers = stream.makeAsyncIterator()
            // The read sees what is committed now, and not the row that follows.
            try await writer.writeWithoutTransaction { db in
                try Self.insert(db, "b")
                writer.spawnConcurrentRead(answer)
                try Self.insert(db, "c")
            }
            results.append(await answers.next() ?? "")
            try await writer.write { db in
                try Self.insert(db, "d")
                writer.spawnConcurrentRead(answer)
            }
            results.append(await answers.next() ?? "")
            writer.asyncRead(answer)
            results.append(await answers.next() ?? "")
            writer.asyncUnsafeRead(answer)
            results.append(await answers.next() ?? "")
            writer.asyncWriteWithoutTransaction { db in answer(.success(db)) }
            results.append(await answers.next() ?? "")
            writer.asyncBarrierWriteWithoutTransaction(answer)
            results.append(await answers.next() ?? "")
            for _ in 1...2 {
                // The second insertion of the same name fails.
                writer.asyncWrite(
                    { db in try Self.insert(db, "e") }, completion: { db, result in answer(result.map { db }) })
                results.append(await answers.next() ?? "")
            }
            results.append(try await writer.barrierWriteWithoutTransaction(Self.names))
            try await writer.closeAsync()
            for start in [writer.asyncRead, writer.asyncUnsafeRead, writer.asyncBarrierWriteWithoutTransaction] {
                start(answer)
                results.append(await answers.next() ?? "")
            }
            return results
        }
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        #expect(try await run(fixture.cluster) == run(pool.pool))
    }

    /// The second client waits for the lock of the first, and for no longer than it may.
    @Test func anotherClientHoldsTheLock() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let clock = ManualMonotonicClock(tick: .milliseconds(1))
        let other = try fixture.other {
            $0.database.busyMode = .timeout(600)
            $0.database.monotonicClock = clock.monotonicClock
        }
        let impatient = try fixture.other {
            $0.database.busyMode = .timeout(0.02)
            $0.database.monotonicClock = clock.monotonicClock
        }
        let gate = Gate("the first insertion")
        fixture.nodes.faults.once(.delay(gate), at: .executed) { $0.sql?.hasPrefix("INSERT INTO player") == true }
        let write = Task { try await cluster.write { db in try Self.insert(db, "first") } }
        try await gate.reached()
        for isAsynchronous in [true, false] {
            let error = await #expect(throws: DatabaseError.self) {
                if isAsynchronous {
                    try await other.write(timeout: .milliseconds(50)) { db in try Self.insert(db, "second") }
                } else {
                    try { try other.write(timeout: .milliseconds(50)) { db in try Self.insert(db, "second") } }()
                }
            }
            #expect(
                error?.resultCode == .SQLITE_BUSY || error?.resultCode == .SQLITE_INTERRUPT,
                "\(String(describing: error))")
            #expect(error?.message?.hasPrefix("access timeout") == true, "\(String(describing: error))")
        }
        let busy = await #expect(throws: DatabaseError.self) {
            try await impatient.write { db in try Self.insert(db, "second") }
        }
        #expect(busy?.resultCode == .SQLITE_BUSY)
        #expect(busy?.message?.contains("locked") == true)
        #expect(busy?.isRetryableInCluster == false)
        #expect(try await other.read(Self.names) == "")
        // A cancelled task doesn't wait for the lock.
        let waiting = Gate("the second BEGIN")
        fixture.nodes.faults.once(.delay(waiting), at: .executed) { $0.sql?.hasPrefix("BEGIN IMMEDIATE") == true }
        let second = Task { try await other.write { db in try Self.insert(db, "second") } }
        try await waiting.reached()
        waiting.open()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        try await write.value
        try await other.write { db in try Self.insert(db, "third") }
        #expect(try await cluster.read(Self.names) == "first,third")
    }
}

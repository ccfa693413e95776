import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Snapshots go on seeing one commit, whatever is written.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct SnapshotTests {
    let folder: TemporaryFolder
    let pool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
    }

    private func snapshot(isPool: Bool) throws -> any DatabaseSnapshotReader {
        isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot()
    }

    @Test(arguments: [true, false]) func writesAreNotSeen(isPool: Bool) async throws {
        let snapshot = try snapshot(isPool: isPool)
        try await pool.write { db in
            try db.insert(2)
            try db.execute(sql: "CREATE TABLE u (a)")
        }
        for _ in 0..<3 {
            #expect(try await snapshot.read { db in try db.values() } == [1])
            let tables = try await snapshot.read { db in
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_master")
            }
            #expect(tables == ["t"])
        }
        #expect(try await pool.read { db in try db.values() } == [1, 2])
        #expect(try await self.snapshot(isPool: isPool).read { db in try db.values() } == [1, 2])
    }

    @Test(arguments: [true, false], ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
    func checkpoints(isPool: Bool, mode: String) async throws {
        let snapshot = try snapshot(isPool: isPool)
        for value in 2..<5 {
            try await pool.write { db in try db.insert(value) }
            try await pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(\(mode))")
            }
            #expect(try await snapshot.read { db in try db.values() } == [1])
        }
        try snapshot.close()
        try await pool.writeWithoutTransaction { db in
            let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(row?["busy"] == 0, "nothing holds the log any more")
        }
    }

    @Test(arguments: [true, false]) func whatASnapshotIs(isPool: Bool) async throws {
        let snapshot = try snapshot(isPool: isPool)
        #expect(snapshot.path == pool.path)
        #expect(snapshot.configuration.readonly)
        #expect(snapshot.configuration.maximumReaderCount == (isPool ? 5 : 1))
        await expectError(.SQLITE_READONLY) { try await snapshot.read { db in try db.insert(1) } }
        for access in [snapshot.asyncRead, snapshot.asyncUnsafeRead] {
            let result: Result<[Int], any Error> = await completion { done in
                access { result in done(result.flatMap { db in Result { try db.values() } }) }
            }
            #expect(try result.get() == [1])
        }
        #expect(try await snapshot.unsafeRead { db in db.isInsideTransaction })
    }

    /// A write that goes on keeps no snapshot waiting, and isn't seen.
    @Test(arguments: [true, false]) func besideAWrite(isPool: Bool) async throws {
        let hasWritten = Step("a write goes on")
        let mayEnd = Step("the snapshots are made")
        let writer = OwnThread { [pool] in
            try pool.write { db in
                try db.insert(2)
                hasWritten.reach()
                try mayEnd.wait()
            }
        }
        try await hasWritten.reached()
        let snapshots: [any DatabaseReader] = [
            try await onOwnThread { [pool] in
                isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot() as any DatabaseReader
            },
            isPool ? try await pool.makeSnapshotPoolAsync() : try await pool.makeSnapshotAsync(),
        ]
        mayEnd.reach()
        try await writer.value
        for snapshot in snapshots { #expect(try await snapshot.read { db in try db.values() } == [1]) }
        #expect(try await pool.read { db in try db.values() } == [1, 2])
    }

    /// Another connection commits whenever a connection of the snapshot but the first has begun its read.
    ///
    /// - returns: what the connections of the snapshot see, and how many commits there were.
    private func snapshotAmongCommits(_ maximum: Int, isAsync: Bool) async throws -> (values: [[Int]], commits: Int) {
        var other = Configuration()
        other.busyMode = .immediateError
        let committer = try DatabaseQueue(path: pool.path, configuration: other)
        let commits = Recorded(0)
        var configuration = Configuration()
        configuration.maximumReaderCount = 3
        configuration.whenLaterSnapshotConnectionsRead {
            guard commits.value < maximum else { return }
            // The write lock may be taken.
            if (try? committer.write { db in try db.insert(commits.value + 10) }) != nil { commits.update { $0 += 1 } }
        }
        let path = pool.path
        let busy = try DatabasePool(path: path, configuration: configuration)
        let snapshot = isAsync ? try await busy.makeSnapshotPoolAsync() : try busy.makeSnapshotPool()
        try await committer.write { db in try db.insert(1_000) }
        let group = snapshot.readers.group
        let connections = group.state.withLock { state in state.connections.compactMap { $0 } }
        let values = try connections.map { connection in
            try connection.database.beginAccess(nil)
            defer { connection.database.suspendAccess() }
            return try connection.database.values()
        }
        return (values, commits.value)
    }

    /// Commits between the beginnings of reads are noticed; where they don't end, the write lock keeps them out.
    @Test(arguments: [0, 1, 2, 5, 10_000], [true, false])
    func theConnectionsSeeOneCommit(commits: Int, isAsync: Bool) async throws {
        let (values, count) = try await snapshotAmongCommits(commits, isAsync: isAsync)
        #expect(values.count == 3)
        #expect(values[0] == [1] + (0..<count).map { $0 + 10 }, "the last commit")
        #expect(Set(values).count == 1)
        if commits < 10 {
            #expect(count == commits)
        } else {
            #expect(count == 2 * DatabasePool.pinningTries, "the tries are bounded")
        }
    }

    /// A pool that can't write can't keep others from it.
    @Test func commitsWithoutEndBesideAReadOnlyPool() throws {
        let committer = try DatabaseQueue(path: pool.path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.maximumReaderCount = 2
        configuration.whenLaterSnapshotConnectionsRead { try? committer.write { db in try db.insert(2) } }
        let reader = try DatabasePool(path: pool.path, configuration: configuration)
        expectError(.SQLITE_BUSY, "other connections commit too often to pin 2 connections") {
            try reader.makeSnapshotPool()
        }
        #expect(try reader.read { db in try db.values().isEmpty } == false)
    }

    @Test func ofAClosedPool() async throws {
        try pool.close()
        for error in [
            expectError(DatabaseError.self) { _ = try pool.makeSnapshot() },
            expectError(DatabaseError.self) { _ = try pool.makeSnapshotPool() },
            await expectError(DatabaseError.self) { _ = try await pool.makeSnapshotAsync() },
            await expectError(DatabaseError.self) { _ = try await pool.makeSnapshotPoolAsync() },
        ] {
            #expect(error?.message == "Connection is closed")
        }
    }

    @Test(arguments: [true, false]) func insideATransaction(isPool: Bool) throws {
        try pool.write { db in
            try db.insert(2)
            expectError(.SQLITE_MISUSE, "a snapshot sees the last commit: it can't be made inside a transaction") {
                try snapshot(isPool: isPool)
            }
            #expect(try db.values() == [1, 2], "the write goes on")
        }
        #expect(try pool.read { db in try db.values() } == [1, 2])
    }

    /// The write lock is taken for a moment, which is no transaction of the program's.
    @Test(arguments: [true, false]) func nobodyIsToldOfATransaction(isPool: Bool) throws {
        let events = Recorded<[String]>([])
        try pool.writeWithoutTransaction { db in
            db.afterNextTransaction { _ in
                events.update { $0.append("commit") }
            } onRollback: { _ in
                events.update { $0.append("rollback") }
            }
            let snapshot = try snapshot(isPool: isPool)
            #expect(events.value == [])
            #expect(!db.isInsideTransaction)
            try db.execute(sql: "INSERT INTO t VALUES (7)")
            #expect(events.value == ["commit"])
            #expect(try !snapshot.read { db in try db.values() }.contains(7))
        }
    }

    @Test(arguments: [true, false]) func snapshotsAreMadeInsideAccesses(isPool: Bool) throws {
        let inWrite = try pool.writeWithoutTransaction { db in
            try db.insert(2)
            let snapshot = try snapshot(isPool: isPool)
            try db.insert(3)
            return snapshot
        }
        #expect(try inWrite.read { db in try db.values() } == [1, 2])
        let inRead = try pool.read { db in
            try pool.write { db in try db.insert(4) }
            let snapshot = try snapshot(isPool: isPool)
            #expect(try db.values() == [1, 2, 3])
            return snapshot
        }
        #expect(try inRead.read { db in try db.values() } == [1, 2, 3, 4], "the last commit, not the read's")
        let inBarrier = try pool.barrierWriteWithoutTransaction { _ in try snapshot(isPool: isPool) }
        #expect(try inBarrier.read { db in try db.values() } == [1, 2, 3, 4])
    }

    /// A statement ends the transaction that is the snapshot.
    @Test(arguments: [true, false]) func snapshotIsLostWithItsTransaction(isPool: Bool) async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("b.sqlite"), configuration: configuration)
        let snapshot: any DatabaseSnapshotReader = isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot()
        try await snapshot.read { db in try db.commit() }
        for error in [
            await expectError(DatabaseError.self) { try await snapshot.read { _ in } },
            await expectError(DatabaseError.self) { try await snapshot.unsafeRead { _ in } },
            try await onOwnThread { expectError(DatabaseError.self) { try snapshot.reentrantRead { _ in } } },
        ] {
            #expect(error?.resultCode == .SQLITE_ABORT)
            #expect(error?.message == "Snapshot is lost.")
        }
    }

    /// A cancelled read takes nothing away from its snapshot.
    @Test(arguments: [true, false]) func cancelledReadLeavesTheSnapshot(isPool: Bool) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let snapshot: any DatabaseSnapshotReader = isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot()
        try await pool.write { db in try db.insert(2) }
        for _ in 0..<20 {
            let hasBegun = Step("the statement is about to run")
            let task = Task {
                try await snapshot.read { db in
                    hasBegun.reach()
                    try db.runForever()
                }
            }
            try await hasBegun.reached()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await snapshot.read { db in try db.values() } == [1])
        }
    }

    @Test func readsOfASnapshotPoolRunAtTheSameTime() async throws {
        let snapshot = try pool.makeSnapshotPool()
        let arrived = Recorded(0)
        let threads = (0..<5).map { _ in
            OwnThread {
                try snapshot.read { db in
                    arrived.update { $0 += 1 }
                    try spin(until: "all read") { arrived.value == 5 }
                    return try db.values()
                }
            }
        }
        for thread in threads { #expect(try await thread.value == [1]) }
    }

    /// All connections of a snapshot pool see one commit, while others write without end.
    @Test(arguments: [true, false]) func connectionsOfASnapshotPoolSeeOneCommit(writesFromOutside: Bool) async throws {
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        // SQLite's lock isn't fair: it is tried for until it is had.
        configuration.busyMode = .callback { _ in true }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let opened = configuration
        let isOver = Recorded(false)
        let hasWritten = Step("a row is written")
        let writer = OwnThread("writer") {
            let outside = writesFromOutside ? try DatabaseQueue(path: path, configuration: opened) : nil
            var value = 1
            while !isOver.value {
                value += 1
                let next = value
                if let outside {
                    try outside.write { db in try db.insert(next) }
                } else {
                    try pool.write { db in try db.insert(next) }
                }
                hasWritten.reach()
                for _ in 0..<20 { sched_yield() }
            }
        }
        try await hasWritten.reached()
        for _ in 0..<10 {
            let snapshot = try await onOwnThread { try pool.makeSnapshotPool() }
            let arrived = Recorded(0)
            let threads = (0..<5).map { _ in
                OwnThread {
                    try snapshot.read { db in
                        // Held until all five connections are out.
                        arrived.update { $0 += 1 }
                        try spin(until: "all read") { arrived.value == 5 }
                        return try db.count()
                    }
                }
            }
            var counts: Set<Int> = []
            for thread in threads { counts.insert(try await thread.value) }
            #expect(counts.count == 1)
        }
        isOver.update { $0 = true }
        try await writer.value
    }

    @Test func snapshotsAreSetUp() throws {
        var configuration = Configuration()
        let kinds = Recorded<[Bool]>([])
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            let isReadonly = db.configuration.readonly
            kinds.update { $0.append(isReadonly) }
        }
        let pool = try DatabasePool(path: folder.file("b.sqlite"), configuration: configuration)
        #expect(kinds.value == [false])
        let snapshot = try pool.makeSnapshot()
        #expect(kinds.value == [false, true])
        let snapshots = try pool.makeSnapshotPool()
        #expect(kinds.value == [false, true, true, true])
        try snapshot.close()
        try snapshots.close()
    }
}

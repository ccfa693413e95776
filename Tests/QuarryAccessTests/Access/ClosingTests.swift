import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The end of a database: explicit, or by letting it go.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ClosingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func expectClosed(_ error: DatabaseError?, _ what: String) {
        #expect(error?.resultCode == .SQLITE_MISUSE, "\(what)")
        #expect(error?.message == "Connection is closed", "\(what)")
    }

    /// A task that closes has its place in line from the call on, although all threads of the library are busy.
    @Test(arguments: [false, true]) func aTaskThatClosesWaitsWhereItIsCalled(hasGracePeriod: Bool) async throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        let (areBusy, mayGoOn) = (["one", "two"].map { Step("thread \($0) is busy") }, Step("the threads may go on"))
        let busy = areBusy.map { isBusy in
            Task {
                try await queue.workers.opening {
                    isBusy.reach()
                    try mayGoOn.wait()
                }
            }
        }
        for isBusy in areBusy { try await isBusy.reached() }
        let close = Task {
            if hasGracePeriod {
                try await queue.close(gracePeriod: .seconds(60))
            } else {
                try await queue.closeAsync()
            }
        }
        try await until("closing has all connections") { queue.runner.group.hasWindow }
        mayGoOn.reach()
        try await close.value
        for thread in busy { try await thread.value }
        expectClosed(await expectError(DatabaseError.self) { try await queue.read { _ in } }, "read")
    }

    @Test(arguments: WriterKind.allCases) func accessesAfterTheEnd(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        try writer.close()
        try writer.close()
        writer.interrupt()
        expectClosed(await expectError(DatabaseError.self) { try await writer.read { _ in } }, "read")
        expectClosed(await expectError(DatabaseError.self) { try await writer.unsafeRead { _ in } }, "unsafeRead")
        expectClosed(await expectError(DatabaseError.self) { try await writer.write { _ in } }, "write")
        expectClosed(
            await expectError(DatabaseError.self) { try await writer.writeWithoutTransaction { _ in } }, "writeWithout…"
        )
        expectClosed(
            await expectError(DatabaseError.self) { try await writer.barrierWriteWithoutTransaction { _ in } },
            "barrier…")
        let errors = try await onOwnThread {
            [
                expectError(DatabaseError.self) { try writer.read { _ in } },
                expectError(DatabaseError.self) { try writer.unsafeRead { _ in } },
                expectError(DatabaseError.self) { try writer.write { _ in } },
                expectError(DatabaseError.self) { try writer.unsafeReentrantRead { _ in } },
                expectError(DatabaseError.self) { try writer.unsafeReentrantWrite { _ in } },
                expectError(DatabaseError.self) { try writer.barrierWriteWithoutTransaction { _ in } },
            ]
        }
        for error in errors { expectClosed(error, "on a thread") }
        let read: DatabaseError? = await completion { done in
            writer.asyncRead { result in done(expectError(DatabaseError.self) { _ = try result.get() }) }
        }
        expectClosed(read, "asyncRead")
        let write: DatabaseError? = await completion { done in
            writer.asyncWrite { _ in
            } completion: { db, result in
                expectClosed(
                    expectError(DatabaseError.self) { try db.execute(sql: "SELECT 1") },
                    "the connection of a completion")
                done(expectError(DatabaseError.self) { try result.get() })
            }
        }
        expectClosed(write, "asyncWrite")
        let statement: DatabaseError? = await completion { done in
            writer.asyncWriteWithoutTransaction { db in
                done(expectError(DatabaseError.self) { try db.execute(sql: "SELECT 1") })
            }
        }
        expectClosed(statement, "asyncWriteWithoutTransaction")
    }

    /// Whoever waits is told, and nobody hangs.
    @Test(arguments: [WriterKind.memoryQueue, .pool]) func closingWithWaiters(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        let writer = try kind.make(folder, configuration)
        let groups =
            (writer as? DatabasePool).map { [$0.writer.group, $0.readers.group] }
            ?? (writer as? DatabaseQueue).map { [$0.runner.group] } ?? []
        let hasBegun = [Step("the writer is out"), Step("the reader is out")]
        let mayEnd = [Step("the writer may come back"), Step("the reader may come back")]
        let owners = [
            OwnThread {
                try writer.write { _ in
                    hasBegun[0].reach()
                    try mayEnd[0].wait()
                }
            },
            OwnThread {
                guard kind.isPool else { return hasBegun[1].reach() }
                try writer.read { _ in
                    hasBegun[1].reach()
                    try mayEnd[1].wait()
                }
            },
        ]
        for step in hasBegun { try await step.reached() }
        let tasks = [
            Task { await expectError(DatabaseError.self) { try await writer.read { _ in } } },
            Task { await expectError(DatabaseError.self) { try await writer.write { _ in } } },
            Task { await expectError(DatabaseError.self) { try await writer.barrierWriteWithoutTransaction { _ in } } },
        ]
        let threads = [
            OwnThread { expectError(DatabaseError.self) { try writer.read { _ in } } },
            OwnThread { expectError(DatabaseError.self) { try writer.write { _ in } } },
        ]
        try await until("five wait") { groups.map(\.waiterCount).reduce(0, +) == 5 }
        let closers = [OwnThread { try writer.close() }, OwnThread { try writer.close() }]
        try await until("those who close wait too") { groups.map(\.waiterCount).reduce(0, +) == 7 }
        mayEnd[0].reach()
        // Closing takes the writer first, then waits for the reader, before all others.
        if let readers = (writer as? DatabasePool)?.readers.group {
            try await until("closing waits for the reader") { readers.waiterCount == 3 }
        }
        mayEnd[1].reach()
        for owner in owners { try await owner.value }
        for closer in closers { try await closer.value }
        for task in tasks { expectClosed(await task.value, "a task that waited") }
        for thread in threads { expectClosed(try await thread.value, "a thread that waited") }
    }

    @Test(arguments: WriterKind.allCases) func closingWithStatementsLeft(_ kind: WriterKind) throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        do {
            let statement = try writer.write { db in try db.makeStatement(sql: "SELECT 1") }
            expectError(.SQLITE_BUSY, "unable to close due to unfinalized statements or unfinished backups") {
                try writer.close()
            }
            try writer.write { db in try db.insert(2) }
            #expect(try writer.read { db in try db.values() } == [1, 2])
            #expect(try writer.writeWithoutTransaction { _ in try Int.fetchOne(statement) } == 1)
        }
        try writer.close()
        expectClosed(expectError(DatabaseError.self) { try writer.read { _ in } }, "read")
    }

    @Test func aReaderWithStatementsLeft() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        do {
            let statement = try pool.read { db in try db.makeStatement(sql: "SELECT a FROM t") }
            expectError(.SQLITE_BUSY) { try pool.close() }
            try pool.write { db in try db.insert(2) }
            #expect(try pool.read { db in try db.values() } == [1, 2])
            #expect(try pool.read { _ in try Int.fetchAll(statement) } == [1, 2])
        }
        try pool.close()
    }

    @Test(arguments: WriterKind.allCases) func closingInsideAnAccess(_ kind: WriterKind) throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        try writer.write { db in
            expectError(.SQLITE_BUSY) { try writer.close() }
            try db.insert(2)
        }
        try writer.read { db in
            expectError(.SQLITE_BUSY) { try writer.close() }
            let values = try db.values()
            #expect(values == [1, 2])
        }
        try writer.close()
    }

    @Test(arguments: [true, false]) func snapshotsClose(isPool: Bool) throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let snapshot: any DatabaseSnapshotReader = isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot()
        try pool.close()
        #expect(try snapshot.read { db in try db.values() } == [1], "a snapshot has connections of its own")
        try snapshot.close()
        try snapshot.close()
        expectClosed(expectError(DatabaseError.self) { try snapshot.read { _ in } }, "snapshot")
        expectClosed(expectError(DatabaseError.self) { try snapshot.reentrantRead { _ in } }, "snapshot")
    }

    // MARK: - What is left of it

    private func exists(_ suffix: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.file("a.sqlite\(suffix)"))
    }

    @Test(arguments: [true, false]) func theLogIsRemoved(closes: Bool) async throws {
        do {
            let pool = try DatabasePool(path: folder.file("a.sqlite"))
            try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { _ = try await pool.read { db in try db.count() } } }
                try await group.waitForAll()
            }
            #expect(exists("-wal"))
            if closes {
                try pool.close()
                #expect(!exists("-wal"))
            }
        }
        try await until("the pool has gone") { !exists("-wal") && !exists("-shm") }
        #expect(exists(""))
    }

    #if os(Linux)
    @Test(arguments: WriterKind.allCases.filter { $0 != .memoryQueue }, [true, false])
    func everyConnectionIsClosed(_ kind: WriterKind, closes: Bool) async throws {
        do {
            let writer = try kind.make(folder)
            try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            let mayEnd = Step("all readers are open")
            let threads = (0..<(kind.isPool ? 5 : 1)).map { _ in
                OwnThread {
                    try writer.read { db in
                        if kind.isPool { try mayEnd.wait() }
                        return try db.count()
                    }
                }
            }
            if let pool = writer as? DatabasePool {
                try await until("all readers are open") { pool.readers.group.connectionCount == 5 }
                let snapshot = try pool.makeSnapshotPool()
                #expect(try await snapshot.read { db in try db.count() } == 0)
            }
            mayEnd.reach()
            for thread in threads { #expect(try await thread.value == 0) }
            #expect(try !folder.openFiles.isEmpty)
            if closes { try writer.close() }
        }
        try await until("all connections are closed: \(try folder.openFiles)") { try folder.openFiles.isEmpty }
    }
    #endif

    @Test func accessesKeepTheirDatabase() async throws {
        var pool: DatabasePool? = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool?.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        weak let watched = pool
        let values = Recorded<Int?>(nil)
        let isOver = Step("the writes are over")
        for index in 0..<20 {
            pool?.asyncWrite { db in
                try db.insert(index)
                return try db.count()
            } completion: { _, result in
                values.update { $0 = try? result.get() }
                if index == 19 { isOver.reach() }
            }
        }
        pool = nil
        try await isOver.reached()
        #expect(values.value == 20)
        try await until("the pool has gone") { watched == nil }
    }

    /// An access refused while a connection closes, which may take as long as the log is long, is called back then.
    @Test(arguments: [WriterKind.pool, .walQueue]) func refusedWhileItCloses(_ kind: WriterKind) async throws {
        let disk = try StallVFS()
        var configuration = Configuration()
        configuration.vfs = disk.name
        configuration.maximumWaiters = 0
        // No checkpoint comes before closing.
        configuration.wal = .unmanaged
        let writer = try kind.make(folder, configuration)
        try await onOwnThread { try writer.makeTable(1) }
        disk.stall()
        let closer = OwnThread("a closer") { try writer.close() }
        try await until("the log is taken into the file") { disk.waitingCount == 1 }
        let errors = Recorded<[DatabaseError]>([])
        let areCalled = [Step("the completion is called"), Step("the write is called")]
        writer.asyncWrite { db in
            try db.insert(2)
        } completion: { _, result in
            if case .failure(let error as DatabaseError) = result { errors.update { $0.append(error) } }
            areCalled[0].reach()
        }
        try await areCalled[0].reached()
        writer.asyncWriteWithoutTransaction { db in
            if let error = expectError(.SQLITE_BUSY, { try db.insert(2) }) { errors.update { $0.append(error) } }
            areCalled[1].reach()
        }
        try await areCalled[1].reached()
        #expect(errors.value.map(\.resultCode) == [.SQLITE_BUSY, .SQLITE_BUSY])
        #expect(disk.waitingCount == 1, "it still closes")
        disk.resume()
        try await closer.value
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Each way to access each kind of writer and reader.
@Suite struct AccessMethodTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: WriterKind.allCases) func synchronousAccesses(_ kind: WriterKind) throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        let inserted = try writer.write { db in
            try db.insert(2)
            return db.lastInsertedRowID
        }
        #expect(inserted == 2)
        try writer.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insert(3)
        }
        try writer.barrierWriteWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insert(4)
        }
        try writer.unsafeReentrantWrite { db in
            try db.insert(5)
            try writer.unsafeReentrantWrite { inner in
                #expect(inner === db)
                try inner.insert(6)
            }
        }
        let all = [1, 2, 3, 4, 5, 6]
        #expect(try writer.read { db in (db.isInsideTransaction, try db.values()) } == (true, all))
        #expect(try writer.unsafeRead { db in (db.isInsideTransaction, try db.values()) } == (false, all))
        try writer.unsafeReentrantRead { db in
            #expect(try db.values() == all)
            try writer.unsafeReentrantRead { inner in #expect(inner === db) }
        }
    }

    @Test(arguments: WriterKind.allCases) func asynchronousAccesses(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let inserted = try await writer.write { db in
            try db.insert(1)
            return db.lastInsertedRowID
        }
        #expect(inserted == 1)
        try await writer.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insert(2)
        }
        try await writer.barrierWriteWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insert(3)
        }
        #expect(try await writer.read { db in db.isInsideTransaction ? try db.values() : [] } == [1, 2, 3])
        #expect(try await writer.unsafeRead { db in db.isInsideTransaction ? [] : try db.values() } == [1, 2, 3])
    }

    @Test(arguments: WriterKind.allCases) func accessesThatCallBack(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let written: Result<Int, any Error> = await completion { done in
            writer.asyncWrite { db in
                try db.insert(1)
                return try db.count()
            } completion: { db, result in
                #expect(!db.isInsideTransaction)
                #expect(try! db.count() == 1, "the connection may be used")
                done(result)
            }
        }
        #expect(try written.get() == 1)
        let count: Int? = await completion { done in
            writer.asyncWriteWithoutTransaction { db in
                #expect(!db.isInsideTransaction)
                try? db.insert(2)
                done(try? db.count())
            }
        }
        #expect(count == 2)
        let barrier: Result<[Int], any Error> = await completion { done in
            writer.asyncBarrierWriteWithoutTransaction { result in
                done(
                    result.flatMap { db in
                        Result {
                            try db.insert(3)
                            return try db.values()
                        }
                    })
            }
        }
        #expect(try barrier.get() == [1, 2, 3])
        let read: Result<[Int], any Error> = await completion { done in
            writer.asyncRead { result in done(result.flatMap { db in Result { try db.values() } }) }
        }
        #expect(try read.get() == [1, 2, 3])
        let unsafe: Result<[Int], any Error> = await completion { done in
            writer.asyncUnsafeRead { result in done(result.flatMap { db in Result { try db.values() } }) }
        }
        #expect(try unsafe.get() == [1, 2, 3])
    }

    @Test(arguments: WriterKind.allCases) func errorsOfClosures(_ kind: WriterKind) async throws {
        struct Refusal: Error, Equatable {}
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        await #expect(throws: Refusal()) {
            try await writer.write { db in
                try db.insert(1)
                throw Refusal()
            }
        }
        await #expect(throws: Refusal()) { try await writer.read { _ in throw Refusal() } }
        await #expect(throws: Refusal()) { try await writer.unsafeRead { _ in throw Refusal() } }
        await #expect(throws: Refusal()) { try await writer.writeWithoutTransaction { _ in throw Refusal() } }
        await #expect(throws: Refusal()) { try await writer.barrierWriteWithoutTransaction { _ in throw Refusal() } }
        try await onOwnThread {
            #expect(throws: Refusal()) {
                try writer.write { db in
                    try db.insert(2)
                    throw Refusal()
                }
            }
            #expect(throws: Refusal()) { try writer.read { _ in throw Refusal() } }
            #expect(throws: Refusal()) { try writer.barrierWriteWithoutTransaction { _ in throw Refusal() } }
        }
        let result: Result<Void, any Error> = await completion { done in
            writer.asyncWrite { db in
                try db.insert(3)
                throw Refusal()
            } completion: { _, result in
                done(result)
            }
        }
        #expect(throws: Refusal()) { try result.get() }
        #expect(try await writer.read { db in try db.values() } == [], "what failed is rolled back")
    }

    @Test(arguments: WriterKind.allCases) func writesInReads(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        for sql in ["INSERT INTO t VALUES (1)", "DROP TABLE t", "CREATE TABLE u (a)", "PRAGMA user_version = 3"] {
            let error = await expectError(DatabaseError.self) {
                try await writer.read { db in try db.execute(sql: sql) }
            }
            #expect(error?.resultCode == .SQLITE_READONLY, "\(sql)")
            let sameError = try await onOwnThread {
                expectError(DatabaseError.self) { try writer.read { db in try db.execute(sql: sql) } }
            }
            #expect(sameError?.resultCode == .SQLITE_READONLY, "\(sql)")
        }
        // A queue has one connection, which can write outside a read; a pool's readers can't.
        await expectError(kind.isPool ? .SQLITE_READONLY : nil) {
            try await writer.unsafeRead { db in try db.insert(1) }
        }
        try await writer.write { db in try db.insert(2) }
        #expect(try await writer.read { db in try db.values() } == (kind.isPool ? [2] : [1, 2]))
    }

    @Test func queuesAndPoolsHaveMethodsOfTheirOwn() throws {
        let queue = try DatabaseQueue()
        try queue.makeTable(1)
        try queue.inDatabase { db in try db.insert(2) }
        try queue.inTransaction { db in
            try db.insert(3)
            return .rollback
        }
        try queue.inTransaction(.exclusive) { db in
            try db.insert(4)
            return .commit
        }
        #expect(try queue.read { db in try db.values() } == [1, 2, 4])

        let pool = try DatabasePool(path: folder.file("own.sqlite"))
        try pool.makeTable(1)
        try pool.writeInTransaction { db in
            try db.insert(2)
            return .rollback
        }
        try pool.writeInTransaction(.deferred) { db in
            try db.insert(3)
            return .commit
        }
        #expect(try pool.read { db in try db.values() } == [1, 3])
    }

    @Test func erasedReaders() async throws {
        let pool = try DatabasePool(path: folder.file("erased.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)") }
        let readers: [any DatabaseReader] = [pool, try pool.makeSnapshot(), try pool.makeSnapshotPool()]
        for base in readers {
            let reader = AnyDatabaseReader(base)
            #expect(reader.path == pool.path)
            #expect(reader.configuration.maximumReaderCount == base.configuration.maximumReaderCount)
            #expect(try await reader.read { db in try db.values() } == [7])
            #expect(try await reader.unsafeRead { db in try db.values() } == [7])
            let values = try await onOwnThread {
                [
                    try reader.read { db in try db.values() }, try reader.unsafeRead { db in try db.values() },
                    try reader.unsafeReentrantRead { db in try reader.unsafeReentrantRead { _ in try db.values() } },
                ]
            }
            #expect(values == [[7], [7], [7]])
            for access in [reader.asyncRead, reader.asyncUnsafeRead] {
                let result: Result<[Int], any Error> = await completion { done in
                    access { result in done(result.flatMap { db in Result { try db.values() } }) }
                }
                #expect(try result.get() == [7])
            }
            try reader.close()
            await expectError(.SQLITE_MISUSE, "Connection is closed") { try await base.read { _ in } }
        }
    }
}

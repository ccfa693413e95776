import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// An access inside an access: what would wait for its own thread is refused, and the connection stays usable.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ReentrancyTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let message = "Database methods are not reentrant."

    /// The synchronous accesses of a writer, by name.
    private static let accesses:
        [(name: String, isWrite: Bool, run: @Sendable (any DatabaseWriter, () -> Void) throws -> Void)] = [
            ("read", false, { writer, body in try writer.read { _ in body() } }),
            ("unsafeRead", false, { writer, body in try writer.unsafeRead { _ in body() } }),
            ("write", true, { writer, body in try writer.write { _ in body() } }),
            ("writeWithoutTransaction", true, { writer, body in try writer.writeWithoutTransaction { _ in body() } }),
            (
                "barrierWriteWithoutTransaction", true,
                { writer, body in try writer.barrierWriteWithoutTransaction { _ in body() } }
            ),
        ]

    /// Every access of a queue in every access.
    @Test(arguments: WriterKind.allCases.filter { !$0.isPool }) func queues(_ kind: WriterKind) throws {
        let queue = try kind.make(folder)
        try queue.makeTable()
        for outer in Self.accesses {
            try outer.run(queue) {
                for inner in Self.accesses {
                    let error = expectError(DatabaseError.self) {
                        try inner.run(queue) { Issue.record("\(inner.name) has run") }
                    }
                    #expect(error?.resultCode == .SQLITE_MISUSE, "\(inner.name) in \(outer.name)")
                    #expect(error?.message == Self.message, "\(inner.name) in \(outer.name)")
                }
            }
            try queue.write { db in try db.insert(1) }
        }
        #expect(try queue.read { db in try db.count() } == Self.accesses.count)
    }

    /// Every access of a pool in every access: a read in a write and a write in a read are legal.
    @Test(arguments: WriterKind.allCases.filter(\.isPool)) func pools(_ kind: WriterKind) throws {
        let pool = try kind.make(folder)
        try pool.makeTable()
        for outer in Self.accesses {
            try outer.run(pool) {
                for inner in Self.accesses {
                    var hasRun = false
                    let isBarrier = [outer.name, inner.name].contains("barrierWriteWithoutTransaction")
                    let isLegal = outer.isWrite != inner.isWrite && !isBarrier
                    let error = expectError(isLegal ? nil : .SQLITE_MISUSE) { try inner.run(pool) { hasRun = true } }
                    #expect(hasRun == isLegal, "\(inner.name) in \(outer.name)")
                    #expect(error?.message == (isLegal ? nil : Self.message), "\(inner.name) in \(outer.name)")
                }
            }
            try pool.write { db in try db.insert(1) }
        }
        #expect(try pool.read { db in try db.count() } == Self.accesses.count)
    }

    /// Synchronous accesses in asynchronous ones, wherever these run.
    @Test(arguments: WriterKind.allCases, [AsyncExecution.automatic, .inline, .offloaded])
    func synchronousInAsynchronous(_ kind: WriterKind, _ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        let writer = try kind.make(folder, configuration)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        @Sendable func refuses(_ body: () throws -> Void) {
            #expect(expectError(DatabaseError.self) { try body() }?.message == Self.message)
        }
        try await writer.read { db in
            refuses { try writer.read { _ in } }
            refuses { try writer.unsafeRead { _ in } }
            refuses { try writer.barrierWriteWithoutTransaction { _ in } }
            if !kind.isPool { refuses { try writer.write { _ in } } }
            _ = try db.values()
        }
        try await writer.write { db in
            refuses { try writer.write { _ in } }
            refuses { try writer.writeWithoutTransaction { _ in } }
            if !kind.isPool { refuses { try writer.read { _ in } } }
            try db.insert(1)
        }
        try await writer.barrierWriteWithoutTransaction { db in
            refuses { try writer.read { _ in } }
            refuses { try writer.write { _ in } }
            try db.insert(2)
        }
        #expect(try await writer.read { db in try db.values() } == [1, 2])
    }

    @Test func nestedAccessesOfDifferentDatabases() throws {
        let queue = try DatabaseQueue()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let other = try DatabasePool(path: folder.file("b.sqlite"))
        for writer in [queue, pool, other] as [any DatabaseWriter] { try writer.makeTable(1) }
        try queue.write { queueDb in
            try pool.write { poolDb in
                try other.read { otherDb in
                    try queueDb.insert(2)
                    try poolDb.insert(3)
                    #expect(try otherDb.values() == [1])
                    expectError(.SQLITE_MISUSE, Self.message) { try queue.read { _ in } }
                    expectError(.SQLITE_MISUSE, Self.message) { try pool.write { _ in } }
                }
                #expect(try queueDb.values() == [1, 2])
            }
        }
        #expect(try pool.read { db in try db.values() } == [1, 3])
    }

    @Test func reentrantReadsAndWrites() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        try pool.write { db in
            try db.insert(2)
            #expect(try pool.unsafeReentrantRead { inner in inner === db }, "the writer's connection")
            try pool.unsafeReentrantWrite { inner in
                #expect(inner === db)
                try inner.insert(3)
            }
            try pool.read { reader in
                let isNearest = try pool.unsafeReentrantRead { inner in inner === reader }
                #expect(isNearest)
                #expect(try pool.unsafeReentrantRead { inner in try inner.values() } == [1])
            }
        }
        try pool.read { reader in
            #expect(try pool.unsafeReentrantRead { inner in inner === reader })
            try pool.unsafeReentrantWrite { db in try db.insert(4) }
        }
        try pool.barrierWriteWithoutTransaction { db in
            let isWriter = try pool.unsafeReentrantRead { inner in inner === db }
            #expect(isWriter)
        }
        let snapshot = try pool.makeSnapshot()
        try snapshot.read { db in
            let isSame = try snapshot.reentrantRead { inner in inner === db }
            #expect(isSame)
            #expect(try snapshot.unsafeReentrantRead { inner in inner === db })
            expectError(.SQLITE_MISUSE, Self.message) { try snapshot.read { _ in } }
        }
        #expect(try snapshot.reentrantRead { db in try db.values() } == [1, 2, 3, 4])
    }

    /// A barrier write in a read must not wait for a writer that waits for that read.
    @Test(arguments: [true, false]) func aReadIsNotWaitedForByItself(closes: Bool) async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasBegun = Step("the read has begun")
        let reader = OwnThread("reader") {
            try pool.read { _ in
                hasBegun.reach()
                try spin(until: "the barrier waits for this read") { pool.readers.group.waiterCount == 1 }
                return expectError(DatabaseError.self) {
                    if closes { try pool.close() } else { try pool.barrierWriteWithoutTransaction { _ in } }
                }
            }
        }
        try await hasBegun.reached()
        try await pool.barrierWriteWithoutTransaction { db in try db.insert(1) }
        #expect(try await reader.value?.resultCode == (closes ? .SQLITE_BUSY : .SQLITE_MISUSE))
        #expect(try await pool.read { db in try db.values() } == [1])
    }

    @Test func asynchronousAccessesFromInsideAnAccess() async throws {
        let queue = try DatabaseQueue()
        let order = Recorded<[String]>([])
        let isOver = Step("the inner access is over")
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER)")
            queue.asyncWriteWithoutTransaction { db in
                order.update { $0.append("inner") }
                isOver.reach()
            }
            order.update { $0.append("outer") }
        }
        try await isOver.reached()
        #expect(order.value == ["outer", "inner"])
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Closures that prepare the connections of a database while it is open: the connections that they reach, and when.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ConnectionPreparationTests {
    struct Refusal: Error, Equatable {}

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let double = DatabaseFunction("double", argumentCount: 1, pure: true) { values in
        (Int.fromDatabaseValue(values[0]) ?? 0) * 2
    }

    @Sendable private static func compareBackwards(_ first: String, _ second: String) -> Int {
        first == second ? 0 : first < second ? 1 : -1
    }

    private static func doubled(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT double(21)") }

    @Test(arguments: WriterKind.allCases) func openConnectionsGetAFunction(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        _ = try await writer.read { db in try db.values() }
        await #expect(throws: DatabaseError.self) { try await writer.read { db in try Self.doubled(db) } }
        writer.prepareConnections { db in db.add(function: Self.double) }
        #expect(try await writer.read { db in try Self.doubled(db) } == 42)
        #expect(try await writer.unsafeRead { db in try Self.doubled(db) } == 42)
        #expect(try await writer.write { db in try Self.doubled(db) } == 42)
        #expect(try await writer.barrierWriteWithoutTransaction { db in try Self.doubled(db) } == 42)
        let answer: Int? = await completion { done in
            writer.asyncRead { result in done(try? Self.doubled(result.get())) }
        }
        #expect(answer == 42)
        let concurrent: Int? = await completion { done in
            writer.asyncWriteWithoutTransaction { _ in
                writer.spawnConcurrentRead { result in done(try? Self.doubled(result.get())) }
            }
        }
        #expect(concurrent == 42)
    }

    @Test func readersThatOpenLaterGetAFunction() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let count = Recorded(0)
        pool.prepareConnections { db in
            db.add(function: Self.double)
            count.update { $0 += 1 }
        }
        #expect(count.value == 0, "the writer is prepared at its next access")
        #expect(try await pool.read { db in try Self.doubled(db) } == 42)
        pool.invalidateReadOnlyConnections()
        #expect(try await pool.read { db in try Self.doubled(db) } == 42)
        #expect(count.value == 2)
    }

    @Test(arguments: [true, false]) func snapshotsShareThePreparationsOfTheirPool(isPool: Bool) async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let snapshot: any DatabaseSnapshotReader = isPool ? try pool.makeSnapshotPool() : try pool.makeSnapshot()
        pool.prepareConnections { db in db.add(function: Self.double) }
        try await pool.write { db in try db.insert(2) }
        #expect(try await snapshot.read { db in [try Self.doubled(db)] + (try db.values()) } == [42, 1])
        AnyDatabaseReader(snapshot).prepareConnections { db in
            db.add(collation: DatabaseCollation("backwards", function: Self.compareBackwards))
        }
        let sql = "SELECT 1 WHERE 'a' > 'b' COLLATE backwards"
        #expect(try await pool.write { db in try Int.fetchOne(db, sql: sql) } == 1)
        let later = try pool.makeSnapshot()
        #expect(try await later.read { db in try Self.doubled(db) } == 42)
        #expect(try await later.read { db in try Int.fetchOne(db, sql: sql) } == 1)
    }

    @Test func preparationsRunInOrder() throws {
        let log = Recorded<[String]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { _ in log.update { $0.append("configuration") } }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        log.update { $0 = [] }
        for name in ["one", "two"] { pool.prepareConnections { _ in log.update { $0.append(name) } } }
        try pool.write { _ in log.update { $0.append("write") } }
        #expect(log.value == ["one", "two", "write"])
        log.update { $0 = [] }
        try pool.read { _ in log.update { $0.append("read") } }
        #expect(log.value == ["configuration", "one", "two", "read"])
    }

    @Test(arguments: [WriterKind.memoryQueue, .pool]) func anErrorIsThrownByTheAccess(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        _ = try await writer.read { db in try db.values() }
        let preparation = writer.prepareConnections { _ in throw Refusal() }
        await #expect(throws: Refusal()) { try await writer.read { _ in } }
        await #expect(throws: Refusal()) { try await writer.write { _ in } }
        let isReported: Bool = await completion { done in
            writer.asyncRead { result in done((try? result.get()) == nil) }
        }
        #expect(isReported)
        _ = try await onOwnThread { #expect(throws: Refusal()) { try writer.read { _ in } } }
        preparation.remove()
        preparation.remove()
        #expect(try await writer.read { db in try db.values() } == [1])
        try await writer.write { db in try db.insert(2) }
    }

    @Test func aReaderThatCannotBePreparedIsNotOpened() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let preparation = pool.prepareConnections { db in if db.configuration.readonly { throw Refusal() } }
        await #expect(throws: Refusal()) { try await pool.read { _ in } }
        #expect(pool.readers.group.connectionCount == 0)
        #expect(throws: Refusal()) { try pool.makeSnapshot() }
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        preparation.remove()
        try await pool.read { _ in }
    }

    @Test func closingIgnoresThem() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.read { _ in }
        pool.prepareConnections { _ in throw Refusal() }
        try pool.close()
    }

    @Test(arguments: WriterKind.allCases) func addedInsideAnAccess(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let log = Recorded<[String]>([])
        try await writer.write { _ in
            writer.prepareConnections { _ in log.update { $0.append("prepared") } }
            log.update { $0.append("write") }
        }
        #expect(log.value == ["write"])
        try await writer.write { _ in log.update { $0.append("write") } }
        #expect(log.value == ["write", "prepared", "write"])
    }

    /// The library's own setups reach a write that runs already, whose commit they would not see otherwise.
    @Test func aWriteThatRunsEndsWithTheLibrarysSetups() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let hasBegun = Step("the write has begun")
        let isInstalled = Step("the setup is installed")
        let moments = Recorded<[String]>([])
        let write = OwnThread {
            try pool.write { db in
                try db.insert(2)
                hasBegun.reach()
                try isInstalled.wait()
            }
        }
        try await hasBegun.reached()
        pool.core.setups.add(
            .alsoAtEnd { db, moment in
                let count = try db.count()
                moments.update { $0.append("\(db.configuration.readonly ? "reader" : "writer"), \(moment), \(count)") }
            })
        #expect(try await pool.read { db in try db.count() } == 1)
        isInstalled.reach()
        try await write.value
        #expect(moments.value == ["reader, beginning, 1", "writer, end, 2"])
        try await pool.write { db in try db.insert(3) }
        #expect(moments.value.count == 2)
    }

    /// Setups of the library are added while a thread writes, and the database is read after each: a write that the
    /// read doesn't see runs the setup, at the beginning or at the end of its access.
    @Test func eachWriteIsSeenOrTold() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        let mayEnd = Recorded(false)
        let writer = OwnThread { while !mayEnd.value { try pool.write { db in try db.insert(1) } } }
        let missed = try await onOwnThread {
            defer { mayEnd.update { $0 = true } }
            var missed: [String] = []
            for _ in 0..<300 {
                let told = Recorded<(moment: ConnectionSetups.Moment, count: Int)?>(nil)
                let token = pool.core.setups.add(
                    .alsoAtEnd { db, moment in
                        guard !db.configuration.readonly else { return }
                        let count = try db.count()
                        told.update { $0 = (moment, count) }
                    })
                let seen = try pool.read { db in try db.count() }
                try spin(until: "the writer is told") { told.value != nil }
                pool.core.setups.remove(token)
                // The first write that is not seen may be told at its end, when it is counted.
                guard let (moment, count) = told.value, count > (moment == .end ? seen + 1 : seen) else { continue }
                missed.append("\(count) rows at the \(moment), \(seen) seen")
            }
            return missed
        }
        try await writer.value
        #expect(missed == [])
    }

    @Test func connectionsKnowTheirCore() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let queue = try DatabaseQueue()
        #expect(try await pool.read { db in db.core === pool.core })
        #expect(try await pool.write { db in db.core === pool.core })
        #expect(try await pool.makeSnapshot().read { db in db.core === pool.core })
        #expect(try await pool.makeSnapshotPool().read { db in db.core === pool.core })
        #expect(try await queue.read { db in db.core === queue.core })
        #expect(pool.core !== queue.core)
        #expect(AnyDatabaseReader(AnyDatabaseWriter(pool)).groupReader?.core === pool.core)
        let separate = try Configuration().open(path: ":memory:", readonly: false)
        #expect(separate.core == nil)
        #expect(try await pool.read { db in db.configuration.readonly })
        #expect(try await pool.write { db in !db.configuration.readonly })
    }

    @Test func queuesOfOneNameShareACore() throws {
        let name = "shared by \(folder.path)"
        weak var released: DatabaseCore?
        do {
            let queue = try DatabaseQueue(named: name)
            let other = try DatabaseQueue(named: name)
            #expect(queue.core === other.core)
            #expect(try DatabaseQueue(named: name + "!").core !== queue.core)
            #expect(try DatabaseQueue().core !== DatabaseQueue().core)
            queue.prepareConnections { db in db.add(function: Self.double) }
            #expect(try other.read { db in try Self.doubled(db) } == 42)
            #expect(try DatabaseQueue(named: name).read { db in try Self.doubled(db) } == 42)
            released = queue.core
            #expect(released != nil)
        }
        #expect(released == nil)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(named: name).read { db in try Self.doubled(db) } }
    }

    /// A table that a record declares is created in another database, to compare the two.
    @Test func scratchDatabasesArePreparedToo() throws {
        let queue = try DatabaseQueue()
        queue.prepareConnections { db in db.add(function: Self.double) }
        let commits = Recorded(0)
        queue.core.setups.add(.alsoAtEnd { _, _ in commits.update { $0 += 1 } })
        let scratch = try queue.read { db in try db.openScratch(path: ":memory:") }
        #expect(try AccessRunner.frame(scratch, nil) { db in try Self.doubled(db) } == 42)
        #expect(commits.value == 1, "for the queue's connection alone")
    }

    @Test func theDatabaseIsReleased() throws {
        weak var core: DatabaseCore?
        do {
            let pool = try DatabasePool(path: folder.file("a.sqlite"))
            try pool.read { _ in }
            pool.prepareConnections { db in db.add(function: Self.double) }
            core = pool.core
        }
        #expect(core == nil)
    }
}

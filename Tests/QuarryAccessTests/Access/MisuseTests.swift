import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Uses of a connection outside its access, and transactions that are left open: errors, never the end of the process.
@Suite struct MisuseTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A connection and statement that have left their access; `Sendable` so that tests can misuse them.
    private struct Escaped: @unchecked Sendable {
        // Sendable: the test uses them where they refuse to be used.
        let database: Database
        let statement: Statement
        let cursor: DatabaseCursorOfInts
        typealias DatabaseCursorOfInts = any Cursor<Int>
    }

    @Test(arguments: WriterKind.allCases) func aDatabaseAfterItsAccess(_ kind: WriterKind) throws {
        let writer = try kind.make(folder)
        try writer.makeTable(1)
        let escaped = try writer.write { db in
            Escaped(
                database: db, statement: try db.makeStatement(sql: "INSERT INTO t VALUES (2)"),
                cursor: try Int.fetchCursor(db, sql: "SELECT a FROM t"))
        }
        let message = "Database was used outside of its access."
        for use in [
            { try escaped.database.insert(3) }, { _ = try escaped.database.values() },
            { try escaped.statement.execute() }, { _ = try escaped.cursor.next() },
            { try escaped.database.inTransaction { .commit } }, { try escaped.database.beginTransaction() },
            { _ = try escaped.database.makeStatement(sql: "SELECT 1") },
        ] as [() throws -> Void] {
            let error = expectError(DatabaseError.self) { try use() }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == message)
        }
        #expect(try writer.read { db in try db.values() } == [1])
        // Back in an access of its connection, the statement runs.
        try writer.write { _ in try escaped.statement.execute() }
        #expect(try writer.read { db in try db.values() } == [1, 2])
    }

    @Test(arguments: WriterKind.allCases) func aDatabaseOnAnotherThread(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let hasBegun = Step("the connection has left")
        let mayEnd = Step("another thread has used the connection")
        let escaped = Recorded<Escaped?>(nil)
        let owner = OwnThread("owner") {
            try writer.makeTable(1)
            try writer.writeWithoutTransaction { db in
                let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                let mine = Escaped(
                    database: db, statement: try db.makeStatement(sql: "INSERT INTO t VALUES (2)"), cursor: cursor)
                escaped.update { $0 = mine }
                hasBegun.reach()
                try mayEnd.wait()
                #expect(try cursor.next() == 1, "the access goes on")
                #expect(try db.values() == [1])
            }
        }
        try await hasBegun.reached()
        try await onOwnThread {
            guard let escaped = escaped.value else { return }
            for use in [
                { try escaped.database.insert(3) }, { try escaped.statement.execute() },
                { _ = try escaped.database.values() }, { try escaped.database.beginTransaction() },
            ] as [() throws -> Void] {
                let error = expectError(DatabaseError.self) { try use() }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message == "Database was not used on the correct thread.")
            }
        }
        mayEnd.reach()
        try await owner.value
        #expect(try await writer.read { db in try db.values() } == [1])
    }

    /// The owner changes what the connection keeps, while another thread uses the connection.
    @Test func whatAConnectionKeepsOnAnotherThread() async throws {
        struct Member: Codable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "t"
            var a: Int
        }
        struct Shared: @unchecked Sendable { let database: Database }
        var configuration = Configuration()
        configuration.label = "kept"
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.makeTable()
        let shared = Recorded<Shared?>(nil)
        let isOver = Recorded(false)
        let hasBegun = Step("the connection has left")
        let owner = OwnThread("owner") {
            try queue.writeWithoutTransaction { db in
                let mine = Shared(database: db)
                shared.update { $0 = mine }
                hasBegun.reach()
                var count = 0
                while !isOver.value {
                    db.releaseMemory()
                    try Member(a: 1).insert(db)
                    count += 1
                }
                #expect(try Member.fetchCount(db) == count)
            }
        }
        try await hasBegun.reached()
        try await onOwnThread {
            defer { isOver.update { $0 = true } }
            guard let database = shared.value?.database else { return }
            for _ in 1...20_000 {
                guard database.configuration.label == "kept", database.schemaSource == nil else {
                    Issue.record("the configuration is another one")
                    return
                }
                try Member(a: 2).willSave(database)
            }
            let pattern = Member.filter(Column("a").regexp("1"))
            for _ in 1...1000 {
                expectError(.SQLITE_MISUSE) { try pattern.fetchAll(database) }
                expectError(.SQLITE_MISUSE) { try Member(a: 2).insert(database) }
                expectError(.SQLITE_MISUSE) { try database.primaryKey("t") }
            }
        }
        try await owner.value
    }

    @Test(arguments: WriterKind.allCases) func aTransactionThatIsLeftOpen(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let leaving: @Sendable (Database) throws -> Void = { db in
            try db.beginTransaction()
            try db.insert(1)
        }
        let message = "A transaction has been left open at the end of a database access."
        let errors = [
            await expectError(DatabaseError.self) { try await writer.writeWithoutTransaction(leaving) },
            await expectError(DatabaseError.self) { try await writer.barrierWriteWithoutTransaction(leaving) },
            try await onOwnThread { expectError(DatabaseError.self) { try writer.writeWithoutTransaction(leaving) } },
            try await onOwnThread {
                expectError(DatabaseError.self) { try writer.barrierWriteWithoutTransaction(leaving) }
            },
            await expectError(DatabaseError.self) {
                try await writer.unsafeRead { db in try db.execute(sql: "BEGIN") }
            },
        ]
        for error in errors {
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message == message)
        }
        #expect(try await writer.read { db in try db.values() } == [], "it is rolled back")
        try await writer.write { db in try db.insert(2) }
        #expect(try await writer.read { db in try db.values() } == [2], "the connection is usable")
    }

    /// An access that leaves a transaction open calls back once.
    @Test(arguments: WriterKind.allCases) func callbacksComeOnce(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let calls = Recorded<[String]>([])
        writer.asyncWrite { db in
            1
        } completion: { db, result in
            calls.update { $0.append("write \((try? result.get()) ?? 0)") }
            try? db.beginTransaction()
        }
        writer.asyncWriteWithoutTransaction { db in
            calls.update { $0.append("writeWithoutTransaction") }
            try? db.beginTransaction()
        }
        writer.asyncBarrierWriteWithoutTransaction { result in
            calls.update { $0.append("barrier \((try? result.get()) != nil)") }
            try? result.get().beginTransaction()
        }
        try await writer.writeWithoutTransaction { _ in }
        let read: Bool = await completion { done in
            writer.asyncUnsafeRead { result in
                calls.update { $0.append("unsafeRead") }
                try? result.get().execute(sql: "BEGIN")
                done(true)
            }
        }
        #expect(read)
        for _ in 0..<5 { try await writer.barrierWriteWithoutTransaction { _ in } }
        #expect(calls.value == ["write 1", "writeWithoutTransaction", "barrier true", "unsafeRead"])
    }

    @Test func transactionsMayBeLeftOpenWhereAllowed() throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.makeTable()
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.insert(1)
        }
        try queue.writeWithoutTransaction { db in
            #expect(db.isInsideTransaction)
            try db.insert(2)
            try db.commit()
        }
        #expect(try queue.read { db in try db.values() } == [1, 2])
        // A pool's readers never keep one.
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        expectError(.SQLITE_MISUSE) { try pool.unsafeRead { db in try db.beginTransaction(.deferred) } }
    }

    @Test func noReaderAtAll() throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 0
        expectError(.SQLITE_MISUSE, "Configuration.maximumReaderCount must be from 1 to 10000, not 0") {
            try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        }
        #expect(try DatabaseQueue(configuration: configuration).configuration.maximumReaderCount == 1)
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Synchronization
import Testing

/// `prepareDatabase` runs in the midst of an access, when a pool opens a reader: it may use the pool, or is refused.
@Suite("Accesses of prepareDatabase", .timeLimit(.minutes(2 * TestTime.factor))) struct PreparationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    enum Nested: CaseIterable {
        case read, write, barrier, close, snapshot, release, erasure, backup, migration

        func run(_ pool: DatabasePool) throws {
            switch self {
            case .read: _ = try pool.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
            case .write: try pool.write { db in try db.execute(sql: "UPDATE t SET a = a") }
            case .barrier: try pool.barrierWriteWithoutTransaction { _ in }
            case .close: try pool.close()
            case .snapshot: _ = try pool.makeSnapshot().read { db in try Int.fetchOne(db, sql: "SELECT 1") }
            case .release: pool.releaseMemory()
            case .erasure: try pool.erase()
            case .backup: try DatabaseQueue().backup(to: pool)
            case .migration:
                var migrator = DatabaseMigrator()
                migrator.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE IF NOT EXISTS u (a)") }
                try migrator.migrate(pool)
            }
        }

        /// Whether the access would wait for the reader that is being opened.
        var waitsForReaders: Bool { [.barrier, .close, .erasure, .backup, .migration].contains(self) }
    }

    enum Outer: CaseIterable {
        case read, asyncRead, readInWrite

        func run(_ pool: DatabasePool) async throws -> Int? {
            switch self {
            case .read: try await onOwnThread { try pool.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } }
            case .asyncRead: try await pool.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") }
            case .readInWrite:
                try await onOwnThread {
                    try pool.write { _ in try pool.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } }
                }
            }
        }
    }

    @Test(arguments: Nested.allCases, Outer.allCases)
    func ofThePool(_ nested: Nested, _ outer: Outer) async throws {
        let pool: Recorded<DatabasePool?> = Recorded(nil)
        let isNested = Recorded(false)
        let errors: Recorded<[ResultCode?]> = Recorded([])
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { _ in
            guard let pool = pool.value, !isNested.value else { return }
            isNested.update { $0 = true }
            var code: ResultCode?
            do { try nested.run(pool) } catch let error as DatabaseError { code = error.resultCode }
            errors.update { [code] in $0.append(code) }
        }
        let opened = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try opened.makeTable(7)
        pool.update { $0 = opened }
        #expect(try await outer.run(opened) == 7)
        pool.update { $0 = nil }
        let expected: [ResultCode?] =
            switch (nested, outer) {
            case (.release, _), (.snapshot, .read), (.snapshot, .asyncRead): [nil]
            case (.read, _): [.SQLITE_BUSY]
            case (.close, .readInWrite): [.SQLITE_BUSY]
            case (_, .readInWrite): [.SQLITE_MISUSE]
            case (_, _) where nested.waitsForReaders: [.SQLITE_BUSY]
            default: [nil]
            }
        #expect(errors.value == expected)
        try await opened.write { db in try db.insert(8) }
        #expect(try await opened.read { db in try db.values() } == [7, 8])
    }

    /// A queue's connection is prepared before there is a queue. Its own connection is at hand.
    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .walQueue, .pool])
    func ofTheConnection(_ kind: WriterKind) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.inTransaction {
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
                return .commit
            }
        }
        let writer = try kind.make(folder, configuration)
        try writer.makeTable(1)
        #expect(try writer.read { db in try db.values() } == [1])
    }

    /// The readers of a pool would stay on the file.
    @Test func thePoolsWriterStaysOnItsFile() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        let empty: [UInt8] = []
        expectError(.SQLITE_MISUSE, "could not deserialize into main: its pool would keep reading the file") {
            try pool.writeWithoutTransaction { db in try db.deserialize(empty) }
        }
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ':memory:' AS other")
            try db.deserialize(empty, schema: "other")
        }
        try pool.write { db in try db.insert(2) }
        #expect(try pool.read { db in try db.values() } == [1, 2])
    }

    /// `prepareDatabase` runs while the pool opens. Connections that only read refuse anyway.
    @Test(arguments: [(false, ResultCode.SQLITE_MISUSE), (true, .SQLITE_READONLY)])
    func aPreparationCannotReplaceTheFileOfAPool(readonly: Bool, code: ResultCode) throws {
        let path = folder.file("a.sqlite")
        try DatabaseQueue(path: path).makeTable(1)
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.prepareDatabase { db in try db.deserialize([]) }
        expectError(code) { try DatabasePool(path: path, configuration: configuration) }
        #expect(try DatabaseQueue(path: path).read { db in try db.values() } == [1])
    }

    @Test func aPreparationCannotReplaceTheFileOfAReader() throws {
        let path = folder.file("a.sqlite")
        try DatabaseQueue(path: path).makeTable(1)
        let replaces = Mutex(false)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if replaces.withLock({ $0 }) { try db.deserialize([]) }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        replaces.withLock { $0 = true }
        expectError(.SQLITE_READONLY) { try pool.read { db in try db.values() } }
        expectError(.SQLITE_READONLY) { try pool.makeSnapshot() }
        replaces.withLock { $0 = false }
        #expect(try pool.read { db in try db.values() } == [1])
    }
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// The effects of a configuration on the connections that are opened with it.
@Suite struct ConfigurationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func pragmas() async throws {
        var configuration = Configuration()
        configuration.cacheSize = 1_048_576
        configuration.mmapSize = 2_097_152
        configuration.secureDelete = true
        configuration.foreignKeysEnabled = false
        let modes: [(Configuration.SynchronousMode?, Int)] = [
            (nil, 2), (.off, 0), (.normal, 1), (.full, 2), (.extra, 3),
        ]
        for (mode, number) in modes {
            configuration.synchronous = mode
            let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
            let read: @Sendable (Database) throws -> [Int] = { db in
                try ["cache_size", "mmap_size", "secure_delete", "foreign_keys"].map { name in
                    try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? -1
                }
            }
            let synchronous: @Sendable (Database) throws -> Int? = { db in
                try Int.fetchOne(db, sql: "PRAGMA synchronous")
            }
            #expect(try await pool.writeWithoutTransaction(read) == [-1024, 2_097_152, 1, 0])
            #expect(try await pool.read(read) == [-1024, 2_097_152, 1, 0], "readers too")
            #expect(try await pool.writeWithoutTransaction(synchronous) == number)
        }
        let defaults = try DatabaseQueue(path: folder.file("b.sqlite"))
        #expect(try await defaults.read { db in try Int.fetchOne(db, sql: "PRAGMA foreign_keys") } == 1)
        #expect(try await defaults.read { db in try Int.fetchOne(db, sql: "PRAGMA synchronous") } == 2)
    }

    /// Opening changes nothing that `prepareDatabase` has set, whatever is opened.
    @Test func whatPrepareDatabaseSetsStays() async throws {
        let settings: [(name: String, value: Int)] = [
            ("foreign_keys", 0), ("wal_autocheckpoint", 77), ("cache_size", 11), ("temp_store", 2),
            ("recursive_triggers", 1), ("secure_delete", 1), ("mmap_size", 65_536), ("busy_timeout", 4_321),
            ("cell_size_check", 1), ("trusted_schema", 0), ("query_only", 0), ("journal_size_limit", 99_000),
        ]
        for synchronous in 0...3 {
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                _ = try Row.fetchAll(db, sql: "PRAGMA synchronous = \(synchronous)")
                for (name, value) in settings { _ = try Row.fetchAll(db, sql: "PRAGMA \(name) = \(value)") }
            }
            let check: @Sendable (Database) throws -> Void = { db throws in
                #expect(try Int.fetchOne(db, sql: "PRAGMA synchronous") == synchronous)
                for (name, value) in settings {
                    #expect(try Int.fetchOne(db, sql: "PRAGMA \(name)") == value, "\(name)")
                }
            }
            try await DatabaseQueue(path: folder.file("q\(synchronous)"), configuration: configuration).read(check)
            // The file is new at first, then in WAL mode.
            for _ in 0..<2 {
                var walConfiguration = configuration
                walConfiguration.journalMode = .wal
                try await DatabaseQueue(path: folder.file("w\(synchronous)"), configuration: walConfiguration).read(
                    check)
                let pool = try DatabasePool(path: folder.file("p\(synchronous)"), configuration: configuration)
                try await pool.writeWithoutTransaction(check)
                try await pool.read(check)
                try await pool.makeSnapshot().read(check)
                try await pool.makeSnapshotPool().read(check)
                try await pool.closeAsync()
                let opened = try await DatabasePool.open(
                    path: folder.file("p\(synchronous)"), configuration: configuration)
                try await opened.writeWithoutTransaction(check)
            }
        }
    }

    /// A pool's journal is that of its own file.
    @Test func attachedDatabasesKeepTheirJournal() async throws {
        let path = folder.file("attached.sqlite")
        try DatabaseQueue(path: path).makeTable(1)
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { db in try db.attach(path, as: "attached") }
        let modes: @Sendable (Database) throws -> [String?] = { db in
            try ["main", "attached"].map { try String.fetchOne(db, sql: "PRAGMA \($0).journal_mode") }
        }
        for writer in [
            try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration),
            try DatabaseQueue(path: folder.file("b.sqlite"), configuration: configuration),
        ] as [any DatabaseWriter] {
            #expect(try await writer.writeWithoutTransaction(modes) == ["wal", "delete"])
            try writer.close()
        }
        // https://www.sqlite.org/fileformat.html#file_format_version_numbers
        let header = try #require(FileManager.default.contents(atPath: path))
        #expect(Array(header[18..<20]) == [1, 1])
    }

    /// Sources of programs for GRDB compile.
    @Test func settingsOfDispatch() throws {
        let configuration = (DispatchSettings() as any Configuring).configured(Configuration())
        _ = try DatabaseQueue(configuration: configuration)
    }

    private struct DispatchSettings: Configuring {
        @available(*, deprecated)
        func configured(_ configuration: Configuration) -> Configuration {
            var configuration = configuration
            configuration.targetQueue = DispatchQueue(label: "database")
            configuration.writeTargetQueue = .main
            configuration.qos = .userInitiated
            #expect(configuration.targetQueue == nil && configuration.writeTargetQueue == nil)
            return configuration
        }
    }

    @Test func journalModes() throws {
        let mode: (Database) throws -> String? = { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(try DatabaseQueue(path: folder.file("a.sqlite")).read(mode) == "delete")
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        #expect(try queue.read(mode) == "wal")
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "PRAGMA synchronous") } == 2)
        #expect(try DatabasePool(path: folder.file("b.sqlite")).read(mode) == "wal")
    }

    @Test func preparations() throws {
        struct Refusal: Error {}
        let log = Recorded<[String]>([])
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            let line = "first, readonly \(db.configuration.readonly)"
            log.update { $0.append(line) }
        }
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            log.update { $0.append("second") }
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        #expect(log.value == ["first, readonly false", "second"])
        _ = try pool.read { db in
            #expect(db.configuration.readonly)
            let store = try Int.fetchOne(db, sql: "PRAGMA temp_store")
            #expect(store == 2)
        }
        #expect(log.value == ["first, readonly false", "second", "first, readonly true", "second"])
        configuration.prepareDatabase { _ in throw Refusal() }
        #expect(throws: Refusal.self) { try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration) }
        #expect(throws: Refusal.self) { try DatabaseQueue(configuration: configuration) }
        configuration = Configuration()
        configuration.prepareDatabase { db in try db.beginTransaction() }
        expectError(.SQLITE_MISUSE) { try DatabaseQueue(configuration: configuration) }
    }

    @Test func labels() throws {
        var configuration = Configuration()
        configuration.label = "players"
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        #expect(try pool.writeWithoutTransaction { db in db.description } == "players")
        #expect(try pool.read { db in "\(db)" } == "players")
        #expect(try DatabaseQueue().read { db in "\(db)" } == ":memory:")
    }

    // MARK: - Files

    @Test func readOnlyDatabases() async throws {
        let path = folder.file("a.sqlite")
        var configuration = Configuration()
        configuration.readonly = true
        for error in [
            expectError(DatabaseError.self) { _ = try DatabaseQueue(path: path, configuration: configuration) },
            expectError(DatabaseError.self) { _ = try DatabasePool(path: path, configuration: configuration) },
        ] {
            #expect(error?.resultCode == .SQLITE_CANTOPEN)
            #expect(error?.message == "unable to open database file")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let writer = try DatabasePool(path: path)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
        for reader in [
            try DatabaseQueue(path: path, configuration: configuration),
            try DatabasePool(path: path, configuration: configuration),
        ] as [any DatabaseWriter] {
            #expect(try await reader.read { db in try db.values() } == [1])
            #expect(try await reader.write { db in try db.values() } == [1], "a transaction that reads")
            await expectError(.SQLITE_READONLY, "attempt to write a readonly database") {
                try await reader.write { db in try db.insert(2) }
            }
            try await writer.write { db in try db.execute(sql: "UPDATE t SET a = 1") }
            #expect(try await reader.read { db in try db.values() } == [1])
            try reader.close()
        }
    }

    @Test func aFileThatIsNoDatabase() throws {
        let path = folder.file("a.txt")
        try String(repeating: "This is no database. ", count: 100).write(
            toFile: path, atomically: true, encoding: .utf8)
        for error in [
            expectError(DatabaseError.self) { _ = try DatabaseQueue(path: path) },
            expectError(DatabaseError.self) { _ = try DatabasePool(path: path) },
        ] {
            #expect(error?.resultCode == .SQLITE_NOTADB)
            #expect(error?.message == "file is not a database")
        }
        let missing = folder.file("missing/a.sqlite")
        expectError(.SQLITE_CANTOPEN) { try DatabasePool(path: missing) }
    }

    // MARK: - Memory

    @Test func databasesInMemory() async throws {
        let first = try DatabaseQueue()
        let second = try DatabaseQueue()
        try await first.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        #expect(first.path == ":memory:")
        #expect(try await second.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    @Test(arguments: ["players", "a b&c=d?e#f%g/é"]) func namedDatabases(name: String) async throws {
        let unique = name + UUID().uuidString
        do {
            let first = try DatabaseQueue(named: unique)
            try await first.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
            let second = try DatabaseQueue(named: unique)
            #expect(try await second.read { db in try db.values() } == [1])
            #expect(first.path == second.path)
            #expect(first.path.hasPrefix("file:") && first.path.hasSuffix("?mode=memory&cache=shared"))
            let other = try DatabaseQueue(named: unique + "x")
            #expect(try await other.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        }
        let later = try DatabaseQueue(named: unique)
        #expect(try await later.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    @Test(arguments: [false, true]) func copies(isReadonly: Bool) async throws {
        let path = folder.file("a.sqlite")
        let original = try DatabasePool(path: path)
        try await original.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
        var configuration = Configuration()
        configuration.readonly = isReadonly
        for copy in [
            try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration),
            try DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration),
        ] {
            #expect(try await copy.read { db in try db.values() } == [1])
            await expectError(isReadonly ? .SQLITE_READONLY : nil) { try await copy.write { db in try db.insert(2) } }
            #expect(try await copy.read { db in try db.values() } == (isReadonly ? [1] : [1, 2]))
        }
        #expect(try await original.read { db in try db.values() } == [1])
        let missing = folder.file("missing.sqlite")
        expectError(.SQLITE_CANTOPEN) { try DatabaseQueue.inMemoryCopy(fromPath: missing) }
    }

    @Test(arguments: WriterKind.allCases) func erasing(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        for isAsync in [true, false] {
            try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            _ = try await writer.read { db in try db.values() }
            if isAsync { try await writer.erase() } else { try await onOwnThread { try writer.erase() } }
            let count = try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }
            #expect(count == 0)
            if kind.isPool {
                let mode = try await writer.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
                #expect(mode == "wal")
            }
        }
    }

    @Test func backups() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1, 2)
        let copies: [any DatabaseWriter] = [try DatabaseQueue(), try DatabasePool(path: folder.file("b.sqlite"))]
        for copy in copies {
            try pool.backup(to: copy)
            #expect(try copy.read { db in try db.values() } == [1, 2])
        }
    }
}

private protocol Configuring {
    func configured(_ configuration: Configuration) -> Configuration
}

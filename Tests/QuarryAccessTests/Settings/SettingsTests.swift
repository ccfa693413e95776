import Quarry
import QuarryTestSupport
import Testing

@Suite struct SettingsTests {
    /// A queue on a file with a table, in rollback mode.
    private func withFile(_ body: (DatabaseQueue, String) throws -> Void) throws {
        try withTemporaryFolder { (folder) throws in
            let queue = try DatabaseQueue(path: "\(folder)/db.sqlite")
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t (a); CREATE INDEX t_a ON t(a); INSERT INTO t VALUES (1), (2)")
            }
            try body(queue, folder)
        }
    }

    @Test func settingsRunTheirPragmas() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            try db.attach(":memory:", as: "a b")
            let sql = try emitted(db, includingSchemaReads: true) {
                _ = try db.pageSize()
                _ = try db.pageCount(of: "a b")
                _ = try db.freePageCount()
                _ = try db.journalMode()
                try db.setJournalMode(.off)
                _ = try db.autoVacuumMode()
                try db.setAutoVacuumMode(.incremental)
                _ = try db.userVersion()
                try db.setUserVersion(-5, of: "a b")
                _ = try db.applicationID()
                try db.setApplicationID(7)
                _ = try db.synchronousMode()
                try db.setSynchronousMode(.extra)
                _ = try db.cacheSize()
                try db.setCacheSize(10_000)
                _ = try db.mmapSize()
                try db.setMmapSize(1 << 20)
                _ = try db.integrityCheck()
                _ = try db.integrityCheck(of: "a b", maximumCount: 3)
                _ = try db.quickCheck()
                try db.optimize()
                try db.optimize("a b")
                try db.analyze()
                try db.analyze("a b")
                try db.reindex()
                try db.incrementalVacuum(pageCount: 3)
                _ = try db.attachedDatabases()
                try db.detach("a b")
            }
            #expect(
                sql.filter { !$0.hasPrefix("PRAGMA \"main\".freelist_count") } == [
                    #"PRAGMA "main".page_size"#, #"PRAGMA "a b".page_count"#, #"PRAGMA "main".journal_mode"#,
                    #"PRAGMA "main".journal_mode = OFF"#, #"PRAGMA "main".auto_vacuum"#,
                    #"PRAGMA "main".auto_vacuum = 2"#, #"PRAGMA "main".user_version"#,
                    #"PRAGMA "a b".user_version = -5"#, #"PRAGMA "main".application_id"#,
                    #"PRAGMA "main".application_id = 7"#, #"PRAGMA "main".synchronous"#,
                    #"PRAGMA "main".synchronous = EXTRA"#, #"PRAGMA "main".cache_size"#,
                    #"PRAGMA "main".cache_size = -9"#, #"PRAGMA "main".mmap_size"#,
                    #"PRAGMA "main".mmap_size = 1048576"#, "PRAGMA integrity_check(100)",
                    #"PRAGMA "a b".integrity_check(3)"#, "PRAGMA quick_check(100)", "PRAGMA optimize",
                    #"PRAGMA "a b".optimize"#, "ANALYZE", #"ANALYZE "a b""#, "REINDEX",
                    #"PRAGMA "main".incremental_vacuum(3)"#, "PRAGMA database_list", #"DETACH DATABASE "a b""#,
                ])
        }
    }

    @Test func valuesAreReadBack() throws {
        try withFile { (queue, _) throws in
            try queue.writeWithoutTransaction { (db) throws in
                #expect(try db.pageSize() == 4096)
                #expect(try db.pageCount() == 3)
                #expect(try db.freePageCount() == 0)
                #expect(try db.journalMode() == .delete)
                for mode in [Database.JournalMode.truncate, .persist, .memory, .off, .wal, .delete] {
                    try db.setJournalMode(mode)
                    #expect(try db.journalMode() == mode)
                }
                #expect(try db.synchronousMode() == .full)
                for mode in [Configuration.SynchronousMode.off, .normal, .extra, .full] {
                    try db.setSynchronousMode(mode)
                    #expect(try db.synchronousMode() == mode)
                }
                #expect(try db.userVersion() == 0)
                for number in [Int32.min, -1, 5, .max] {
                    try db.setUserVersion(number)
                    #expect(try db.userVersion() == number)
                    try db.setApplicationID(number)
                    #expect(try db.applicationID() == number)
                }
                try db.setCacheSize(3_000_000)
                #expect(try db.cacheSize() == 3_000_000 / 1024 * 1024)
                try db.execute(sql: "PRAGMA cache_size = 10")
                #expect(try db.cacheSize() == 10 * 4096)
                try db.setMmapSize(1 << 20)
                #expect(try db.mmapSize() == 1 << 20)
                #expect(try db.autoVacuumMode() == .none)
                try db.setAutoVacuumMode(.incremental)
                try db.execute(sql: "VACUUM")
                #expect(try db.autoVacuumMode() == .incremental)
                #expect(try db.integrityCheck() == [])
                #expect(try db.quickCheck(of: "main") == [])
            }
        }
    }

    @Test func configured() throws {
        var config = Configuration()
        config.synchronous = .off
        config.cacheSize = 1 << 20
        config.mmapSize = 1 << 16
        try withTemporaryFolder { (folder) throws in
            let pool = try DatabasePool(path: "\(folder)/db.sqlite", configuration: config)
            try pool.read { (db) throws in
                #expect(try db.journalMode() == .wal)
                #expect(try db.synchronousMode() == .off)
                #expect(try db.cacheSize() == 1 << 20)
                #expect(try db.mmapSize() == 1 << 16)
            }
        }
    }

    @Test(arguments: [false, true]) func byDefault(isPool: Bool) throws {
        try withTemporaryFolder { (folder) throws in
            let path = "\(folder)/db.sqlite"
            let writer: any DatabaseWriter = isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
            for access in [writer.read, writer.writeWithoutTransaction] as [((Database) throws -> Int) throws -> Int] {
                #expect(try access { db in try db.cacheSize() } == 2000 << 10)
            }
            #expect(try writer.read { db in try db.mmapSize() } == 0)
            #expect(try writer.read { db in try Int.fetchOne(db, sql: "PRAGMA temp_store") } == 0)
        }
    }

    @Test(arguments: [Configuration.TemporaryStorage.file, .memory])
    func temporaryStorage(_ storage: Configuration.TemporaryStorage) throws {
        var config = Configuration()
        config.temporaryStorage = storage
        try withTemporaryFolder { (folder) throws in
            let pool = try DatabasePool(path: "\(folder)/db.sqlite", configuration: config)
            for access in [pool.read, pool.write] as [((Database) throws -> Int?) throws -> Int?] {
                let value = try access { db in try Int.fetchOne(db, sql: "PRAGMA temp_store") }
                #expect(value == (storage == .file ? 1 : 2))
            }
        }
    }

    @Test func inMemory() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            #expect(try db.journalMode() == .memory)
            #expect(try db.mmapSize() == 0)
            expectError(.SQLITE_ERROR, "database main stays in journal mode memory") { try db.setJournalMode(.wal) }
            #expect(try db.journalMode() == .memory)
        }
    }

    @Test func readOnly() throws {
        try withFile { (queue, folder) throws in
            try queue.close()
            var config = Configuration()
            config.readonly = true
            let reader = try DatabaseQueue(path: "\(folder)/db.sqlite", configuration: config)
            let pool = try DatabasePool(path: "\(folder)/pool.sqlite")
            try pool.write { db in try db.execute(sql: "CREATE TABLE t (a); CREATE INDEX t_a ON t(a)") }
            for reads in [{ try reader.read($0) }, { try pool.read($0) }]
                as [((Database) throws -> Void) throws -> Void]
            {
                try reads { (db) throws in
                    _ = try db.pageSize()
                    _ = try db.pageCount()
                    _ = try db.freePageCount()
                    _ = try db.journalMode()
                    _ = try db.synchronousMode()
                    _ = try db.autoVacuumMode()
                    _ = try db.mmapSize()
                    _ = try db.cacheSize()
                    #expect(try db.userVersion() == 0)
                    #expect(try db.applicationID() == 0)
                    #expect(try db.integrityCheck() == [])
                    #expect(try db.quickCheck() == [])
                    #expect(try db.attachedDatabases().first?.name == "main")
                    let writes: [() throws -> Void] = [
                        { try db.setUserVersion(1) }, { try db.setApplicationID(1) },
                        { try db.setAutoVacuumMode(.full) }, { try db.analyze() }, { try db.analyze(table: "t") },
                        { try db.reindex() }, { try db.reindex(table: "t") }, { try db.incrementalVacuum() },
                        { try db.setJournalMode(.truncate) },
                    ]
                    for (index, write) in writes.enumerated() {
                        let error = #expect(throws: DatabaseError.self, "\(index)") { try write() }
                        #expect(error?.resultCode == .SQLITE_READONLY, "\(index) \(error?.message ?? "")")
                    }
                    #expect(try db.userVersion() == 0)
                    #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") != nil)
                }
            }
        }
    }

    @Test func mistakesThrow() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            expectError(.SQLITE_ERROR, #"unknown database "nope""#) { try db.pageSize(of: "nope") }
            expectError(.SQLITE_ERROR, #"unknown database "nope""#) { try db.journalMode(of: "nope") }
            expectError(.SQLITE_ERROR, #"unknown database "nope""#) { try db.setUserVersion(1, of: "nope") }
            expectError(.SQLITE_ERROR, #"unknown database "it's ""x""""#) { try db.mmapSize(of: "it's \"x\"") }
            expectError(.SQLITE_ERROR, #"unknown database "nope""#) { try db.integrityCheck(of: "nope") }
            expectError(.SQLITE_ERROR, #"unknown database "nope""#) { try db.incrementalVacuum(of: "nope") }
            expectError(.SQLITE_MISUSE, "integrity_check returns at least 1 problem, not 0") {
                try db.integrityCheck(maximumCount: 0)
            }
            expectError(.SQLITE_MISUSE, "a cache can't have -1 bytes") { try db.setCacheSize(-1) }
            expectError(.SQLITE_MISUSE, "a memory map can't have -1 bytes") { try db.setMmapSize(-1) }
            expectError(.SQLITE_MISUSE, "an incremental vacuum can't remove 0 pages") {
                try db.incrementalVacuum(pageCount: 0)
            }
            expectError(.SQLITE_ERROR, "no such table: main.nope") { try db.analyze(table: "nope") }
            expectError(.SQLITE_ERROR, "unable to identify the object to be reindexed") {
                try db.reindex(table: "nope")
            }
        }
        try DatabaseQueue().write { db in
            _ = expectError(.SQLITE_ERROR, "Safety level may not be changed inside a transaction") {
                try db.setSynchronousMode(.off)
            }
        }
        try withFile { (queue, _) throws in
            try queue.write { db in
                _ = expectError(.SQLITE_ERROR, "cannot change into wal mode from within a transaction") {
                    try db.setJournalMode(.wal)
                }
            }
        }
    }
}

@Suite struct UpkeepTests {
    @Test func damageIsFound() throws {
        try withTemporaryFolder { (folder) throws in
            let queue = try DatabaseQueue(path: "\(folder)/db.sqlite")
            try queue.writeWithoutTransaction { (db) throws in
                try db.execute(
                    sql: """
                        CREATE TABLE t (a INTEGER, b INTEGER); CREATE INDEX t_a ON t(a); INSERT INTO t VALUES (1, 2);
                        PRAGMA writable_schema = ON;
                        UPDATE sqlite_master SET sql = 'CREATE INDEX t_a ON t(b)' WHERE name = 't_a';
                        """)
            }
            try queue.close()
            // An index that isn't that of its table: the quick check doesn't look.
            try DatabaseQueue(path: "\(folder)/db.sqlite").writeWithoutTransaction { (db) throws in
                #expect(try db.quickCheck() == [])
                #expect(try db.integrityCheck() == ["row 1 missing from index t_a"])
                #expect(try db.integrityCheck(of: "main", maximumCount: 1).count == 1)
                try db.reindex(table: "t_a")
                #expect(try db.integrityCheck() == [])
            }
        }
    }

    @Test func statistics() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE "a b" (x); CREATE INDEX i ON "a b"(x); INSERT INTO "a b" VALUES (1), (2);
                    CREATE TABLE nocase (x); CREATE INDEX j ON nocase(x); INSERT INTO nocase VALUES (1);
                    """)
            func analyzed() throws -> [String] {
                guard try db.tableExists("sqlite_stat1") else { return [] }
                return try String.fetchAll(db, sql: "SELECT idx FROM sqlite_stat1 ORDER BY idx")
            }
            try db.analyze(table: "a b")
            #expect(try analyzed() == ["i"])
            try db.analyze(table: "j")
            #expect(try analyzed() == ["i", "j"])
            try db.execute(sql: "DELETE FROM sqlite_stat1")
            try db.analyze("main")
            #expect(try analyzed() == ["i", "j"])
            // A table that is called as a collation.
            try db.reindex(table: "nocase")
            try db.reindex(table: "a b")
            try db.reindex()
            try db.optimize()
        }
    }

    @Test func space() throws {
        try withTemporaryFolder { (folder) throws in
            let queue = try DatabaseQueue(path: "\(folder)/db.sqlite")
            try queue.writeWithoutTransaction { (db) throws in
                try db.setAutoVacuumMode(.incremental)
                try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000)); DELETE FROM t")
                let free = try db.freePageCount()
                let all = try db.pageCount()
                #expect(free > 20)
                #expect(try db.incrementalVacuum(pageCount: 5) == 5)
                #expect(try db.freePageCount() == free - 5)
                #expect(try db.incrementalVacuum() == free - 5)
                #expect(try db.pageCount() == all - free)
                #expect(try db.incrementalVacuum() == 0)
            }
        }
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000)); DELETE FROM t")
            #expect(try db.incrementalVacuum() == 0)
        }
    }
}

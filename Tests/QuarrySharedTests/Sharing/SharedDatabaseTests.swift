import Foundation
import Quarry
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

@Suite("Databases shared by their path")
struct SharedDatabaseTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func makeFilled(_ name: String = "a.sqlite") throws -> SharedDatabase {
        let database = SharedDatabase(path: folder.file(name))
        try database.write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        return database
    }

    // MARK: - Opening and closing

    /// The first access opens the database, for all its names.
    @Test
    func lazy() throws {
        let path = folder.file("a.sqlite")
        let first = SharedDatabase(path: path)
        let second = SharedDatabase(path: folder.path + "/./x/../a.sqlite")
        #expect(first.isSameDatabase(as: second))
        #expect(!first.isOpened && !FileManager.default.fileExists(atPath: path))
        try second.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(first.isOpened && second.isOpened)
        #expect(try first.read { db in try db.tableExists("t") })
    }

    /// A read may be the first access, and opens the writer.
    @Test
    func firstRead() throws {
        let database = SharedDatabase(path: folder.file("a.sqlite"))
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        #expect(database.pool.writer.group.hasOpenConnection)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(try database.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "wal")
    }

    /// The file is closed when the last reference goes, and not before.
    @Test
    func release() throws {
        do {
            let alias: SharedDatabase
            do {
                let database = try makeFilled()
                alias = SharedDatabase(path: database.path)
            }
            #expect(alias.isOpened)
            #expect(try !folder.openFiles.isEmpty)
        }
        #expect(try folder.openFiles.isEmpty)
        #expect(!SharedDatabase(path: folder.file("a.sqlite")).isOpened)
    }

    /// A closed database is opened by the next access, of threads and tasks.
    @Test
    func closing() async throws {
        let database = try makeFilled()
        for isAsync in [false, true] {
            if isAsync { try await database.closeAsync() } else { try database.close() }
            #expect(!database.isOpened)
            #expect(try folder.openFiles.isEmpty)
            #expect(try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
            #expect(database.isOpened)
        }
        try await database.close(gracePeriod: .seconds(600))
        #expect(!database.isOpened)
        try await database.close(gracePeriod: .seconds(600))
        try AnyDatabaseWriter(database).close()
        #expect(try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
        try await database.open()
        try await database.open()
        #expect(database.canOpen)
    }

    /// canOpen is false for a folder, and for a path below a file; the reason is thrown.
    @Test
    func canOpen() throws {
        try Data().write(to: URL(fileURLWithPath: folder.file("file")))
        var configuration = Configuration()
        configuration.createsIntermediateDirectories = true
        let folderItself = SharedDatabase(path: folder.path, configuration: configuration)
        #expect(!folderItself.canOpen && !folderItself.isOpened)
        let below = SharedDatabase(path: folder.file("file/a.sqlite"), configuration: configuration)
        #expect(!below.canOpen)
        let error = #expect(throws: DatabaseError.self) { try below.read { _ in } }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.description.contains("Not a directory") ?? false, "\(String(describing: error))")
    }

    /// A path that no file can have is the error of each access.
    @Test(arguments: ["", ":memory:", "file:a.sqlite?mode=memory", "a\0b"])
    func badPath(path: String) throws {
        let database = SharedDatabase(path: path)
        #expect(!database.canOpen)
        #expect(throws: DatabaseError.self) { try database.write { _ in } }
        #expect(throws: DatabaseError.self) { try database.read { _ in } }
        #expect(throws: DatabaseError.self) { try database.pool.makeSnapshot() }
    }

    /// Missing folders are made if the configuration asks, by queues and pools, too.
    @Test
    func folders() throws {
        let path = folder.file("one/two/a.sqlite")
        #expect(throws: DatabaseError.self) { try SharedDatabase(path: path).open() }
        var configuration = Configuration()
        configuration.createsIntermediateDirectories = true
        try SharedDatabase(path: path, configuration: configuration).open()
        _ = try DatabaseQueue(path: folder.file("three/four/b.sqlite"), configuration: configuration)
        _ = try DatabasePool(path: folder.file("five/b.sqlite"), configuration: configuration)
        _ = try DatabaseQueue(path: ":memory:", configuration: configuration)
        #expect(FileManager.default.fileExists(atPath: folder.file("three/four/b.sqlite")))
        #expect(FileManager.default.fileExists(atPath: folder.file("five/b.sqlite")))
    }

    /// Another configuration is refused by name; closures aren't compared.
    @Test
    func configurations() throws {
        let database = try makeFilled()
        var configuration = Configuration()
        configuration.readonly = true
        let other = SharedDatabase(path: database.path, configuration: configuration)
        let error = #expect(throws: DatabaseError.self) { try other.read { _ in } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message?.contains("Configuration.readonly differs") ?? false)
        #expect(!other.isSameDatabase(as: database))
        var prepared = Configuration()
        prepared.prepareDatabase { _ in }
        #expect(SharedDatabase(path: database.path, configuration: prepared).isSameDatabase(as: database))
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 1)
    }

    /// Settings that are values of several parts are compared, too.
    @Test
    func differencesOfConfigurations() {
        let changes: [(String, (inout Configuration) -> Void)] = [
            ("busyMode", { $0.busyMode = .timeout(1) }), ("readonlyBusyMode", { $0.readonlyBusyMode = .timeout(1) }),
            ("otherProcesses", { $0.otherProcesses = .ignored }), ("asyncExecution", { $0.asyncExecution = .inline }),
            ("wal", { $0.wal.sizeLimit = 1 << 20 }), ("maintenance", { $0.maintenance.timeBudget = 7 }),
            ("groupCommit", { $0.groupCommit = false }), ("synchronous", { $0.synchronous = .normal }),
            ("corruptionPolicy", { $0.corruptionPolicy = .readOnly }),
        ]
        #expect(Configuration().difference(from: Configuration()) == nil)
        for (name, change) in changes {
            var configuration = Configuration()
            change(&configuration)
            #expect(Configuration().difference(from: configuration) == name)
            #expect(configuration.difference(from: Configuration()) == name)
        }
        var told = Configuration()
        told.onCorruption { _ in }
        #expect(Configuration().difference(from: told) == nil)
        told.corruptionPolicy = .report
        #expect(told.difference(from: Configuration()) == nil)
    }

    /// A database that is used by its own preparation throws.
    @Test
    func preparation() throws {
        let shared = Lock<SharedDatabase?>(nil)
        var configuration = Configuration()
        configuration.prepareDatabase { _ in try shared.withLock { $0 }?.read { _ in } }
        let path = folder.file("a.sqlite")
        let database = SharedDatabase(path: path, configuration: configuration)
        shared.withLock { $0 = database }
        let error = #expect(throws: DatabaseError.self) { try database.open() }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        let readError = #expect(throws: DatabaseError.self) { try database.read { _ in } }
        #expect(readError?.resultCode == .SQLITE_MISUSE)
        shared.withLock { $0 = nil }
        try database.open()
    }

    // MARK: - Names

    /// Symbolic and hard links lead to one database, also if they are made later or led nowhere.
    @Test
    func links() throws {
        let dangling = folder.file("dangling")
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "a.sqlite")
        let early = SharedDatabase(path: dangling)
        let database = try makeFilled()
        #expect(early.isSameDatabase(as: database))
        try FileManager.default.createSymbolicLink(atPath: folder.file("soft"), withDestinationPath: database.path)
        try FileManager.default.createSymbolicLink(atPath: folder.file("folder"), withDestinationPath: folder.path)
        try FileManager.default.linkItem(atPath: database.path, toPath: folder.file("hard"))
        for name in ["soft", "hard", "folder/a.sqlite", "folder/hard", "folder/dangling"] {
            #expect(SharedDatabase(path: folder.file(name)).isSameDatabase(as: database), "\(name)")
        }
        let other = SharedDatabase(path: folder.file("b.sqlite"))
        #expect(!other.isSameDatabase(as: database))
    }

    /// A hard link that is made after both databases is refused: it would have another log.
    @Test
    func lateHardLink() throws {
        let other = SharedDatabase(path: folder.file("b.sqlite"))
        let database = try makeFilled()
        try FileManager.default.linkItem(atPath: database.path, toPath: other.path)
        let error = #expect(throws: DatabaseError.self) { try other.read { _ in } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message?.contains("another name of \(database.path)") ?? false)
        try FileManager.default.removeItem(atPath: other.path)
        try other.open()
    }

    /// Threads that share a file at once have one database, and none stays registered.
    @Test
    func race() async throws {
        let path = folder.file("a.sqlite")
        for _ in 0..<200 {
            let pools = await withTaskGroup(of: SharedDatabase.self) { group in
                for _ in 0..<8 { group.addTask { SharedDatabase(path: path) } }
                return await group.reduce(into: [SharedDatabase]()) { $0.append($1) }
            }
            #expect(pools.allSatisfy { $0.isSameDatabase(as: pools[0]) })
        }
        try await until("no pool is registered") { !SharedFiles.all.isShared(path) }
    }

    /// A pool that is released ends with its last access. The next pool of the file opens nothing before that.
    @Test
    func theNextPoolWaitsForTheEndOfThePrevious() async throws {
        let path = folder.file("a.sqlite")
        let (begun, mayEnd) = (Step("the access has begun"), Step("the access may end"))
        let order = Recorded<[String]>([])
        do {
            SharedDatabase(path: path).asyncWriteWithoutTransaction { db in
                begun.reach()
                try? mayEnd.wait()
                try? db.execute(sql: "CREATE TABLE t (a)")
                order.update { $0.append("the access of the previous pool") }
            }
        }
        try await until("the access has begun") { begun.isReached }
        let next = SharedDatabase(path: path)
        let moving = Task.detached {
            try await next.withClosedDatabase { files in
                order.update { $0.append("the next pool") }
                return try files.sizes().log
            }
        }
        mayEnd.reach()
        #expect(try await moving.value == 0)
        #expect(order.value == ["the access of the previous pool", "the next pool"])
        #expect(try await next.read { db in try db.tableExists("t") })
    }

    /// Queues of one named database in memory share content and commits.
    @Test
    func namedQueues() async throws {
        let name = UUID().uuidString
        let first = try DatabaseQueue(named: name)
        let second = try DatabaseQueue(named: name)
        #expect(first.core === second.core)
        let before = first.lastCommitNumber
        try await second.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(first.lastCommitNumber > before)
        #expect(first.lastCommitNumber == second.lastCommitNumber)
    }

    /// Each queue of a named database has a connection of its own, and counts its own accesses.
    @Test
    func connectionsOfNamedQueues() async throws {
        let name = UUID().uuidString
        let queues = try [DatabaseQueue(named: name), DatabaseQueue(named: name)]
        try await queues[0].write { db in
            try db.execute(sql: "CREATE TABLE t (a); CREATE TEMP TABLE own (a)")
        }
        #expect(try await queues[1].read { db in try db.tableExists("t") && !db.tableExists("own") })
        let before = queues.map { $0.statistics }
        for _ in 0..<3 { try await queues[0].write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") } }
        let after = queues.map { $0.statistics }
        let accesses = zip(after, before).map { $0.writer.accessCount - $1.writer.accessCount }
        let commits = zip(after, before).map { $0.transactions.committed - $1.transactions.committed }
        #expect(accesses == [3, 0] && commits == [3, 0])
        // An access of one doesn't wait for the connection of the other, so it finds the table locked.
        let (isWriting, mayEnd) = (Step("the write runs"), Step("the write may end"))
        let writer = OwnThread {
            try queues[0].write { db in
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                isWriting.reach()
                try mayEnd.wait()
            }
        }
        try await isWriting.reached()
        await #expect(throws: DatabaseError.self) {
            try await queues[1].read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        }
        mayEnd.reach()
        try await writer.value
    }

    // MARK: - What is shared

    /// Accesses are counted once, whichever name they use.
    @Test
    func statistics() async throws {
        var configuration = Configuration()
        configuration.otherProcesses = .ignored
        configuration.maintenance = .off
        configuration.wal.idleDelay = nil
        let database = SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try FileManager.default.linkItem(atPath: database.path, toPath: folder.file("hard"))
        let alias = SharedDatabase(path: folder.file("hard"))
        let before = database.statistics
        for _ in 0..<3 { try await database.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") } }
        for _ in 0..<4 { try await alias.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") } }
        for _ in 0..<2 { _ = try await alias.read { db in try db.values() } }
        _ = try await database.read { db in try db.values() }
        await #expect(throws: CancellationError.self) { try await alias.write { _ in throw CancellationError() } }
        for statistics in [database.statistics, alias.statistics] {
            #expect(statistics.writer.accessCount - before.writer.accessCount == 8)
            #expect(statistics.readers.accessCount - before.readers.accessCount == 3)
            #expect(statistics.transactions.committed - before.transactions.committed == 7)
        }
    }

    /// Commits, setups and statistics are common, and survive closing.
    @Test
    func common() async throws {
        let database = try makeFilled()
        let alias = SharedDatabase(path: database.path)
        let numbers = [database.lastCommitNumber, alias.lastCommitNumber]
        #expect(numbers[0] == numbers[1])
        var commits = database.commits.makeAsyncIterator()
        database.prepareConnections { db in db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in 1 }) }
        try await alias.closeAsync()
        try await alias.write { db in try db.execute(sql: "INSERT INTO t VALUES (one())") }
        #expect(database.lastCommitNumber > numbers[0])
        let commit = await commits.next()
        #expect(commit != nil)
        #expect(database.statistics.writer.accessCount <= alias.statistics.writer.accessCount)
        #expect(database.statistics.writer.accessCount >= 2)
    }

    /// An observation goes on after closing, and sees a replaced file.
    @Test
    func observation() async throws {
        let database = try makeFilled()
        try await DatabaseQueue(path: folder.file("new.sqlite")).write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        }
        let values = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")! }
            .values(in: database)
        var iterator = values.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == 1)
        let path = folder.file("new.sqlite")
        try await database.withClosedDatabase { files in try files.replace(with: path) }
        try await database.open()
        var value = try await iterator.next()
        while value == 1 { value = try await iterator.next() }
        #expect(value == 3)
        try await database.write { db in try db.execute(sql: "DELETE FROM t") }
        while value != 0 { value = try await iterator.next() }
    }
}

import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Other parts of the library use databases that wait for a place, and lose it.
@Suite struct DirectorySeamTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func make(
        _ maximumOpenCount: Int, migrator: DatabaseMigrator? = DatabaseDirectoryTests.migrator,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseDirectory {
        var configuration = Configuration()
        // An access that isn't served fails the test.
        configuration.acquireTimeout = 110 * Double(TestTime.factor)
        configure(&configuration)
        return try DatabaseDirectory(
            path: folder.path, maximumOpenCount: maximumOpenCount, configuration: configuration, migrator: migrator)
    }

    private static func insert(_ database: SharedDatabase, _ value: Int) throws {
        try DatabaseDirectoryTests.insert(database, value)
    }

    private static func values(_ database: SharedDatabase) throws -> [Int] {
        try DatabaseDirectoryTests.values(database)
    }

    // MARK: - Wake-ups

    /// The end of what keeps a database open gives its place to an access that waits.
    @Test func pinnedReadersThatEnd() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let makers: [@Sendable (SharedDatabase) throws -> any DatabaseReader] = [
            { try $0.makeSnapshot() }, { try $0.pool.makeSnapshotPool() }, { try $0.pool.makeStableReader() },
        ]
        for (number, make) in makers.enumerated() {
            for isClosed in [false, true] {
                var reader: (any DatabaseReader)? = try await onOwnThread { try make(a) }
                let evictedCount = directory.statistics.evictedCount
                let writer = OwnThread { try b.write { _ in } }
                try await until("b waits") { directory.statistics.waitingCount == 1 }
                if isClosed { try await reader?.closeAsync() }
                reader = nil
                try await writer.value
                // Whether it is open again is up to the keeper of its log.
                #expect(directory.statistics.evictedCount > evictedCount, "reader \(number)")
            }
        }
    }

    /// A reader that its closed database has left behind keeps the place of the database that was opened since. The
    /// thread that reads with it waits for no place.
    @Test(arguments: [false, true]) func aReaderOfAClosedDatabase(isInTask: Bool) async throws {
        let directory = try make(1)
        let old = try directory.database(named: "a")
        let reader = try await onOwnThread { try old.pool.makeStableReader() }
        try await directory.closeAsync()
        try await onOwnThread { try directory.database(named: "a").read { _ in } }
        let b = try directory.database(named: "b")
        let values =
            if isInTask {
                try await reader.read { _ in try Self.values(b) }
            } else {
                try await onOwnThread { try reader.read { _ in try Self.values(b) } }
            }
        #expect(values == [])
    }

    /// A closed database keeps its place for the reader that it has left behind: an access inside a read counts on that
    /// place. Otherwise it could wait in line behind an access that opens the database again, and so forever.
    @Test(arguments: ["snapshot", "snapshot pool", "stable reader"], [false, true])
    func aClosedDatabaseKeepsItsPlaceForAReader(_ kind: String, isAsync: Bool) async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        var reader: (any DatabaseReader)? = try await onOwnThread {
            switch kind {
            case "snapshot": try a.makeSnapshot()
            case "snapshot pool": try a.pool.makeSnapshotPool()
            default: try a.pool.makeStableReader()
            }
        }
        if isAsync { try await directory.closeAsync() } else { try await onOwnThread { try directory.close() } }
        // Whether it is open again is up to the watch for commits of others.
        #expect(directory.statistics.openCount == 1)
        let other = OwnThread { try directory.database(named: "c").write { _ in } }
        try await until("c waits") { directory.statistics.waitingCount == 1 }
        let values = try await onOwnThread { [reader] in try reader?.read { _ in try Self.values(b) } ?? [0] }
        #expect(values == [])
        // The database is used again meanwhile, and closed once more.
        try await a.write { _ in }
        try await directory.closeAsync()
        #expect(directory.statistics.waitingCount == 1)
        reader = nil
        try await other.value
    }

    /// A thread that has a place waits for no other place, also if it comes while others give up: then the directory
    /// asks again whether an access waits.
    @Test(.timeLimit(.minutes(5 * TestTime.factor))) func aThreadWithAPlaceBesideAccessesThatGiveUp() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let reader = try await onOwnThread { try a.pool.makeStableReader() }
        let hasEnded = Recorded(false)
        let others = (0..<3).map { _ in
            Task {
                while !hasEnded.value {
                    let access = Task { try await b.read { _ in } }
                    await Task.yield()
                    access.cancel()
                    _ = await access.result
                }
            }
        }
        let thread = OwnThread {
            for _ in 0..<10_000 { try reader.read { _ in try b.read { _ in } } }
        }
        defer { hasEnded.update { $0 = true } }
        try await thread.value
        hasEnded.update { $0 = true }
        for other in others { await other.value }
    }

    // MARK: - Accesses inside something else of another database

    /// A migration or `prepareDatabase` that uses another database keeps its place meanwhile.
    @Test(arguments: [false, true]) func openingsThatUseAnotherDatabase(isMigration: Bool) async throws {
        let reference = Recorded<DatabaseDirectory?>(nil)
        let isFirst = Recorded(true)
        let use: @Sendable () throws -> Void = {
            guard
                isFirst.update({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            try reference.value?.database(named: "b").write { db in try db.execute(sql: "CREATE TABLE other (a)") }
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { _ in if isMigration { try use() } }
        let directory = try make(1, migrator: migrator) { configuration in
            configuration.prepareDatabase { _ in if !isMigration { try use() } }
        }
        reference.update { $0 = directory }
        defer { reference.update { $0 = nil } }
        let a = try directory.database(named: "a")
        try await a.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let b = try directory.database(named: "b")
        #expect(try await b.read { db in try db.tableExists("other") })
        try await until("one is open") { directory.statistics.openCount == 1 }
    }

    /// Code that has a database closed keeps its place meanwhile.
    @Test func windowsThatUseAnotherDatabase() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread {
            try a.withClosedDatabase { _ in try Self.insert(b, 1) }
            let blockade = try a.blockade()
            try Self.insert(b, 2)
            blockade.end()
        }
        try await a.withClosedDatabase { _ in try Self.insert(b, 3) }
        #expect(try await onOwnThread { try Self.values(b) } == [1, 2, 3])
    }

    /// A snapshot keeps its database open, so also the place of an access inside a read of the snapshot.
    @Test func snapshotsWhoseReadersUseAnotherDatabase() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread {
            try a.makeSnapshot().read { _ in try Self.insert(b, 1) }
            try a.pool.makeStableReader().read { _ in try Self.insert(b, 2) }
            try a.backup(toFile: folder.file("copy")) { _ in _ = try Self.values(b) }
        }
        try await a.backup(toFile: folder.file("copy2")) { _ in _ = try Self.values(b) }
        #expect(try await onOwnThread { try Self.values(b) } == [1, 2])
    }

    /// An access inside another one doesn't wait for a place, also if the last free one is taken in that moment.
    @Test func accessesThatCrossWithTheLastPlace() async throws {
        let directory = try make(2)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        let c = try directory.database(named: "c")
        for round in 0..<300 {
            try await onOwnThread { try directory.close() }
            let isInA = Step("a writes")
            let first = OwnThread {
                try a.write { _ in
                    isInA.reach()
                    try b.write { _ in }
                }
            }
            try await isInA.reached()
            let second = OwnThread { try c.write { _ in try a.write { _ in } } }
            do { try await first.value } catch { Issue.record(error, "round \(round)") }
            try await second.value
        }
    }

    /// A tracer that is told of the end of a connection may use another database.
    @Test func tracersOfEndsThatUseAnotherDatabase() async throws {
        let reference = Recorded<SharedDatabase?>(nil)
        let tracer = ClosingTracer { connection in
            guard connection.role == .writer, connection.database.path.hasSuffix("/a.sqlite") else { return }
            #expect(throws: Never.self) {
                if let b = reference.update({ $0.take() }) { try Self.insert(b, 7) }
            }
        }
        let directory = try make(1) { $0.tracers = [tracer] }
        reference.update { [b = try directory.database(named: "b")] in $0 = b }
        let a = try directory.database(named: "a")
        let c = try directory.database(named: "c")
        try await onOwnThread {
            try Self.insert(a, 1)
            try Self.insert(c, 1)
        }
        let b = try directory.database(named: "b")
        #expect(try await onOwnThread { try Self.values(b) } == [7])
    }

    /// A backup from one database into another needs both at once.
    @Test func backupsIntoAnotherDatabase() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        for (number, pair) in [(a, b), (b, a)].enumerated() {
            try await onOwnThread {
                try Self.insert(pair.0, number)
                try pair.0.backup(to: pair.1)
            }
            try await onOwnThread { try Self.insert(pair.0, 10 + number) }
            try await pair.0.backupAsync(to: pair.1)
            #expect(try await onOwnThread { try Self.values(pair.1) }.suffix(1) == [10 + number])
        }
        try await until("one is open") { directory.statistics.openCount == 1 }
    }

    /// An observer of transactions may write into another database.
    @Test func observersThatUseAnotherDatabase() async throws {
        final class Copier: TransactionObserver {
            let destination: SharedDatabase
            init(_ destination: SharedDatabase) { self.destination = destination }
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {
                #expect(throws: Never.self) { try DirectorySeamTests.insert(destination, 1) }
            }
            func databaseDidRollback(_ db: Database) {}
        }
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await a.writeWithoutTransaction { db in
            db.add(transactionObserver: Copier(b), extent: .nextTransaction)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }
        #expect(try await onOwnThread { try Self.values(b) } == [1])
    }

    // MARK: - Closing

    /// A database is closed when `close` returns, also if the directory had begun to close it.
    @Test(arguments: [false, true]) func closingWhatIsBeingClosed(closesAll: Bool) async throws {
        let (isClosing, mayClose) = (Step("a is being closed"), Step("a may be closed"))
        let tracer = ClosingTracer { connection in
            guard connection.role == .reader, connection.database.path.hasSuffix("/a.sqlite") else { return }
            isClosing.reach()
            #expect(throws: Never.self) { try mayClose.wait() }
        }
        let directory = try make(1) { $0.tracers = [tracer] }
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread {
            try Self.insert(a, 1)
            _ = try Self.values(a)
        }
        let other = OwnThread { try b.write { _ in } }
        try await isClosing.reached()
        let gate = try #require(a.pool.opener?.poolGate as? DirectoryGate)
        let closer = OwnThread {
            if closesAll { try directory.close() } else { try a.close() }
            return try folder.openFiles.filter { $0.contains("/a.sqlite") }
        }
        let task = Task {
            if closesAll { try await directory.closeAsync() } else { try await a.closeAsync() }
            return try folder.openFiles.filter { $0.contains("/a.sqlite") }
        }
        try await until("both wait") { gate.closingWaiterCount == 2 }
        mayClose.reach()
        #expect(try await closer.value == [])
        #expect(try await task.value == [])
        try await other.value
    }

    /// To close a closed database needs no place.
    @Test func closingWhatIsClosed() async throws {
        let directory = try make(1)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread { try Self.insert(a, 1) }
        let (isInB, mayLeaveB) = (Step("b writes"), Step("b may end"))
        let holder = OwnThread {
            try b.write { _ in
                isInB.reach()
                try mayLeaveB.wait()
            }
        }
        try await isInB.reached()
        try await onOwnThread {
            try a.close()
            try a.close(gracePeriod: .zero, interruptionTimeout: .milliseconds(1))
        }
        try await a.closeAsync()
        try await a.close(gracePeriod: .zero, interruptionTimeout: .milliseconds(1))
        mayLeaveB.reach()
        try await holder.value
        // It is open after a period of grace, which closes it.
        try await a.close(gracePeriod: .seconds(10))
        #expect(try await onOwnThread { try Self.values(a) } == [1])
        try await a.close(gracePeriod: .seconds(10))
        #expect(!a.isOpened)
        #expect(try await onOwnThread { try Self.values(b) } == [])
    }

    /// All are closed, also those that an observation alone has.
    @Test func closingWhatTheProgramHasReleased() async throws {
        let directory = try make(1)
        let counts = Recorded<[Int]>([])
        let cancellable = try ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")! }
            .start(in: directory.database(named: "a"), scheduling: .async(onQueue: .global())) { error in
                Issue.record(error)
            } onChange: { count in
                counts.update { $0.append(count) }
            }
        try await until("the first value") { counts.value == [0] }
        try await directory.database(named: "b").write { _ in }
        try await directory.database(named: "a").write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        try await until("the second value") { counts.value.last == 1 }
        // The observation may fetch once more, because its database was opened.
        var isClosed = false
        for _ in 0..<1_000 where !isClosed {
            try await directory.closeAsync()
            isClosed = try folder.openFiles == [] && directory.statistics.openCount == 0
        }
        #expect(isClosed)
        cancellable.cancel()
    }

    // MARK: - The directory's end

    /// An access that waits for a database which the program has released is served when the directory ends.
    @Test func accessesThatOutliveAll() async throws {
        var directory: DatabaseDirectory? = try make(1)
        let a = try #require(try directory?.database(named: "a"))
        let (isInA, mayLeaveA) = (Step("a writes"), Step("a may end"))
        let holder = OwnThread {
            try a.write { _ in
                isInA.reach()
                try mayLeaveA.wait()
            }
        }
        try await isInA.reached()
        let hasRun = Step("b was read")
        try directory?.database(named: "b").asyncRead { result in
            #expect(throws: Never.self) { _ = try result.get() }
            hasRun.reach()
        }
        try await until("b waits") { directory?.statistics.waitingCount == 1 }
        directory = nil
        try await hasRun.reached()
        mayLeaveA.reach()
        try await holder.value
    }

    /// A barrier write keeps both gates of a database that the program has released.
    @Test func barriersThatOutliveTheirDatabase() async throws {
        let directory = try make(1)
        let (a, hasRun) = (try directory.database(named: "a"), Step("b was written"))
        try await onOwnThread {
            try a.write { _ in
                try directory.database(named: "b").asyncBarrierWriteWithoutTransaction { result in
                    #expect(throws: Never.self) { _ = try result.get() }
                    hasRun.reach()
                }
            }
        }
        try await hasRun.reached()
        try await onOwnThread { try Self.insert(a, 1) }
    }

    // MARK: - Observations

    /// Observations of more databases than can be open come to rest.
    @Test func observationsComeToRest() async throws {
        let directory = try make(2)
        let databases = try (0..<20).map { try directory.database(named: "\($0)") }
        let counts = Recorded<[Int: Int]>([:])
        let cancellables = databases.enumerated().map { number, database in
            ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")! }
                .start(in: database, scheduling: .async(onQueue: .global())) { error in
                    Issue.record(error)
                } onChange: { count in
                    counts.update { $0[number] = count }
                }
        }
        try await until("the first values") { counts.value.count == 20 }
        for round in 1...5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for database in databases {
                    group.addTask {
                        try await database.write { db in
                            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [round])
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await until("round \(round)") { counts.value.values.allSatisfy { $0 == round } }
        }
        // Nothing is opened any more.
        var (last, equalCount) = (-1, 0)
        while equalCount < 10_000 {
            await Task.yield()
            let count = directory.statistics.openedCount
            equalCount = count == last ? equalCount + 1 : 0
            last = count
            if count > 100_000 { throw Step.NeverReached("rest") }
        }
        for cancellable in cancellables { cancellable.cancel() }
    }
}

/// Receives the ends of connections.
private final class ClosingTracer: DatabaseTracer {
    let options: DatabaseTracing.Options
    private let didClose: @Sendable (DatabaseTraceEvent.Connection) -> Void

    init(_ didClose: @escaping @Sendable (DatabaseTraceEvent.Connection) -> Void) {
        options = DatabaseTracing.Options(.connections)
        self.didClose = didClose
    }

    func receive(_ event: DatabaseTraceEvent) {
        if case .connectionClosed(let connection) = event { didClose(connection) }
    }
}

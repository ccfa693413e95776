import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Shared databases that are closed while the library works on them: closing waits, and the work ends soon.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ClosingBesideWorkTests {
    /// The ways to close a database.
    enum Closing: String, CaseIterable, CustomTestStringConvertible {
        case close, window

        var testDescription: String { rawValue }

        func run(_ database: SharedDatabase) async throws {
            switch self {
            case .close: try await database.closeAsync()
            case .window: try await database.withClosedDatabase { files in _ = try files.sizes() }
            }
        }
    }

    let folder: TemporaryFolder
    private let events = Recorded<[WALEvent]>([])

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// - parameter clock: doesn't tick.
    private func make(_ change: (inout Configuration) -> Void = { _ in }) throws -> SharedDatabase {
        var configuration = Configuration()
        configuration.logClock = IdleClock(seconds: 1e6)
        configuration.wal.idleDelay = 0
        configuration.maintenance = .off
        configuration.onWALEvent { [events] event in events.update { $0.append(event) } }
        change(&configuration)
        let database = SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        return database
    }

    private func insert(_ database: SharedDatabase, kilobytes: Int) throws {
        try database.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (zeroblob(?))", arguments: [kilobytes * 1024])
        }
    }

    /// A check of the file is an access of the program: closing waits for it as for any other.
    @Test(arguments: Closing.allCases) func integrityCheck(_ closing: Closing) async throws {
        let database = try make()
        let (isRunning, mayEnd) = (Step("the check runs"), Step("the check may end"))
        let check = Task {
            try await database.checkIntegrity { step in
                guard !isRunning.isReached else { return }
                isRunning.reach()
                try mayEnd.wait()
            }
        }
        try await isRunning.reached()
        let isClosed = Recorded(false)
        let task = Task {
            try await closing.run(database)
            isClosed.update { $0 = true }
        }
        let readers = database.pool.readers.group
        try await until("closing waits for the readers") { readers.waiterCount == 1 }
        #expect(!isClosed.value)
        mayEnd.reach()
        let report = try await check.value
        #expect(!report.isDamaged)
        try await task.value
        #expect(!database.isOpened)
    }

    /// A database that isn't open, whose next read waits in the preparation of the connection that writes, and closing,
    /// which has taken that connection's place, and waits for the reader.
    private struct Crossing {
        let database: SharedDatabase
        let read: OwnThread<Int?>
        let closing: Task<Void, any Error>
        let mayOpen: Step
    }

    /// - parameter prepare: prepares the connections of that read.
    private func cross(
        _ closing: Closing, _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> Crossing {
        let (isOpening, mayOpen) = (Step("the read opens the database"), Step("closing waits"))
        let isGated = Recorded(false)
        let database = try make { configuration in
            configuration.prepareDatabase { db in
                guard isGated.value else { return }
                try prepare(db)
                guard !db.configuration.readonly, !isOpening.isReached else { return }
                isOpening.reach()
                try mayOpen.wait()
            }
        }
        try await database.closeAsync()
        isGated.update { $0 = true }
        let read = OwnThread {
            try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        }
        try await isOpening.reached()
        let task = Task { try await closing.run(database) }
        let readers = database.pool.readers.group
        try await until("closing has the writer, and waits for the readers") { readers.waiterCount == 1 }
        return Crossing(database: database, read: read, closing: task, mayOpen: mayOpen)
    }

    private func expectNothingIsLeft(of database: SharedDatabase) throws {
        #expect(try folder.openFiles.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"))
    }

    /// A read opens the connection that writes first. If closing has taken that one's place meanwhile, it is still
    /// closed after the reader: a reader that is closed last leaves its log.
    @Test(arguments: Closing.allCases) func aReadThatOpens(_ closing: Closing) async throws {
        let crossing = try await cross(closing)
        crossing.mayOpen.reach()
        #expect(try await crossing.read.value == 0)
        try await crossing.closing.value
        try expectNothingIsLeft(of: crossing.database)
        try insert(crossing.database, kilobytes: 1)
    }

    /// The preparation of the connection that writes commits a row, which the preparation of the reader reads. A hard
    /// link's name has no log of the other name: the row is in the file.
    @Test(arguments: Closing.allCases) func aReadWhosePreparationWrites(_ closing: Closing) async throws {
        let crossing = try await cross(closing) { db in
            if db.configuration.readonly {
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
            } else {
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
        }
        crossing.mayOpen.reach()
        #expect(try await crossing.read.value == 1)
        try await crossing.closing.value
        try expectNothingIsLeft(of: crossing.database)
        let link = folder.file("link.sqlite")
        try FileManager.default.linkItem(atPath: crossing.database.path, toPath: link)
        let count = try await DatabaseQueue(path: link).read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        }
        #expect(count == 1)
    }

    /// The reader can't be opened: the read fails, and closing closes the connection that writes.
    @Test(arguments: Closing.allCases) func aReadThatCannotOpen(_ closing: Closing) async throws {
        struct OwnError: Error {}
        let mayRead = Recorded(false)
        let crossing = try await cross(closing) { db in
            if db.configuration.readonly, !mayRead.value { throw OwnError() }
        }
        crossing.mayOpen.reach()
        await #expect(throws: OwnError.self) { try await crossing.read.value }
        try await crossing.closing.value
        try expectNothingIsLeft(of: crossing.database)
        mayRead.update { $0 = true }
        #expect(try await crossing.database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 0)
    }

    /// Closing is cancelled: the database stays open with the connection that the read has opened.
    @Test(arguments: Closing.allCases) func aReadBesideCancelledClosing(_ closing: Closing) async throws {
        let crossing = try await cross(closing)
        crossing.closing.cancel()
        await #expect(throws: CancellationError.self) { try await crossing.closing.value }
        crossing.mayOpen.reach()
        #expect(try await crossing.read.value == 0)
        #expect(crossing.database.isOpened)
        try insert(crossing.database, kilobytes: 1)
        #expect(crossing.database.pool.writer.group.connectionCount == 1)
        try await crossing.database.closeAsync()
        try expectNothingIsLeft(of: crossing.database)
    }

    /// A check that is cancelled ends at once, and closing goes on.
    @Test(arguments: Closing.allCases) func cancelledIntegrityCheck(_ closing: Closing) async throws {
        let database = try make()
        let isRunning = Step("the check runs")
        let check = Task {
            try await database.checkIntegrity { _ in
                isRunning.reach()
                try spin(until: "the check is cancelled") { Task.isCancelled }
            }
        }
        try await isRunning.reached()
        let task = Task { try await closing.run(database) }
        try await until("closing waits for the readers") { database.pool.readers.group.waiterCount == 1 }
        check.cancel()
        await #expect(throws: CancellationError.self) { try await check.value }
        try await task.value
        #expect(!database.isOpened)
    }

    /// Maintenance has its budget: closing waits for it, and the file is in order.
    @Test(arguments: Closing.allCases) func maintenance(_ closing: Closing) async throws {
        let (isRunning, mayEnd) = (Step("the maintenance runs"), Step("the maintenance may end"))
        let isBlocking = Recorded(false)
        let database = try make { configuration in
            configuration.maintenance = .init()
            configuration.maintenance.interval = 0
            configuration.maintenance.timeBudget = 1_000
            configuration.maintenance.analyzes = true
            configuration.prepareDatabase { db in
                // ANALYZE compares the entries of an index.
                db.add(
                    collation: DatabaseCollation("slow") { (lhs: String, rhs: String) in
                        if isBlocking.value, !isRunning.isReached {
                            isRunning.reach()
                            try? mayEnd.wait()
                        }
                        return lhs == rhs ? 0 : lhs < rhs ? -1 : 1
                    })
            }
        }
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (w TEXT COLLATE slow);
                    INSERT INTO word VALUES ('a'), ('b');
                    CREATE INDEX i ON word (w)
                    """)
        }
        isBlocking.update { $0 = true }
        try await until("the maintenance runs") {
            _ = database.pool.core.logKeeper?.tick()
            return isRunning.isReached
        }
        let task = Task { try await closing.run(database) }
        try await until("closing waits for the writer") { database.pool.writer.group.waiterCount == 1 }
        #expect(database.isOpened)
        mayEnd.reach()
        try await task.value
        #expect(!database.isOpened)
        let statistics = try await database.read { db in try String.fetchAll(db, sql: "SELECT tbl FROM sqlite_stat1") }
        #expect(statistics.contains("word"))
    }

    /// A checkpoint that waits for readers gives up: closing waits for the same readers, and empties the log itself.
    @Test(arguments: Closing.allCases) func checkpoint(_ closing: Closing) async throws {
        let isEmptying = Step("the checkpoint waits for readers")
        let database = try make { configuration in
            // The table alone doesn't reach it: its creation must not wait for the read.
            configuration.wal.sizeLimit = 50_000
            configuration.wal.readerWait = 1_000
            // Its first statement. Closing that came before it would not have to end it.
            configuration.prepareDatabase { db in
                db.trace { event in if "\(event)" == "PRAGMA busy_timeout" { isEmptying.reach() } }
            }
        }
        let (isReading, mayEnd) = (Step("the read runs"), Step("the read may end"))
        let reader = OwnThread {
            try database.read { db in
                _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
                isReading.reach()
                try mayEnd.wait()
            }
        }
        try await isReading.reached()
        try insert(database, kilobytes: 100)
        try await isEmptying.reached()
        let task = Task { try await closing.run(database) }
        let largeLogs = { [events] in events.value.count { if case .logIsLarge = $0 { true } else { false } } }
        try await until("the checkpoint has given up") { largeLogs() == 1 }
        mayEnd.reach()
        try await reader.value
        try await task.value
        #expect(!database.isOpened)
        #expect(try await database.withClosedDatabase { files in try files.sizes().log } == 0)
    }
}

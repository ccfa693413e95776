import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry

/// Shared databases that are closed while the library works on them: closing waits, and the work ends soon.
@Suite(.timeLimit(.minutes(2))) struct ClosingBesideWorkTests {
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

    /// A read opens the connection that writes first. If closing has taken that one's place meanwhile, it is still
    /// closed after the reader: a reader that is closed last leaves its log.
    @Test(arguments: Closing.allCases) func aReadThatOpens(_ closing: Closing) async throws {
        let (isOpening, mayOpen) = (Step("the read opens the database"), Step("closing waits"))
        let isGated = Recorded(false)
        let database = try make { configuration in
            configuration.prepareDatabase { db in
                guard isGated.value, !db.configuration.readonly else { return }
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
        mayOpen.reach()
        #expect(try await read.value == 0)
        try await task.value
        #expect(try folder.openFiles.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"))
        try insert(database, kilobytes: 1)
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
            _ = database.pool.core.log.keeper?.tick()
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

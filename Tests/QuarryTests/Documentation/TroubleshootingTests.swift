import Foundation
import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Each message of the article "Troubleshooting" is provoked here, and has the code that the article gives.
@Suite struct TroubleshootingTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("players.sqlite")
    }

    /// The headings of the article that are messages, with the code on the next line.
    private static func headings() throws -> [(message: String, code: String)] {
        let file = URL(filePath: #filePath).appending(path: "../../../../Sources/Quarry/Quarry.docc/Troubleshooting.md")
        let lines = try String(contentsOf: file.standardized, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            guard lines[index].hasPrefix("### "), index + 2 < lines.count else { return nil }
            return (
                String(lines[index].dropFirst(4)), lines[index + 2].split(separator: "`").first.map(String.init) ?? ""
            )
        }
    }

    /// Expects an error with a message of the article, and the article's code.
    private func provoke(
        _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let heading = try #require(
            try Self.headings().first { $0.message == message }, "the article lacks it", sourceLocation: sourceLocation)
        do {
            try body()
            Issue.record("no error", sourceLocation: sourceLocation)
        } catch let error as DatabaseError {
            #expect("\(error.extendedResultCode)".contains(heading.code), sourceLocation: sourceLocation)
            let parts = message.components(separatedBy: " … ")
            var rest = Substring(error.message ?? "")
            for part in parts {
                let range = rest.range(of: part)
                #expect(range != nil, "\(part) isn't in \(error)", sourceLocation: sourceLocation)
                if let range { rest = rest[range.upperBound...] }
            }
        } catch {
            #expect("\(error)".contains(message), sourceLocation: sourceLocation)
        }
    }

    private func makePool(_ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configure(&configuration)
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
        }
        return pool
    }

    private static let slowSQL = """
        WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000000000) SELECT MAX(i) FROM c
        """

    @Test func eachMessageIsProvoked() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let headings = try Self.headings()
        #expect(headings.count >= 18)
        for heading in headings {
            #expect(source.contains("\"\(heading.message)\""), "nothing provokes \(heading.message)")
        }
    }

    // MARK: - Files

    @Test func files() throws {
        try provoke("could not activate WAL Mode at path: ") { _ = try DatabasePool(path: ":memory:") }
        try provoke("unable to open database file") {
            _ = try DatabasePool(path: folder.file("missing/players.sqlite"))
        }
        try Data("no database, but a text that is long enough to be a file".utf8).write(to: URL(filePath: path))
        try provoke("file is not a database") { _ = try DatabasePool(path: path) }
    }

    @Test func damagedFiles() throws {
        do {
            let pool = try makePool()
            try pool.write { db in
                for number in 0..<2_000 {
                    try db.execute(
                        sql: "INSERT INTO player VALUES (?, ?)", arguments: [number, String(repeating: "x", count: 50)])
                }
            }
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: 8_192)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 40_000))
        try file.close()
        let pool = try DatabasePool(path: path)
        try provoke("database disk image is malformed") {
            _ = try pool.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
        }
    }

    @Test func readOnly() throws {
        let pool = try makePool()
        try provoke("attempt to write a readonly database") {
            try pool.read { db in try db.execute(sql: "DELETE FROM player") }
        }
    }

    /// The file was replaced while the database was open: its log belongs to a file that has no name any more.
    @Test func movedFiles() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.makePlayers() }
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("old.sqlite"))
        expectError(.SQLITE_READONLY_DBMOVED, "attempt to write a readonly database") {
            try queue.write { db in try db.execute(sql: "DELETE FROM player") }
        }
    }

    @Test func missingFolders() throws {
        let path = folder.file("a/b/players.sqlite")
        var config = Configuration()
        config.createsIntermediateDirectories = true
        _ = try DatabasePool(path: path, configuration: config)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func sharedMemory() throws {
        _ = try makePool()
        let faults = try FaultVFS()
        faults.arm(.sharedMemory, nth: 1, code: .SQLITE_IOERR_SHMMAP, andAllAfter: true)
        defer { faults.disarm() }
        try provoke("disk I/O error") {
            let pool = try makePool { $0.vfs = faults.name }
            try pool.read { db in _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") }
        }
    }

    @Test func fullDisks() throws {
        let pool = try makePool()
        try provoke("database or disk is full") {
            try pool.write { db in
                try db.execute(sql: "PRAGMA max_page_count = 2")
                for _ in 0..<100 {
                    try db.execute(
                        sql: "INSERT INTO player (name) VALUES (?)", arguments: [String(repeating: "x", count: 500)])
                }
            }
        }
    }

    @Test func networkFileSystems() throws {
        try provoke("a database in WAL mode must not be on a network file system") {
            try makePool().write { db in try FileSystem.check(db, willBeWAL: true) { _ in "NFS" } }
        }
    }

    // MARK: - Waits

    @Test func locks() throws {
        let pool = try makePool { $0.busyMode = .immediateError }
        let other = try makePool()
        try other.writeWithoutTransaction { _ in
            try other.unsafeReentrantWrite { db in try db.execute(sql: "BEGIN IMMEDIATE") }
            try provoke("database is locked") {
                try pool.write { db in try db.execute(sql: "DELETE FROM player") }
            }
            try other.unsafeReentrantWrite { db in try db.execute(sql: "ROLLBACK") }
        }
    }

    /// A statement that still reads a table keeps its connection from dropping it.
    @Test func lockedTables() throws {
        let pool = try makePool()
        try provoke("database table is locked") {
            try pool.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur'), ('Barbara')")
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
                _ = try rows.next()
                try db.execute(sql: "DROP TABLE player")
            }
        }
    }

    /// Two threads write two databases, in different orders.
    @Test func deadlocks() async throws {
        let first = try makePool()
        let second = try DatabasePool(path: folder.file("teams.sqlite"))
        let (hasFirst, hasSecond) = (Step("a thread has the first"), Step("another has the second"))
        let writers = [(first, second, hasFirst, hasSecond), (second, first, hasSecond, hasFirst)].map { writer in
            OwnThread {
                try writer.0.write { _ in
                    writer.2.reach()
                    try writer.3.wait()
                    try writer.1.write { _ in }
                }
            }
        }
        var failures: [any Error] = []
        for writer in writers {
            do { try await writer.value } catch { failures.append(error) }
        }
        #expect(failures.count == 1)
        try provoke("deadlock: ") { if let failure = failures.first { throw failure } }
    }

    @Test func waitsForAConnection() async throws {
        let pool = try makePool { configuration in
            configuration.acquireTimeout = 0.01
            configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
            configuration.maximumWaiters = 1
            configuration.label = "players"
        }
        let (isInside, mayEnd) = (Step("a write runs"), Step("the write may end"))
        let holder = OwnThread {
            try pool.write { _ in
                isInside.reach()
                try mayEnd.wait()
            }
        }
        try await isInside.reached()
        try await onOwnThread {
            try provoke(
                "timeout while waiting for the writer of … none was free within … (Configuration.acquireTimeout)"
            ) {
                try pool.write { _ in }
            }
        }
        mayEnd.reach()
        try await holder.value
    }

    @Test func tooManyWaiters() async throws {
        let pool = try makePool { $0.maximumWaiters = 1 }
        let (isInside, mayEnd) = (Step("a write runs"), Step("the write may end"))
        let holder = OwnThread {
            try pool.write { _ in
                isInside.reach()
                try mayEnd.wait()
            }
        }
        try await isInside.reached()
        let waiter = OwnThread { try pool.write { _ in } }
        try await until("one waits") { pool.pendingWriteCount == 2 || pool.statistics.writer.waiters == 1 }
        try await onOwnThread {
            try provoke("too many accesses wait for … (Configuration.maximumWaiters)") { try pool.write { _ in } }
        }
        mayEnd.reach()
        try await holder.value
        try await waiter.value
    }

    @Test func statementTimeouts() throws {
        let pool = try makePool {
            $0.statementTimeout = 0.01
            $0.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        }
        try provoke("statement timeout: ") { _ = try pool.read { db in try Int.fetchOne(db, sql: Self.slowSQL) } }
    }

    // MARK: - Programs

    @Test func mistakes() throws {
        let pool = try makePool()
        try provoke("Database methods are not reentrant.") {
            try pool.write { _ in try pool.write { _ in } }
        }
        var escaped: Database?
        try pool.read { db in escaped = db }
        try provoke("Database was used outside of its access.") { try escaped?.execute(sql: "SELECT 1") }
        try provoke("Transaction was aborted") {
            try pool.write { db in
                try db.execute(sql: "ROLLBACK")
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            }
        }
        let snapshotCount = try pool.read { db in try db.makeStatement(sql: "SELECT 1") }
        try provoke("unable to close due to unfinalized statements or unfinished backups") { try pool.close() }
        _ = snapshotCount
        escaped = nil
    }

    @Test func closedDatabases() throws {
        let pool = try makePool()
        try pool.close()
        try provoke("Connection is closed") { try pool.read { _ in } }
    }

    @Test func closingDatabases() async throws {
        let pool = try makePool()
        let (isInside, mayEnd) = (Step("a read runs"), Step("the read may end"))
        let holder = OwnThread {
            try pool.read { _ in
                isInside.reach()
                try mayEnd.wait()
            }
        }
        try await isInside.reached()
        let closing = Task { try await pool.close(gracePeriod: .seconds(60)) }
        // Once the closing has begun, accesses are refused.
        var refusal: Result<Void, any Error> = .success(())
        for _ in 0..<100_000 {
            refusal = await Task { try await pool.read { _ in } }.result
            if case .failure = refusal { break }
        }
        try provoke("Connection is closing") { try refusal.get() }
        mayEnd.reach()
        try await holder.value
        try await closing.value
    }

    @Test func statements() throws {
        let pool = try makePool()
        try provoke("no such table: ") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM players") }
        }
        try provoke("no such module: ") {
            try pool.write { db in try db.execute(sql: "CREATE VIRTUAL TABLE document USING spellfix1") }
        }
        try provoke("FOREIGN KEY constraint failed") {
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE score (player INTEGER NOT NULL REFERENCES player(id))")
                try db.execute(sql: "INSERT INTO score VALUES (7)")
            }
        }
        try provoke("no such column: ") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: #"SELECT * FROM player WHERE name = "Arthur""#) }
        }
        try provoke("near … : syntax error") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FORM player") }
        }
        try provoke("fts5: syntax error near ") {
            try pool.write { db in
                try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts5(title)")
                _ = try Row.fetchAll(db, sql: "SELECT * FROM document('AND')")
            }
        }
        try provoke("wrong number of statement arguments: ") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT ?, ?", arguments: [1]) }
        }
        try provoke("too many SQL variables") {
            try pool.read { db in
                try db.setLimit(.variableNumber, to: 2)
                defer { _ = try? db.setLimit(.variableNumber, to: 250_000) }
                _ = try Row.fetchAll(db, sql: "SELECT ?, ?, ?", arguments: [1, 2, 3])
            }
        }
        try provoke("string or blob too big") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT zeroblob(2000000000)") }
        }
        try provoke("not authorized") {
            try pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT load_extension('spatialite')") }
        }
        struct Season: Decodable, FetchableRecord { var startedAt: Int }
        try provoke("column not found: ") {
            try pool.read { db in _ = try Season.fetchAll(db, sql: "SELECT 2024 AS started_at") }
        }
        struct Roster: Decodable, FetchableRecord { var players: [Season] }
        try provoke("no column, scope or list ") {
            try pool.read { db in _ = try Roster.fetchAll(db, sql: "SELECT 2024 AS started_at") }
        }
        try provoke("could not decode ") {
            try pool.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES (NULL)")
                _ = try String.fetchOne(db, sql: "SELECT name FROM player") as String?
                _ = try String.fetchAll(db, sql: "SELECT name FROM player")
            }
        }
    }

    @Test func constraints() throws {
        let pool = try makePool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
            try db.execute(sql: "INSERT INTO team VALUES (1, 'Reds')")
        }
        try provoke("UNIQUE constraint failed: ") {
            try pool.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('Reds')") }
        }
        try provoke("NOT NULL constraint failed: ") {
            try pool.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES (NULL)") }
        }
        try provoke("Key not found in table ") {
            try pool.read { db in _ = try Sport.Team.find(db, key: 7) }
        }
    }

    @Test func schemas() throws {
        var config = Configuration()
        config.prepareDatabase { db in
            db.add(function: DatabaseFunction("rank", argumentCount: 1, pure: true) { $0[0] })
        }
        do {
            try DatabaseQueue(path: path, configuration: config).write { db in
                try db.execute(sql: "CREATE TABLE player (name TEXT CHECK (rank(name) = name))")
            }
        }
        config.trustedSchema = false
        try provoke("malformed database schema") { _ = try DatabaseQueue(path: path, configuration: config) }
    }

    @Test func sharedTransactions() async throws {
        let pool = try makePool()
        var firstResult: Result<Void, any Error> = .success(())
        // If the keeper of the log is in line between the two, they share nothing: once more.
        for _ in 0..<100 {
            guard case .success = firstResult else { break }
            let (isInside, mayEnd) = (Step("the first write runs"), Step("it may end"))
            let first = Task {
                try await pool.write { db in
                    isInside.reach()
                    try mayEnd.wait()
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
                }
            }
            try await isInside.reached()
            let second = Task {
                try await pool.write { db in
                    try db.execute(sql: "INSERT OR ROLLBACK INTO player VALUES (100, 'Barbara'), (100, 'Craig')")
                }
            }
            try await until("the second waits") { pool.pendingWriteCount >= 2 }
            mayEnd.reach()
            firstResult = await first.result
            await expectError(.SQLITE_CONSTRAINT) { try await second.value }
        }
        try provoke("the transaction that this write shared with others was rolled back") { try firstResult.get() }
    }

    // MARK: - Growth

    /// A snapshot that is forgotten keeps the log from being reset, and is named.
    @Test func logs() throws {
        let pool = try makePool()
        let snapshot = try pool.makeSnapshot(label: "report")
        try pool.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        let log = try #require(pool.walStatistics)
        #expect(log.bytes > 0)
        #expect(log.oldestReader?.label == "report")
        withExtendedLifetime(snapshot) {}
    }

    /// The library tells of a log that it can't empty.
    @Test func logsThatAreLarge() async throws {
        let isTold = Step("the log is reported")
        let readers = Recorded<[WALReader]>([])
        let pool = try makePool { configuration in
            configuration.wal.sizeLimit = 1 << 16
            configuration.wal.readerWait = 0.01
            configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
            configuration.onWALEvent { event in
                guard case .logIsLarge(_, let found) = event else { return }
                readers.update { $0 = found }
                isTold.reach()
            }
        }
        let snapshot = try pool.makeSnapshot(label: "report")
        for _ in 0..<8 {
            try await pool.write { db in
                try db.execute(
                    sql: "INSERT INTO player (name) VALUES (?)", arguments: [String(repeating: "x", count: 20_000)])
            }
        }
        try await isTold.reached()
        #expect(readers.value.map(\.label) == ["report"])
        try snapshot.close()
        try await pool.maintain(for: .seconds(60))
        #expect(pool.walStatistics?.bytes == 0)
    }
}

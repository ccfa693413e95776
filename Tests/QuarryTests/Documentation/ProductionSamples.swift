import Quarry
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport
import Testing

/// The code of the article "Production".
@Suite struct ProductionSamples {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("players.sqlite")
    }

    private let logged = Recorded<[String]>([])

    private func configuration() -> Configuration {
        let logged = logged
        let log = { @Sendable (line: String) in logged.update { $0.append(line) } }
        func productionConfiguration() -> Configuration {
            var config = Configuration()
            config.label = "players"  // names the database in errors, logs and metrics
            config.filePermissions = 0o600  // for new files: the server's user alone
            config.maximumReaderCount = 8  // reads that run at the same time
            config.acquireTimeout = 2  // seconds an access may wait for a connection
            config.maximumWaiters = 1000  // more are refused at once
            config.statementTimeout = 30  // seconds, against a query that never ends
            config.cacheSize = 8 << 20  // bytes of pages for each connection, at most
            config.corruptionPolicy = .readOnly  // a damaged file isn't written any more
            config.onCorruption { event in log("\(event)") }
            config.onWALEvent { event in
                switch event {
                case .checkpoint, .maintenance: break
                default: log("\(event)")
                }
            }
            return config
        }
        return productionConfiguration()
    }

    func alarms(_ dbPool: DatabasePool, since earlier: DatabaseStatistics) -> [String] {
        let now = dbPool.statistics
        let last = now.since(earlier)
        var alarms: [String] = []
        if last.writer.wait.percentile(99) > .milliseconds(500) { alarms.append("writes wait") }
        if last.readers.wait.percentile(99) > .milliseconds(100) { alarms.append("reads wait") }
        if last.transactions.failed > 0 { alarms.append("commits fail") }
        if now.logBytes > 2 * dbPool.configuration.wal.sizeLimit { alarms.append("the log is large") }
        if let age = now.oldestReaderAge, age > .seconds(120) { alarms.append("a reader is old") }
        if dbPool.knownCorruption != nil { alarms.append("the file is damaged") }
        return alarms
    }

    private static let definition = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, bestFriend INTEGER REFERENCES player
        DEFERRABLE INITIALLY DEFERRED)
        """

    @Test func theSettingsReachTheConnections() async throws {
        let dbPool = try await DatabasePool.open(path: path, configuration: configuration())
        try await dbPool.write { db in try db.execute(sql: Self.definition) }
        let kibibytes = [
            try await dbPool.read { db in try Int.fetchOne(db, sql: "PRAGMA cache_size") },
            try await dbPool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA cache_size") },
        ]
        #expect(kibibytes == [-8192, -8192])
        let synchronous = try await dbPool.writeWithoutTransaction { db in try db.synchronousMode() }
        #expect(synchronous == .full)
        try await dbPool.closeAsync()
        #expect(logged.value == [])
    }

    @Test func alarmsOfAHealthyDatabase() async throws {
        let dbPool = try await DatabasePool.open(path: path, configuration: configuration())
        let before = dbPool.statistics
        try await dbPool.write { db in try db.execute(sql: Self.definition) }
        #expect(try await dbPool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") } == 0)
        #expect(alarms(dbPool, since: before).filter { !$0.hasSuffix("wait") } == [])
    }

    @Test func alarmsOfFailedCommitsAndALargeLog() async throws {
        var config = configuration()
        config.wal.sizeLimit = 4096
        let dbPool = try await DatabasePool.open(path: path, configuration: config)
        try await dbPool.write { db in try db.execute(sql: Self.definition) }
        let before = dbPool.statistics
        // A snapshot keeps the log from being emptied.
        let snapshot = try await dbPool.makeSnapshotAsync()
        await expectError(.SQLITE_CONSTRAINT_FOREIGNKEY) {
            try await dbPool.write { db in
                try db.execute(sql: "INSERT INTO player (name, bestFriend) VALUES ('Arthur', 7)")
            }
        }
        try await dbPool.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES (hex(zeroblob(100000)))")
        }
        let alarms = alarms(dbPool, since: before)
        #expect(alarms.contains("commits fail"))
        #expect(alarms.contains("the log is large"))
        try await snapshot.closeAsync()
    }

    @Test func aDamagedFileIsNotWritten() async throws {
        _ = try await onOwnThread { [path] in try DamagedFile(path: path) }
        let dbPool = try await DatabasePool.open(path: path, configuration: configuration())
        await expectError(.SQLITE_CORRUPT) {
            try await dbPool.read { db in _ = try Int.fetchOne(db, sql: DamagedFile.readAll) }
        }
        try await until("the damage is confirmed") { dbPool.knownCorruption != nil }
        #expect(alarms(dbPool, since: dbPool.statistics).contains("the file is damaged"))
        await expectError(.SQLITE_CORRUPT) {
            try await dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
        }
        try await until("the damage is logged") { logged.value.contains { $0.contains("confirmed") } }
    }
}

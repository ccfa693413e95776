import Foundation
import Quarry
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport
import Testing

/// Damage of a file is noticed, confirmed once, and handled as the configuration says.
@Suite("Corruption", .timeLimit(.minutes(2 * TestTime.factor))) struct CorruptionTests {
    private let folder: TemporaryFolder
    private let events = CorruptionEvents()

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func configuration(_ policy: CorruptionPolicy = .report) -> Configuration {
        var configuration = Configuration()
        configuration.label = "players"
        configuration.corruptionPolicy = policy
        events.listen(in: &configuration)
        return configuration
    }

    private func readAll(_ reader: any DatabaseReader) throws {
        expectError(.SQLITE_CORRUPT) {
            try reader.read { db in _ = try Int.fetchOne(db, sql: DamagedFile.readAll) }
        }
    }

    @Test(arguments: ["pool", "queue"]) func errorsAreConfirmedAndReportedOnce(kind: String) async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: file.path, configuration: configuration())
            : try DatabaseQueue(path: file.path, configuration: configuration())
        #expect(writer.knownCorruption == nil)
        try readAll(writer)
        guard case .confirmed(let report)? = await events.next() else { throw Unexpected() }
        #expect(report.path == file.path)
        #expect(report.label == "players")
        #expect(report.error.resultCode == .SQLITE_CORRUPT)
        #expect(report.sql == DamagedFile.readAll)
        #expect(report.integrity.isDamaged)
        #expect(report.integrity.level == .full)
        #expect(writer.knownCorruption?.file == report.file)
        // Further errors and checks report nothing again.
        try readAll(writer)
        #expect(try await writer.checkIntegrity(.quick).isDamaged)
        try await writer.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
        // A false alarm of another file, whose event comes next.
        try DamagedFile.makeIntact(folder.file("other"))
        let other = try DatabaseQueue(path: folder.file("other"), configuration: configuration())
        try raiseFalseAlarm(other)
        guard case .falseAlarm? = await events.next() else { throw Unexpected() }
        try writer.close()
    }

    private func raiseFalseAlarm(_ queue: DatabaseQueue) throws {
        try queue.read { db in
            db.add(
                function: DatabaseFunction("broken", argumentCount: 0) { _ in
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a function's own error")
                })
            expectError(.SQLITE_CORRUPT) { try Row.fetchAll(db, sql: "SELECT broken()") }
        }
    }

    @Test func errorsOfFunctionsAreFalseAlarms() async throws {
        try DamagedFile.makeIntact(folder.file("db"))
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: configuration(.readOnly))
        try raiseFalseAlarm(queue)
        guard case .falseAlarm(let error)? = await events.next() else { throw Unexpected() }
        #expect(error.message == "a function's own error")
        #expect(queue.knownCorruption == nil)
        try await queue.write { db in try db.execute(sql: "DELETE FROM team") }
    }

    @Test func filesThatAreNoDatabasesAreReported() async throws {
        try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: folder.file("db")))
        expectError(.SQLITE_NOTADB) { try DatabasePool(path: folder.file("db"), configuration: configuration()) }
        guard case .confirmed(let report)? = await events.next() else { throw Unexpected() }
        #expect(report.error.resultCode == .SQLITE_NOTADB)
        #expect(report.integrity.problems.map(\.message) == ["file is not a database"])
    }

    @Test func checksOfTheProgramMakeDamageKnown() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        // Nobody is told: errors are not checked.
        let queue = try DatabaseQueue(path: file.path)
        try readAll(queue)
        #expect(queue.knownCorruption == nil)
        #expect(try await queue.checkIntegrity(.quick).isDamaged)
        #expect(queue.knownCorruption?.path == file.path)
    }

    @Test func memoryIsNotChecked() throws {
        let queue = try DatabaseQueue(configuration: configuration())
        try raiseFalseAlarm(queue)
        #expect(try queue.checkIntegrity().isIntact)
        #expect(queue.knownCorruption == nil)
    }

    @Test(arguments: ["pool", "queue"]) func readOnlyDatabasesRefuseWritesAndGoOnReading(kind: String) async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: file.path, configuration: configuration(.readOnly))
            : try DatabaseQueue(path: file.path, configuration: configuration(.readOnly))
        try await writer.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
        try readAll(writer)
        guard case .confirmed? = await events.next() else { throw Unexpected() }
        let message = "players is damaged, and can only be read (Configuration.corruptionPolicy)"
        expectError(.SQLITE_CORRUPT, message) {
            try writer.write { db in try db.execute(sql: "DELETE FROM team") }
        }
        expectError(.SQLITE_CORRUPT, message) {
            try writer.writeWithoutTransaction { db in try db.execute(sql: "DELETE FROM team") }
        }
        await expectError(.SQLITE_CORRUPT, message) {
            try await writer.write { db in try db.execute(sql: "DELETE FROM team") }
        }
        #expect(try await writer.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") } == 2)
        #expect(try await writer.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") } == 2)
        #expect(try await writer.checkIntegrity(.quick).isDamaged)
        try writer.close()
    }

    @Test func damagedFilesAreQuarantined() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let pool = try DatabasePool(path: file.path, configuration: configuration(.handle { _ in .quarantine }))
        try await pool.write { db in try db.execute(sql: "INSERT INTO team VALUES (2, 'Blues')") }
        try readAll(pool)
        guard case .confirmed? = await events.next(), case .quarantined(_, let copy)? = await events.next() else {
            throw Unexpected()
        }
        #expect(copy.hasPrefix(file.path + ".corrupt-2"))
        expectError(.SQLITE_CORRUPT) { try pool.write { db in try db.execute(sql: "DELETE FROM team") } }
        // The copy has the commits of the log, and can be salvaged while the pool is open.
        let report = try await DatabaseSalvage(path: copy).salvage(into: folder.file("salvaged"))
        #expect(report.tables.first { $0.name == "team" }?.savedRowCount == 2)
        // The locks of the pool are still held.
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") } == 2)
        try pool.close()
    }

    @Test func damagedFilesAreRestored() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let backup = folder.file("backup")
        try DamagedFile.makeIntact(backup)
        let pool = try DatabasePool(
            path: file.path, configuration: configuration(.handle { _ in .restore(fromPath: backup) }))
        try readAll(pool)
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next(),
            case .restored(_, let path)? = await events.next()
        else { throw Unexpected() }
        #expect(path == backup)
        #expect(pool.knownCorruption == nil)
        #expect(try await pool.read { db in try Int.fetchOne(db, sql: DamagedFile.readAll) } == DamagedFile.rowCount)
        try await pool.write { db in try db.execute(sql: "DELETE FROM team") }
        #expect(try await pool.checkIntegrity().isIntact)
        try pool.close()
    }

    @Test func programsThatRestoreCanWriteAgain() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let (backup, damaged) = (folder.file("backup"), try DamagedFile(path: folder.file("damaged")))
        try DamagedFile.makeIntact(backup)
        let pool = try DatabasePool(path: file.path, configuration: configuration(.readOnly))
        try readAll(pool)
        guard case .confirmed? = await events.next() else { throw Unexpected() }
        expectError(.SQLITE_CORRUPT) { try pool.write { db in try db.execute(sql: "DELETE FROM team") } }
        await expectError(DatabaseError.self) { try await pool.restore(from: damaged.path) }
        expectError(.SQLITE_CORRUPT) { try pool.write { db in try db.execute(sql: "DELETE FROM team") } }
        try await pool.restore(from: backup)
        #expect(pool.knownCorruption == nil)
        try await pool.write { db in try db.execute(sql: "DELETE FROM team") }
        try pool.close()
    }

    @Test func damagedBackupsAreNotRestored() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let backup = try DamagedFile(path: folder.file("backup"))
        let queue = try DatabaseQueue(
            path: file.path, configuration: configuration(.handle { _ in .restore(fromPath: backup.path) }))
        try readAll(queue)
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next(),
            case .failed(_, let error as DatabaseError)? = await events.next()
        else { throw Unexpected() }
        #expect(error.resultCode == .SQLITE_CORRUPT && error.message?.contains(backup.path) == true)
        #expect(queue.knownCorruption != nil)
        expectError(.SQLITE_CORRUPT) { try queue.write { db in try db.execute(sql: "DELETE FROM team") } }
        #expect(try await queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") } == 1)
    }

    @Test func replacedFilesAreClean() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let queue = try DatabaseQueue(path: file.path, configuration: configuration())
        try readAll(queue)
        guard case .confirmed? = await events.next() else { throw Unexpected() }
        #expect(queue.knownCorruption != nil)
        try DamagedFile.makeIntact(folder.file("new"))
        #expect(rename(folder.file("new"), file.path) == 0)
        #expect(queue.knownCorruption == nil)
    }

    @Test func closuresMayUseAndCloseTheDatabase() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        let box = Recorded<DatabaseQueue?>(nil)
        var configuration = configuration(
            .handle { _ in
                let queue = box.value
                _ = try? await queue?.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") }
                try? await queue?.closeAsync()
                return .quarantine
            })
        events.listen(in: &configuration)
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        box.update { $0 = queue }
        try readAll(queue)
        guard case .confirmed? = await events.next(), case .failed(_, let error as DatabaseError)? = await events.next()
        else { throw Unexpected() }
        #expect(error.message == "Connection is closed")
        box.update { $0 = nil }
    }

    @Test func databasesAreReleasedWhileTheyAreChecked() async throws {
        let file = try DamagedFile(path: folder.file("db"))
        do { try readAll(DatabaseQueue(path: file.path, configuration: configuration(.readOnly))) }
        guard case .confirmed? = await events.next() else { throw Unexpected() }
    }

    struct Unexpected: Error {}
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// The handling of damage together with accesses, observations, closing, restorations by others, backups that are
/// damaged too, and databases beside the main one.
@Suite("Corruption policies", .timeLimit(.minutes(2 * TestTime.factor))) struct CorruptionPolicyTests {
    private let folder: TemporaryFolder
    private let events = CorruptionEvents()
    private var path: String { folder.file("db") }
    private var backup: String { folder.file("backup") }

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        _ = try DamagedFile(path: folder.file("db"))
        try DamagedFile.makeIntact(folder.file("backup"))
    }

    /// A policy whose decision is asked for, and comes, at steps of the test.
    private struct Decision: Sendable {
        let isAsked = Step("the policy is asked")
        let isMade = Step("the decision is made")
        let action: CorruptionAction

        var policy: CorruptionPolicy {
            .handle { _ in
                isAsked.reach()
                try? await isMade.reached()
                return action
            }
        }
    }

    private func configuration(_ policy: CorruptionPolicy, _ events: CorruptionEvents? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.label = "players"
        configuration.corruptionPolicy = policy
        (events ?? self.events).listen(in: &configuration)
        return configuration
    }

    private func readAll(_ reader: any DatabaseReader) throws {
        expectError(.SQLITE_CORRUPT) { try reader.read { db in _ = try Int.fetchOne(db, sql: DamagedFile.readAll) } }
    }

    private func teams(_ reader: any DatabaseReader) throws -> [String] {
        try reader.read { db in try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY id") }
    }

    private func addTeam(_ writer: any DatabaseWriter, _ name: String) throws {
        try writer.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: [name]) }
    }

    private var quarantinedNames: [String] {
        get throws { try FileCopy.names(in: folder.path).filter { $0.hasPrefix("db.corrupt-") } }
    }

    struct Unexpected: Error {}

    // MARK: - Closing

    @Test(arguments: ["pool", "queue"], [CorruptionAction.quarantine, .restore(fromPath: "backup")])
    func databasesClosedBeforeTheDecisionAreLeftAsTheyAre(kind: String, action: CorruptionAction) async throws {
        let decision = Decision(action: action == .quarantine ? action : .restore(fromPath: backup))
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: path, configuration: configuration(decision.policy))
            : try DatabaseQueue(path: path, configuration: configuration(decision.policy))
        try readAll(writer)
        try await decision.isAsked.reached()
        try await writer.closeAsync()
        let damaged = FileCopy.bytes(path)
        decision.isMade.reach()
        guard case .confirmed? = await events.next(),
            case .failed(path, let error as DatabaseError)? = await events.next()
        else { throw Unexpected() }
        #expect(error.resultCode == .SQLITE_MISUSE && error.message == "Connection is closed")
        #expect(FileCopy.bytes(path) == damaged)
        #expect(try quarantinedNames == [])
    }

    @Test func damageIsReportedThoughTheDatabaseIsClosedAtOnce() async throws {
        let pool = try DatabasePool(path: path, configuration: configuration(.readOnly))
        try readAll(pool)
        try pool.close()
        guard case .confirmed(let report)? = await events.next() else { throw Unexpected() }
        #expect(report.path == path)
    }

    // MARK: - Observations

    @Test func observationsFailWithTheDamageAndOthersSeeTheRestoredContent() async throws {
        let decision = Decision(action: .restore(fromPath: backup))
        let pool = try DatabasePool(path: path, configuration: configuration(decision.policy))
        let names = ValueObservation.tracking { db in try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY id")
        }
        var teams = names.values(in: pool).makeAsyncIterator()
        #expect(try await teams.next() == ["Reds"])
        try addTeam(pool, "Blues")
        #expect(try await teams.next() == ["Reds", "Blues"])
        let players = ValueObservation.tracking { db in try Int.fetchOne(db, sql: DamagedFile.readAll) }
        await expectError(.SQLITE_CORRUPT) { for try await _ in players.values(in: pool) {} }
        try await decision.isAsked.reached()
        decision.isMade.reach()
        guard case .confirmed(let report)? = await events.next(), case .quarantined? = await events.next(),
            case .restored? = await events.next()
        else { throw Unexpected() }
        #expect(report.sql == DamagedFile.readAll)
        // The observation of the undamaged table went on.
        #expect(try await teams.next() == ["Reds"])
        var counts = players.values(in: pool).makeAsyncIterator()
        #expect(try await counts.next() == DamagedFile.rowCount)
    }

    // MARK: - Restorations by others

    @Test func decisionsAfterARestorationOfTheProgramAreNotCarriedOut() async throws {
        for action in [CorruptionAction.restore(fromPath: backup), .quarantine, .readOnly] {
            let damaged = folder.file("damaged")
            _ = try DamagedFile(path: damaged)
            let decision = Decision(action: action)
            let pool = try DatabasePool(path: damaged, configuration: configuration(decision.policy))
            try readAll(pool)
            try await decision.isAsked.reached()
            try await pool.restore(from: backup)
            try addTeam(pool, "Greens")
            decision.isMade.reach()
            guard case .confirmed? = await events.next(), case .repaired(let report)? = await events.next() else {
                throw Unexpected()
            }
            #expect(report.path == damaged)
            try addTeam(pool, "Blues")
            #expect(try teams(pool) == ["Reds", "Greens", "Blues"])
            try pool.close()
            FileCopy.remove(damaged)
        }
        #expect(try FileCopy.names(in: folder.path) == ["backup", "db"])
    }

    /// As two processes: each has its own connections and knows nothing of the other.
    @Test(arguments: ["pool", "queue"]) func oneOfTwoDatabasesOfAFileRestoresIt(kind: String) async throws {
        let (first, second) = (
            Decision(action: .restore(fromPath: backup)), Decision(action: .restore(fromPath: backup))
        )
        let secondEvents = CorruptionEvents()
        func open(_ configuration: Configuration) throws -> any DatabaseWriter {
            kind == "pool"
                ? try DatabasePool(path: path, configuration: configuration)
                : try DatabaseQueue(path: path, configuration: configuration)
        }
        let one = try open(configuration(first.policy))
        let other = try open(configuration(second.policy, secondEvents))
        for (writer, decision) in [(one, first), (other, second)] {
            try readAll(writer)
            try await decision.isAsked.reached()
        }
        first.isMade.reach()
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next(),
            case .restored? = await events.next()
        else { throw Unexpected() }
        // The other one's restoration would lose commits that were acknowledged after this one's.
        try addTeam(one, "Greens")
        second.isMade.reach()
        guard case .confirmed? = await secondEvents.next(), case .repaired? = await secondEvents.next() else {
            throw Unexpected()
        }
        #expect(other.knownCorruption == nil)
        try addTeam(other, "Blues")
        #expect(try teams(one) == ["Reds", "Greens", "Blues"])
        #expect(try teams(other) == ["Reds", "Greens", "Blues"])
        #expect(try quarantinedNames.count == 1)
        try one.close()
        try other.close()
    }

    @Test(arguments: ["pool", "queue"]) func checksThatFindNothingLetReadOnlyDatabasesWrite(kind: String) async throws {
        let other = try DatabaseQueue(path: path)
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: path, configuration: configuration(.readOnly))
            : try DatabaseQueue(path: path, configuration: configuration(.readOnly))
        try readAll(writer)
        guard case .confirmed? = await events.next() else { throw Unexpected() }
        #expect(try await writer.checkIntegrity().isDamaged)
        try await other.restore(from: backup)
        // A quick check doesn't compare the indexes.
        #expect(try await writer.checkIntegrity(.quick).isIntact)
        expectError(.SQLITE_CORRUPT) { try addTeam(writer, "Blues") }
        #expect(try await writer.checkIntegrity().isIntact)
        #expect(writer.knownCorruption == nil)
        try addTeam(writer, "Blues")
        #expect(try teams(other) == ["Reds", "Blues"])
    }

    /// The other one restores at the last moment: after this one has made its copy.
    @Test func restorationsAreLeftOutIfTheFileIsInOrderByThen() async throws {
        let other = try DatabaseQueue(path: path)
        let (backup, events) = (backup, events)
        var configuration = Configuration()
        configuration.corruptionPolicy = .handle { _ in .restore(fromPath: backup) }
        let isQuarantined = Step("the copy is made")
        let mayRestore = Step("the other one has restored")
        configuration.onCorruption { event in
            events.yield(event)
            guard case .quarantined = event else { return }
            isQuarantined.reach()
            try? mayRestore.wait()
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try readAll(queue)
        try await isQuarantined.reached()
        try await other.restore(from: backup)
        try addTeam(other, "Greens")
        mayRestore.reach()
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next(),
            case .repaired? = await events.next()
        else { throw Unexpected() }
        try addTeam(queue, "Blues")
        #expect(try teams(queue) == ["Reds", "Greens", "Blues"])
    }

    // MARK: - Backups

    @Test(arguments: [0, 1, 2]) func theNewestGoodBackupIsRestored(goodCount: Int) async throws {
        let backups = folder.file("backups")
        try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: false)
        let stored = BackupFolder(path: backups, name: "players")
        // The newest one is damaged too, and the oldest isn't the best.
        for good in 0..<goodCount {
            let path = stored.path + "/" + stored.name(at: 1_000_000 * (good + 1))
            try DamagedFile.makeIntact(path)
            try addTeam(DatabaseQueue(path: path), "backup \(good)")
        }
        if goodCount < 2 { _ = try DamagedFile(path: stored.path + "/" + stored.name(at: 9_000_000)) }
        let policy = CorruptionPolicy.handle { _ in
            guard let newest = try? await stored.newestGood() else { return .quarantine }
            return .restore(fromPath: newest.path)
        }
        let pool = try DatabasePool(path: path, configuration: configuration(policy))
        try readAll(pool)
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next() else {
            throw Unexpected()
        }
        if goodCount > 0 {
            guard case .restored(_, let path)? = await events.next() else { throw Unexpected() }
            #expect(path.hasSuffix(stored.name(at: 1_000_000 * goodCount)))
            #expect(try teams(pool) == ["Reds", "backup \(goodCount - 1)"])
            try addTeam(pool, "Blues")
        } else {
            expectError(.SQLITE_CORRUPT) { try addTeam(pool, "Blues") }
            #expect(try teams(pool) == ["Reds"])
        }
        #expect(try quarantinedNames.count == 1)
        try pool.close()
    }

    @Test func missingBackupsLeaveTheDatabaseReadOnly() async throws {
        let missing = folder.file("missing")
        let queue = try DatabaseQueue(
            path: path, configuration: configuration(.handle { _ in .restore(fromPath: missing) }))
        try readAll(queue)
        guard case .confirmed? = await events.next(), case .quarantined? = await events.next(),
            case .failed(_, let error as DatabaseError)? = await events.next()
        else { throw Unexpected() }
        #expect(error.resultCode == .SQLITE_CANTOPEN)
        #expect(error.message == "restoring players from \(missing): the file does not exist")
        expectError(.SQLITE_CORRUPT) { try addTeam(queue, "Blues") }
        #expect(try teams(queue) == ["Reds"])
        // The program mends it.
        try await queue.restore(from: backup)
        try addTeam(queue, "Blues")
    }

    // MARK: - Other databases of the connection

    @Test func damageOfAnAttachedDatabaseIsNotTheMainOnes() async throws {
        let main = folder.file("main")
        try DamagedFile.makeIntact(main)
        let queue = try DatabaseQueue(path: main, configuration: configuration(.readOnly))
        try await queue.writeWithoutTransaction { [path] db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [path])
        }
        try await queue.read { db in
            _ = expectError(.SQLITE_CORRUPT) {
                try Int.fetchOne(db, sql: "SELECT count(name || id) FROM other.player NOT INDEXED")
            }
        }
        guard case .falseAlarm(let error)? = await events.next() else { throw Unexpected() }
        #expect(error.resultCode == .SQLITE_CORRUPT)
        #expect(queue.knownCorruption == nil)
        #expect(try await queue.checkIntegrity().isIntact)
        try addTeam(queue, "Blues")
        try await queue.write { db in try db.execute(sql: "INSERT INTO other.team VALUES (2, 'Blues')") }
    }

    @Test func temporaryTablesOfADamagedDatabaseAreReadAndNotWritten() async throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(.readOnly))
        try await queue.write { db in
            try db.execute(sql: "CREATE TEMP TABLE mine (a); INSERT INTO mine VALUES (1)")
        }
        try readAll(queue)
        guard case .confirmed? = await events.next() else { throw Unexpected() }
        #expect(try await queue.read { db in try Int.fetchAll(db, sql: "SELECT a FROM mine") } == [1])
        await expectError(.SQLITE_CORRUPT, "players is damaged, and can only be read (Configuration.corruptionPolicy)")
        {
            try await queue.write { db in try db.execute(sql: "INSERT INTO mine VALUES (2)") }
        }
        try await queue.restore(from: backup)
        try await queue.write { db in try db.execute(sql: "INSERT INTO mine VALUES (2)") }
        #expect(try await queue.read { db in try Int.fetchAll(db, sql: "SELECT a FROM mine") } == [1, 2])
    }

    // MARK: - Quarantine

    @Test func failedCopiesLeaveNothing() throws {
        let (path, wal) = (path, path + "-wal")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: wal))
        let names = try FileCopy.names(in: folder.path)
        var nth = 0
        var kinds: Set<FileOperations.Kind> = []
        while true {
            nth += 1
            let state = Recorded<(left: Int, failed: FileOperations.Kind?)>((nth, nil))
            var files = FileOperations()
            files.fault = { kind, _ in
                state.update { state in
                    state.left -= 1
                    if state.left == 0 { state.failed = kind }
                    return state.left == 0 ? ENOSPC : 0
                }
            }
            let result = Result { try Quarantine.copy(path, vfs: nil, files) }
            guard let failed = state.value.failed else {
                #expect(try FileCopy.bytes(result.get()) == FileCopy.bytes(path))
                #expect(try FileCopy.bytes(result.get() + "-wal") == [1, 2, 3])
                break
            }
            kinds.insert(failed)
            let error = expectError(.SQLITE_FULL) { try result.get() }
            #expect(error?.message?.hasPrefix("quarantine of \(path): could not ") == true)
            #expect(try FileCopy.names(in: folder.path) == names, "operation \(nth)")
        }
        #expect(kinds == [.create, .write, .sync, .syncFolder])
    }

    @Test func copiesOfOneSecondHaveDifferentNames() throws {
        // Another process makes its copy at the same moment.
        let names = try (0..<5).map { _ in try Quarantine.copy(path, vfs: nil) }
        #expect(Set(names).count == 5)
        for name in names { #expect(FileCopy.bytes(name) == FileCopy.bytes(path)) }
    }
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// `close(gracePeriod:)` while something else uses the database: a backup, a restoration, a snapshot, a subscriber, a
/// consumer. Accepted work ends, or fails with an error that says why; nothing waits forever; and the log is gone
/// where nothing outside holds it.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct ClosingBesideTests {
    let folder: TemporaryFolder
    let target: TemporaryFolder
    private var copy: String { target.file("copy") }

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        target = try TemporaryFolder(isFast: true)
    }

    private static let short = Duration.milliseconds(10)
    static let long = Duration.seconds(600)
    /// Stands still until the test moves it.
    private let clock = ManualMonotonicClock()
    private static let ended = "Connection is closing: its grace period has ended"
    static let kinds = [WriterKind.pool, .walQueue, .fileQueue]

    func open(
        _ kind: WriterKind = .pool, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> any GroupWriter & DatabaseWriter {
        var configuration = Configuration()
        configuration.label = "players"
        configuration.asyncExecution = .offloaded
        configuration.monotonicClock = clock.monotonicClock
        change(&configuration)
        let writer = try kind.make(folder, configuration)
        try writer.makePages(40)
        return try #require(writer as? any GroupWriter & DatabaseWriter)
    }

    func close(
        _ form: CallForm, _ reader: any DatabaseReader, _ gracePeriod: Duration,
        interruptionTimeout: Duration = .seconds(1_000_000)
    ) -> Task<Void, any Error> {
        Task {
            switch form {
            case .async: try await reader.close(gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout)
            case .sync:
                try await onOwnThread {
                    try reader.close(gracePeriod: gracePeriod, interruptionTimeout: interruptionTimeout)
                }
            }
        }
    }

    func isClosing(_ writer: any GroupWriter) -> Bool {
        writer.writer.group.state.withLock { !$0.machine.phase.isOpen }
    }

    /// Whether the grace period has ended, and closing waits again, for what it has interrupted.
    private func gracePeriodHasEnded(_ writer: any GroupWriter) -> Bool {
        let groups = [writer.writer.group, writer.readers.group]
        let hasEnded = groups[0].state.withLock {
            if case .ending = $0.machine.phase { true } else { false }
        }
        return hasEnded && (groups + writer.core.backups.work(on: groups)).contains { $0.waiterCount == 1 }
    }

    /// Moves the clock until the grace period has ended.
    private func endGracePeriod(of writer: any GroupWriter, _ closing: Task<Void, any Error>) async throws {
        try await until("the grace period has ended", by: closing) {
            // Closing may not have looked at the clock yet.
            clock.advance(by: .milliseconds(1))
            return gracePeriodHasEnded(writer)
        }
    }

    /// Expects that the file is alone, and whole.
    func expectNoLog(of writer: any GroupWriter, rows: Int = 40) throws {
        #expect(try folder.names == [(writer.path as NSString).lastPathComponent])
        #expect(try rowCount(of: DatabaseQueue(path: writer.path)) == rows)
    }

    /// A backup that has copied some pages, and goes on when the step is reached.
    private func backUp(
        _ writer: any DatabaseReader, _ form: CallForm, until mayGoOn: Step
    ) async throws -> Task<BackupResult, any Error> {
        let hasBegun = Step("some pages are copied")
        var options = BackupOptions()
        options.pagesPerStep = 10
        let backup = Task { [options] in
            try await writer.backup(form, toFile: copy, options) { _ in
                hasBegun.reach()
                try mayGoOn.wait()
            }
        }
        try await hasBegun.reached(by: backup)
        return backup
    }

    // MARK: - Backups

    @Test(arguments: kinds, CallForm.allCases) func backupsEnd(_ kind: WriterKind, _ form: CallForm) async throws {
        let writer = try open(kind)
        let before = try contents(of: writer)
        let mayGoOn = Step("closing waits")
        let backup = try await backUp(writer, form, until: mayGoOn)
        let closing = close(form, writer, Self.long)
        try await until("it closes", by: closing) { isClosing(writer) }
        for form in CallForm.allCases {
            await expectError(.SQLITE_MISUSE, "Connection is closing") {
                try await writer.backup(form, toFile: target.file("late"))
            }
        }
        mayGoOn.reach()
        #expect(try await backup.value.pageCount > 40)
        try await closing.value
        #expect(try contents(ofFile: copy) == before && target.names == ["copy"])
        try expectNoLog(of: writer)
    }

    @Test(arguments: kinds, CallForm.allCases) func backupsAreEnded(_ kind: WriterKind, _ form: CallForm) async throws {
        let writer = try open(kind)
        let mayGoOn = Step("the grace period has ended")
        let backup = try await backUp(writer, form, until: mayGoOn)
        let closing = close(form, writer, Self.short)
        try await endGracePeriod(of: writer, closing)
        mayGoOn.reach()
        await expectError(.SQLITE_INTERRUPT, "backup of players to \(copy): \(Self.ended)") { try await backup.value }
        try await closing.value
        #expect(try target.names == [])
        try expectNoLog(of: writer)
    }

    /// The check of the copy runs for long: it is interrupted.
    @Test(arguments: CallForm.allCases) func checksOfBackupsAreInterrupted(_ form: CallForm) async throws {
        let checks = Step("the check runs")
        let isMade = Recorded(false)
        let mayGoOn = Step("the grace period has ended")
        let slow = DatabaseFunction("slow", argumentCount: 1, pure: true) { values in
            if isMade.value {
                checks.reach()
                try mayGoOn.wait()
            }
            return values[0]
        }
        let writer = try open(.pool) { $0.prepareDatabase { db in db.add(function: slow) } }
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE u (a, b); INSERT INTO u VALUES (1, 2); CREATE INDEX i ON u (slow(a))")
        }
        isMade.update { $0 = true }
        let backup = Task {
            defer { checks.reach() }
            var options = BackupOptions()
            options.check = .integrity
            return try await writer.backup(form, toFile: copy, options)
        }
        try await checks.reached(by: backup)
        let closing = close(form, writer, Self.short)
        try await endGracePeriod(of: writer, closing)
        mayGoOn.reach()
        await expectError(.SQLITE_INTERRUPT, "backup of players to \(copy): \(Self.ended)") { try await backup.value }
        try await closing.value
        #expect(try target.names == [])
        try expectNoLog(of: writer)
    }

    @Test(arguments: kinds, CallForm.allCases) func backupThatDoesNotEnd(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try open(kind)
        let mayGoOn = Step("closing has given up")
        let backup = try await backUp(writer, form, until: mayGoOn)
        let closing = close(form, writer, .zero, interruptionTimeout: Self.short)
        try await until("the backup is interrupted", by: closing) { gracePeriodHasEnded(writer) }
        clock.advance(by: Self.short)
        await expectError(
            .SQLITE_BUSY,
            """
            unable to close: the backup of players to \(copy) doesn't end, 0.01 seconds after its interruption
            """
        ) { try await closing.value }
        mayGoOn.reach()
        await expectError(.SQLITE_INTERRUPT) { try await backup.value }
        // The database is open again.
        try writer.insertPage()
        _ = try await writer.backup(form, toFile: copy)
        #expect(try contents(ofFile: copy) == contents(of: writer))
        try await close(form, writer, .zero).value
        try expectNoLog(of: writer, rows: 41)
    }

    @Test(arguments: kinds, CallForm.allCases) func closingInTheClosureOfABackup(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try open(kind)
        let refusals = Recorded<[String?]>([])
        _ = try await writer.backup(form, toFile: copy) { _ in
            let error = expectError(DatabaseError.self) { try writer.close(gracePeriod: Self.long) }
            refusals.update { $0.append(error?.message) }
        }
        #expect(
            refusals.value
                == Array(
                    repeating: "unable to close: the backup of players to \(copy) runs on this thread",
                    count: refusals.value.count))
        #expect(refusals.value.count >= 1)
        try writer.insertPage()
        try await close(form, writer, .zero).value
        try expectNoLog(of: writer, rows: 41)
    }

    /// Of several queues of one database in memory, one closes: the backups of the others go on.
    @Test func backupsOfOtherQueues() async throws {
        let name = "closing-\(UUID())"
        let (first, second) = (try DatabaseQueue(named: name), try DatabaseQueue(named: name))
        try first.makePages(20)
        let snapshotsPool = try #require(try open() as? DatabasePool)
        let snapshot = try snapshotsPool.makeSnapshot()
        for (reader, closed) in [(first, second), (snapshot, snapshotsPool)]
            as [(any DatabaseReader, any DatabaseReader)]
        {
            let mayGoOn = Step("the other is closed")
            let backup = try await backUp(reader, .async, until: mayGoOn)
            try await closed.close(gracePeriod: Self.long)
            mayGoOn.reach()
            _ = try await backup.value
            #expect(try contents(ofFile: copy) == contents(of: reader))
            try FileManager.default.removeItem(atPath: copy)
        }
    }

    /// A backup over another database is an access of both: it ends between two steps.
    @Test(arguments: CallForm.allCases) func copiesOverAnotherDatabaseAreEnded(_ form: CallForm) async throws {
        let writer = try open()
        let other = try DatabaseQueue()
        let (hasBegun, mayGoOn) = (Step("some pages are copied"), Step("the grace period has ended"))
        let backup = Task {
            let progress: @Sendable (DatabaseBackupProgress) throws -> Void = { _ in
                hasBegun.reach()
                try mayGoOn.wait()
            }
            switch form {
            case .async: try await writer.backupAsync(to: other, pagesPerStep: 10, progress: progress)
            case .sync: try await onOwnThread { try writer.backup(to: other, pagesPerStep: 10, progress: progress) }
            }
        }
        try await hasBegun.reached(by: backup)
        let closing = close(form, writer, Self.short)
        try await endGracePeriod(of: writer, closing)
        mayGoOn.reach()
        await expectError(.SQLITE_INTERRUPT, Self.ended) { try await backup.value }
        try await closing.value
        #expect(try await other.read { db in try db.tableExists("t") } == false)
        try expectNoLog(of: writer)
    }

    /// Also where the program asks for one step.
    @Test func copiesInOneStepAreEnded() async throws {
        let pool = try #require(try open() as? DatabasePool)
        try await pool.write { db in
            try db.execute(
                sql: """
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 6000)
                    INSERT INTO t (b) SELECT randomblob(3900) FROM c
                    """)
        }
        let group = pool.readers.group
        let error = DatabaseError(resultCode: .SQLITE_ABORT, message: "ended")
        var isEnded = false
        for _ in 0..<100 where !isEnded {
            let isOver = Recorded(false)
            let copy = OwnThread {
                defer { isOver.update { $0 = true } }
                try pool.backup(to: try DatabaseQueue())
            }
            try await until("it copies") { group.isReadByBackup || isOver.value }
            for access in group.runningAccesses { _ = group.end(access, error) }
            do {
                try await copy.value
            } catch let error as DatabaseError where error.message == "ended" {
                isEnded = true
            }
        }
        #expect(isEnded)
        try await pool.close(gracePeriod: .zero)
    }

    // MARK: - Locks

    private let retries = Recorded(0)

    private func openWaiting(_ kind: WriterKind) throws -> any GroupWriter & DatabaseWriter {
        try open(kind) {
            $0.busyMode = .callback { [retries] _ in
                retries.update { $0 += 1 }
                return true
            }
        }
    }

    @Test(arguments: kinds, CallForm.allCases) func writesThatWaitForALockAreEnded(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try openWaiting(kind)
        try await writer.whileLocked { _ in
            let write = Task {
                switch form {
                case .async: try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
                case .sync:
                    try await onOwnThread { try writer.writeHere { db in try db.execute(sql: "DELETE FROM t") } }
                }
            }
            try await until("it waits for the lock", by: write) { retries.value > 3 }
            let closing = close(form, writer, Self.short)
            try await clock.advance(until: closing)
            try await closing.value
            await expectError(.SQLITE_INTERRUPT, Self.ended) { try await write.value }
        }
        try expectNoLog(of: writer)
    }

    // MARK: - Restorations

    @Test(arguments: kinds, CallForm.allCases) func restorationsEnd(_ kind: WriterKind, _ form: CallForm) async throws {
        let writer = try openWaiting(kind)
        try await writer.backup(toFile: copy)
        try writer.insertPage()
        try await writer.whileLocked { mayEnd in
            let restoration = Task { try await writer.restore(form, from: copy) }
            try await until("it waits for the lock", by: restoration) { retries.value > 3 }
            let closing = close(form, writer, Self.long)
            try await until("it closes", by: closing) { isClosing(writer) }
            mayEnd.reach()
            try await restoration.value
            try await closing.value
        }
        try expectNoLog(of: writer)
    }

    @Test(arguments: kinds, CallForm.allCases) func restorationsAreEnded(
        _ kind: WriterKind, _ form: CallForm
    ) async throws {
        let writer = try openWaiting(kind)
        try await writer.backup(toFile: copy)
        try writer.insertPage()
        try await writer.whileLocked { _ in
            let restoration = Task { try await writer.restore(form, from: copy) }
            try await until("it waits for the lock", by: restoration) { retries.value > 3 }
            let closing = close(form, writer, Self.short)
            try await clock.advance(until: closing)
            try await closing.value
            await expectError(.SQLITE_INTERRUPT, "restoring players from \(copy): \(Self.ended)") {
                try await restoration.value
            }
        }
        try expectNoLog(of: writer, rows: 41)
    }

    /// A restoration whose file is still being checked has not been let in.
    @Test(arguments: CallForm.allCases) func restorationsThatCheckAreRefused(_ form: CallForm) async throws {
        let (checks, mayGoOn) = (Step("the check runs"), Step("the database is closed"))
        let isMade = Recorded(false)
        let writer = try open {
            $0.prepareDatabase { db in
                db.add(
                    function: DatabaseFunction("slow", argumentCount: 1, pure: true) { values in
                        if isMade.value {
                            checks.reach()
                            try mayGoOn.wait()
                        }
                        return values[0]
                    })
            }
        }
        let rows = try rowCount(of: writer)
        let source = try DatabaseQueue(path: copy, configuration: writer.configuration)
        try await source.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2); CREATE INDEX i ON t (slow(a))")
        }
        try source.close()
        isMade.update { $0 = true }
        let restoration = Task {
            defer { checks.reach() }
            try await writer.restore(form, from: copy, check: .integrity)
        }
        try await checks.reached()
        try await close(form, writer, Self.long).value
        mayGoOn.reach()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { try await restoration.value }
        try expectNoLog(of: writer, rows: rows)
    }

    // MARK: - Readers with connections of their own

    @Test(arguments: CallForm.allCases) func snapshotsAndStableReadersStay(_ form: CallForm) async throws {
        let pool = try #require(try open() as? DatabasePool)
        let stable = try await pool.makeStableReader()
        let readers: [any DatabaseReader] = [try pool.makeSnapshot(), try pool.makeSnapshotPool(), stable]
        try pool.insertPage()
        try await close(form, pool, Self.long).value
        for reader in readers { #expect(try rowCount(of: reader) == 40) }
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await pool.makeSnapshotAsync() }
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await pool.makeStableReader() }
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await stable.advance() }
        #expect(try rowCount(of: stable) == 40)
        for reader in readers { try await close(form, reader, Self.long).value }
        // They can't write, and have left the log, which the next pool removes.
        let next = try DatabasePool(path: pool.path)
        #expect(try rowCount(of: next) == 41)
        try await close(form, next, Self.long).value
        try expectNoLog(of: pool, rows: 41)
    }
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore
@testable import QuarryRecovery

/// Disturbances of a database between the steps of its backup: the copy is whole, and of one state, or an error says
/// why there is none; and the next backup works.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct DisturbedBackupTests {
    /// A disturbance, between two steps.
    enum Disturbance: String, CaseIterable, Codable, CustomTestStringConvertible {
        case attach, detach, rollback, vacuum, pageSize, otherJournal, schema, otherConnection, restore, otherPages,
            erase

        var testDescription: String { rawValue }

        func run(_ writer: any DatabaseWriter, _ folder: TemporaryFolder) throws {
            switch self {
            case .attach:
                try writer.writeHere { db in
                    try db.execute(
                        sql: "ATTACH ? AS extra; CREATE TABLE extra.u (a, b); INSERT INTO extra.u VALUES (1, 2)",
                        arguments: [folder.file("extra")])
                }
                try writer.insertPage()
            case .detach:
                try writer.writeHere { db in
                    try db.execute(sql: "ATTACH ? AS extra", arguments: [folder.file("extra")])
                    try db.execute(sql: "CREATE TABLE extra.u (a, b); DETACH extra")
                    try db.execute(sql: "DETACH main")
                }
            case .rollback:
                try writer.writeHere { db in
                    // Its pages are written before they are rolled back.
                    try db.execute(
                        sql: """
                            PRAGMA cache_size = 2; BEGIN; UPDATE t SET b = randomblob(3000); CREATE TABLE u (a, b);
                            DELETE FROM t WHERE a % 2; ROLLBACK
                            """)
                }
            case .vacuum:
                try writer.write { db in try db.execute(sql: "DELETE FROM t WHERE a % 3") }
                try writer.vacuum()
            case .pageSize:
                try writer.writeHere { db in try db.execute(sql: "PRAGMA page_size = 1024; VACUUM") }
            case .otherJournal:
                let mode = try writer.writeHere { db in try db.journalMode() }
                try writer.writeHere { db in try db.setJournalMode(mode == .wal ? .delete : .wal) }
                try writer.insertPage()
            case .schema:
                try writer.write { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE u (a, b); INSERT INTO u SELECT * FROM t; CREATE INDEX i ON u (b);
                            ALTER TABLE t ADD COLUMN c DEFAULT 7; DROP INDEX i
                            """)
                }
            case .otherConnection:
                let other = try DatabaseQueue(path: writer.path)
                try other.insertPage()
                try other.close()
            case .restore: try writer.restore(from: folder.file("source"))
            case .otherPages: try writer.restore(from: folder.file("small"))
            case .erase: try writer.erase()
            }
        }
    }

    let folder: TemporaryFolder
    let target: TemporaryFolder
    var path: String { target.file("copy") }

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        target = try TemporaryFolder(isFast: true)
    }

    /// The outcome: the state of the copy, or the error, and the errors of the disturbance.
    private struct Outcome {
        var states: [[String]]
        var copy: [String]?
        var error: (any Error)?
        var refusals: [String] = []
    }

    private func disturb(
        _ kind: WriterKind, _ form: CallForm, _ body: @escaping @Sendable (any DatabaseWriter) throws -> Void
    ) async throws -> Outcome {
        let writer = try kind.make(folder)
        try writer.makePages(60)
        let states = Recorded([try contents(of: writer)])
        let refusals = Recorded<[String]>([])
        var options = BackupOptions()
        options.pagesPerStep = 10
        var outcome = Outcome(states: [])
        do {
            _ = try await writer.backup(form, toFile: path, options) { progress in
                guard !progress.isCompleted, states.value.count == 1 else { return }
                do { try body(writer) } catch { refusals.update { $0.append("\(error)") } }
                let state = try contents(of: writer)
                states.update { $0.append(state) }
            }
            outcome.copy = try contents(ofFile: path)
            #expect(try target.names == ["copy"])
            try FileManager.default.removeItem(atPath: path)
        } catch {
            outcome.error = error
            #expect(try target.names == [])
        }
        outcome.states = states.value
        outcome.refusals = refusals.value
        // The next one.
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b BLOB)")
        }
        try writer.insertPage()
        _ = try await writer.backup(form, toFile: path, options)
        #expect(try contents(ofFile: path) == contents(of: writer))
        #expect(try contents(of: writer).last == "ok")
        let file = writer.path
        try writer.close()
        #expect(try contents(ofFile: file) == contents(ofFile: path))
        return outcome
    }

    private func makeSources() throws {
        for (name, size) in [("source", 4096), ("small", 1024)] {
            let queue = try DatabaseQueue(path: folder.file(name))
            try queue.writeHere { db in try db.execute(sql: "PRAGMA page_size = \(size)") }
            try queue.makePages(25)
            try queue.close()
        }
    }

    @Test(arguments: Disturbance.allCases, CallForm.allCases) func ofAPinnedState(
        _ disturbance: Disturbance, _ form: CallForm
    ) async throws {
        for kind in [WriterKind.pool, .walQueue] {
            let test = try DisturbedBackupTests()
            try test.makeSources()
            let folder = test.folder
            let outcome = try await test.disturb(kind, form) { writer in try disturbance.run(writer, folder) }
            if let error = outcome.error { throw error }
            #expect(outcome.copy == outcome.states[0], "the copy has the state before")
            switch disturbance {
            case .detach:
                #expect(outcome.refusals.count == 1 && outcome.refusals[0].contains("cannot detach database main"))
            case .otherJournal, .otherPages: #expect(outcome.refusals.count == 1, "\(disturbance)")
            default: #expect(outcome.refusals == [], "\(disturbance)")
            }
        }
    }

    @Test(arguments: Disturbance.allCases, CallForm.allCases) func ofAQueueInAnotherJournalMode(
        _ disturbance: Disturbance, _ form: CallForm
    ) async throws {
        try makeSources()
        let folder = folder
        let outcome = try await disturb(.fileQueue, form) { writer in try disturbance.run(writer, folder) }
        switch disturbance {
        case .restore, .otherPages, .erase:
            let error = outcome.error as? DatabaseError
            #expect(error?.resultCode == .SQLITE_ABORT && outcome.refusals == [])
            #expect(error?.message?.contains("its content replaced, before the backup was complete") == true)
        default:
            if let error = outcome.error { throw error }
            #expect(outcome.copy == outcome.states.last, "the copy has the last state")
            #expect(outcome.refusals.count == (disturbance == .detach ? 1 : 0))
        }
    }

    /// A snapshot's only connection is in use while it is backed up: what its closure does with it is refused, instead
    /// of waiting for the backup.
    @Test(arguments: CallForm.allCases) func ofASnapshotUsedInTheClosure(_ form: CallForm) async throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(60)
        let before = try contents(of: pool)
        let readers: [any DatabaseReader] = [try pool.makeSnapshot(), try await pool.makeStableReader()]
        try pool.insertPage()
        var options = BackupOptions()
        options.pagesPerStep = 20
        options.replacesExisting = true
        for reader in readers {
            let errors = Recorded<[DatabaseError?]>([])
            _ = try await reader.backup(form, toFile: path, options) { progress in
                guard progress.remainingPageCount == progress.totalPageCount - 20 else { return }
                let refusals = [
                    expectError(DatabaseError.self) { try reader.readHere { db in try db.execute(sql: "ROLLBACK") } },
                    expectError(DatabaseError.self) { try reader.close() },
                    expectError(DatabaseError.self) { try reader.close(gracePeriod: .seconds(600)) },
                    expectError(DatabaseError.self) { try reader.backup(toFile: self.target.file("other")) },
                ]
                errors.update { $0 += refusals }
            }
            #expect(errors.value.map { $0?.resultCode } == Array(repeating: .SQLITE_BUSY, count: 4), "\(errors.value)")
            #expect(try contents(ofFile: path) == before && target.names == ["copy"])
            #expect(try contents(of: reader) == before, "it can be used again")
            try await reader.closeAsync()
        }
    }

    /// SQL ends the transaction of a snapshot before its backup.
    @Test(arguments: CallForm.allCases) func ofASnapshotThatIsLost(_ form: CallForm) async throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try pool.makePages(5)
        let snapshot = try pool.makeSnapshot()
        try? snapshot.readHere { db in try db.execute(sql: "ROLLBACK") }
        await expectError(.SQLITE_ABORT, "Snapshot is lost.") { try await snapshot.backup(form, toFile: path) }
        #expect(try target.names == [])
        _ = try await pool.backup(form, toFile: path)
        #expect(try contents(ofFile: path) == contents(of: pool))
    }
}

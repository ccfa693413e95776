import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// Sequences of records that are inserted in steps: the counts, the errors, and the rows that remain.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct BulkWriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    typealias Form = BulkWriteForm

    /// Each step is a transaction.
    private let short = IncrementalWritePace(maximumHold: .zero)

    private func writer(_ kind: WriterKind) throws -> any DatabaseWriter {
        var configuration = Configuration()
        // However slow the machine is, no step takes so long that its transaction ends.
        configuration.monotonicClock = ManualMonotonicClock().monotonicClock
        let writer = try kind.make(folder, configuration)
        try writer.write { db in try db.makePlayers() }
        return writer
    }

    private func players(_ ids: some Sequence<Int>) -> [BulkPlayer] { ids.map { BulkPlayer(id: $0) } }

    @Test(arguments: WriterKind.allCases, Form.allCases) func insertsAll(kind: WriterKind, form: Form) async throws {
        let writer = try writer(kind)
        let told = Recorded<[Int]>([])
        let result = try await form.insert(players(1...300), into: writer) { progress in
            told.update { $0.append(progress.elementCount) }
        }
        let transactionCount = form == .stream ? 3 : 1
        #expect(
            result == BulkWriteProgress(elementCount: 300, rowCount: 300, transactionCount: transactionCount))
        #expect(told.value == (form == .stream ? [100, 200, 300] : [300]))
        #expect(try await writer.playerIDs() == Array(1...300))
    }

    /// The other columns get their default values.
    @Test func someColumns() async throws {
        let writer = try writer(.pool)
        try await onOwnThread { [players = players(1...300)] in
            _ = try writer.insertIncrementally(players, columns: ["id"])
        }
        try await writer.insertIncrementally(players(301...310), columns: ["id"])
        try await writer.insertIncrementally(Form.Stream(players(311...320)), columns: ["id"])
        #expect(try await writer.playerIDs() == Array(1...320))
        #expect(try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(name) FROM player") } == 0)
    }

    /// The pace divides chunks, and chunks end transactions.
    @Test(arguments: Form.allCases) func transactions(form: Form) async throws {
        let writer = try writer(.pool)
        let told = Recorded<[BulkWriteProgress]>([])
        let result = try await form.insert(players(1...300), into: writer, short) { progress in
            told.update { $0.append(progress) }
        }
        #expect(told.value.map(\.elementCount) == (form == .stream ? [100, 200, 300] : [128, 256, 300]))
        #expect(told.value.map(\.transactionCount) == [1, 2, 3])
        #expect(told.value.last == result)
        let chunk = try await writer.insertIncrementally(
            Form.Stream(players(301...600)), chunkSize: 1_000, pace: short)
        #expect(chunk == BulkWriteProgress(elementCount: 300, rowCount: 300, transactionCount: 3))
    }

    /// The rows of ignored conflicts don't count, those of replacements do.
    @Test(arguments: Form.allCases) func conflicts(form: Form) async throws {
        let writer = try writer(.pool)
        try await writer.write { db in try Player(id: 7, name: "Barbara").insert(db) }
        let ignored = try await form.insert(players(1...150), into: writer, onConflict: .ignore)
        #expect(ignored.elementCount == 150 && ignored.rowCount == 149)
        let upserted = try await form.upsert(players(100...250), into: writer, short)
        #expect(upserted.elementCount == 151 && upserted.rowCount == 151 && upserted.transactionCount == 2)
        #expect(try await writer.playerIDs() == Array(1...250))
        #expect(try await writer.read { db in try Player.find(db, key: 7).name } == "Barbara")
    }

    private typealias Player = BulkPlayer

    @Test(arguments: Form.allCases) func noElements(form: Form) async throws {
        let writer = try writer(.pool)
        let result = try await form.insert(players([]), into: writer) { _ in Issue.record("nothing is committed") }
        #expect(result == BulkWriteProgress())
    }

    /// Each form, and each way in which records are inserted: several rows in a statement, one by one because they
    /// have callbacks, one by one because the table says so.
    @Test(arguments: Form.allCases) func failedElements(form: Form) async throws {
        let writer = try writer(.pool)
        var records = players(1...300)
        records[210].id = 5
        let error = await expectBulkError { [records] in _ = try await form.insert(records, into: writer, short) }
        let count = form == .stream ? 200 : 128
        #expect(error?.elementIndex == 210)
        #expect(
            error?.committed
                == BulkWriteProgress(elementCount: count, rowCount: count, transactionCount: form == .stream ? 2 : 1))
        #expect(error?.databaseError?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
        #expect(
            error?.description.hasPrefix(
                "element 210, after \(count) committed ones: SQLite error 19: UNIQUE constraint failed: player.id")
                == true)
        #expect(try await writer.playerIDs() == Array(1...count))
        // The open transaction has all steps.
        try await writer.write { db in _ = try Player.deleteAll(db) }
        let whole = await expectBulkError { [records] in _ = try await form.insert(records, into: writer) }
        #expect(whole?.elementIndex == 210 && whole?.committed.elementCount == (form == .stream ? 200 : 0))
        #expect(try await writer.playerIDs().count == (form == .stream ? 200 : 0))
        // Conflicts that end the transaction.
        try await writer.write { db in _ = try Player.deleteAll(db) }
        let rollback = await expectBulkError { [records] in
            _ = try await form.insert(records, into: writer, onConflict: .rollback, short)
        }
        #expect(rollback?.elementIndex == 210)
        #expect(try await writer.playerIDs() == Array(1...count))
        // Goes on.
        let rest = try await form.insert(players((count + 1)...300), into: writer)
        #expect(rest.elementCount == 300 - count)
        #expect(try await writer.playerIDs() == Array(1...300))
    }

    @Test(arguments: Form.allCases) func failedUpserts(form: Form) async throws {
        let writer = try writer(.pool)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER t BEFORE INSERT ON player WHEN NEW.id = 205
                    BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """)
        }
        let error = await expectBulkError { _ = try await form.upsert(players(1...300), into: writer, short) }
        #expect(error?.elementIndex == 204)
        #expect(try await writer.playerIDs().count == (form == .stream ? 200 : 128))
    }

    /// Classes, whose objects may be of several tables' plans.
    @Test func failedObjects() async throws {
        class Person: Codable, FetchableRecord, PersistableRecord {
            class var databaseTableName: String { "player" }
            var id: Int
            init(_ id: Int) { self.id = id }
        }
        final class Other: Person {}
        let writer = try writer(.pool)
        let error = try await onOwnThread {
            let objects = (1...300).map { id in
                let id = id == 291 ? 1 : id
                return id % 100 < 50 ? Person(id) : Other(id)
            }
            return #expect(throws: BulkWriteError.self) {
                try writer.insertIncrementally(objects, pace: IncrementalWritePace(maximumHold: .zero))
            }
        }
        #expect(error?.elementIndex == 290)
        #expect(try await writer.playerIDs() == Array(1...256))
    }

    /// Foreign keys are checked at the commit: no element is to blame.
    @Test(arguments: Form.allCases) func deferredForeignKeys(form: Form) async throws {
        let writer = try WriterKind.pool.make(folder)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY REFERENCES parent DEFERRABLE INITIALLY DEFERRED, name TEXT);
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    INSERT INTO parent
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 210) SELECT i FROM n;
                    """)
        }
        let error = await expectBulkError { _ = try await form.insert(players(1...300), into: writer, short) }
        let count = form == .stream ? 200 : 128
        #expect(error?.elementIndex == nil && error?.committed.elementCount == count)
        #expect(error?.databaseError?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(error?.description.hasPrefix("bulk write, after \(count) committed ones: SQLite error 19") == true)
        #expect(try await writer.playerIDs() == Array(1...count))
    }

    /// Callbacks that throw, write, or end the transaction.
    @Test(arguments: Form.allCases) func callbacks(form: Form) async throws {
        struct Guarded: Codable, PersistableRecord {
            static let databaseTableName = "player"
            var id: Int
            var name: String?

            func willInsert(_ db: Database) throws {
                if name == "throws" { throw BulkFailure() }
                if let name, name != "writes" { try db.execute(sql: name) }
            }

            func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                _ = try insert()
                if name == "writes" { try db.execute(sql: "INSERT INTO player VALUES (?, NULL)", arguments: [-id]) }
            }
        }
        let writer = try writer(.pool)
        let count = form == .stream ? 200 : 128
        for sql in ["throws", "ROLLBACK", "COMMIT", "INSERT INTO missing VALUES (1)"] {
            var records = (1...300).map { Guarded(id: $0) }
            records[3].name = "writes"
            records[220].name = sql
            let error = await expectBulkError { [records] in
                _ = try await form.insert(records, into: writer, short)
            }
            #expect(error?.elementIndex == 220 && error?.committed.elementCount == count, "\(sql)")
            switch sql {
            case "throws": #expect(error?.underlyingError is BulkFailure)
            case "ROLLBACK": #expect(error?.databaseError?.resultCode == .SQLITE_ABORT)
            case "COMMIT": #expect(error?.databaseError?.resultCode == .SQLITE_MISUSE)
            default: #expect(error?.databaseError?.sql == sql)
            }
            #expect(try await writer.playerIDs() == [-4] + Array(1...count), "\(sql)")
            try await writer.write { db in _ = try Player.deleteAll(db) }
        }
    }

    /// The committed elements are those that the error counts, however an element tries to commit the others.
    @Test(arguments: ["COMMIT", "\u{FEFF}END TRANSACTION x", "commit()", "C function"])
    func elementsThatCommit(_ way: String) async throws {
        let writer = try writer(.pool)
        let error = await expectBulkError {
            try await writer.writeIncrementally(players(1...100)) { db, player in
                try player.insert(db)
                guard player.id == 77 else { return }
                switch way {
                case "commit()": try db.commit()
                case "C function": RawSQL.execute("COMMIT", db)
                default: try db.execute(sql: way)
                }
            }
        }
        #expect(error?.committed == BulkWriteProgress())
        if way != "C function" {
            #expect(error?.elementIndex == 76)
            #expect(
                error?.databaseError?.message
                    == "a step of an incremental write can't commit its transaction, which may have other steps")
        }
        #expect(try await writer.playerIDs() == [])
        // The refusal ends with the write.
        try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; INSERT INTO player VALUES (1, 'a'); COMMIT")
        }
        #expect(try await writer.playerIDs() == [1])
    }

    /// `progress` may use the database, and end the write.
    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool], Form.allCases) func progress(
        kind: WriterKind, form: Form
    ) async throws {
        let writer = try writer(kind)
        let error = await expectBulkError {
            _ = try await form.insert(players(1...300), into: writer, short) { progress in
                let count = try writer.read { db in try Player.fetchCount(db) }
                #expect(count == progress.rowCount)
                if progress.transactionCount == 2 { throw BulkFailure() }
            }
        }
        #expect(error?.underlyingError is BulkFailure && error?.elementIndex == nil)
        #expect(try await writer.playerIDs().count == error?.committed.elementCount)
        #expect(error?.committed.elementCount == (form == .stream ? 200 : 256))
    }

    /// The database is closed between two transactions.
    @Test(arguments: Form.allCases) func closing(form: Form) async throws {
        let writer = try writer(.pool)
        let error = await expectBulkError {
            _ = try await form.insert(players(1...300), into: writer, short) { _ in try writer.close() }
        }
        let count = form == .stream ? 100 : 128
        #expect(error?.databaseError?.message == "Connection is closed")
        #expect(error?.elementIndex == nil && error?.committed.elementCount == count)
        let queue = try DatabaseQueue(path: folder.file("pool.sqlite"))
        #expect(try await queue.playerIDs() == Array(1...count))
    }

    /// The elements of a sequence are read while the connection is held.
    @Test func sequencesThatRead() async throws {
        let reentrant = try await onOwnThread {
            try [WriterKind.memoryQueue, .pool].map { kind in
                let writer = try writer(kind)
                let records = (1...200).lazy.map { id in
                    let count = try? writer.read { db in try BulkPlayer.fetchCount(db) }
                    return BulkPlayer(id: id, name: "\(count ?? -1)")
                }
                try writer.insertIncrementally(records, pace: IncrementalWritePace(maximumHold: .zero))
                return try writer.read { db in
                    try String.fetchAll(db, sql: "SELECT DISTINCT name FROM player ORDER BY id")
                }
            }
        }
        // The first element is read before; the one after the first step's, in it.
        #expect(reentrant == [["0", "-1"], ["0", "128"]])
    }

    private func expectBulkError(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async -> BulkWriteError? {
        await #expect(throws: BulkWriteError.self, sourceLocation: sourceLocation) { try await body() }
    }
}

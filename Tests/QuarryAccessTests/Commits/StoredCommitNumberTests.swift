import Foundation
import Quarry
import QuarryChangesets
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Numbers of commits that the file keeps.
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct StoredCommitNumberTests {
    private let folder = try! TemporaryFolder(isFast: true)

    private var stored: Configuration {
        var configuration = Configuration()
        configuration.commitNumbers = .stored
        return configuration
    }

    private func make(_ kind: WriterKind) throws -> any DatabaseWriter {
        let writer = try kind.make(folder, stored)
        try writer.makeTable()
        return writer
    }

    @Test(arguments: WriterKind.allCases, CommitWay.all)
    func eachCommitHasTheNextNumber(_ kind: WriterKind, _ way: CommitWay) throws {
        let writer = try make(kind)
        try writer.write { db in try db.execute(sql: "INSERT INTO t VALUES (1), (2)") }
        let before = writer.lastCommitNumber.rawValue
        #expect(before == 2)
        try writer.writeWithoutTransaction { db in try way.commit(db) }
        try writer.read { db throws in #expect(try db.commitNumberInFile() == before + way.count) }
        #expect(writer.lastCommitNumber.rawValue == before + way.count)
        // The next one follows.
        let (_, number) = try writer.writeWithCommitNumber { db in try db.execute(sql: "CREATE TABLE next (a)") }
        #expect(number.rawValue == before + way.count + 1)
        try writer.close()
    }

    /// The stream has the same numbers.
    @Test(arguments: WriterKind.allCases) func theSequenceHasThem(_ kind: WriterKind) async throws {
        let writer = try make(kind)
        var commits = writer.commits.makeAsyncIterator()
        for value in 1...20 {
            try await writer.writeWithoutTransaction { db in
                if value.isMultiple(of: 2) {
                    try db.insert(value)
                } else {
                    try db.inTransaction {
                        try db.insert(value)
                        return .commit
                    }
                }
            }
            let commit = try #require(await commits.next())
            #expect(commit.number.rawValue == 1 + value && commit.source == .database)
            #expect(commit.changes.containsChange(in: "t") && !commit.changes.containsChange(in: "grdb_commit_number"))
        }
        // A commit that can't have a number has the number of the one before.
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
        #expect(try #require(await commits.next()).number.rawValue == 21)
        try await onOwnThread { try writer.close() }
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func theyGoOnAfterARestart(_ kind: WriterKind) throws {
        var writer = try make(kind)
        for value in 1...5 { try writer.write { db in try db.insert(value) } }
        #expect(writer.lastCommitNumber.rawValue == 6)
        try writer.close()
        writer = try kind.make(folder, stored)
        #expect(writer.lastCommitNumber.rawValue == 6)
        let (_, number) = try writer.writeWithCommitNumber { db in try db.insert(6) }
        #expect(number.rawValue == 7)
        try writer.close()
        // A reader of the file has it, too, and makes nothing.
        var configuration = stored
        configuration.readonly = true
        let reader = try kind.make(folder, configuration)
        #expect(reader.lastCommitNumber.rawValue == 7)
        try reader.close()
    }

    @Test func aReadOnlyFileWithoutNumbersHasNone() throws {
        let plain = try DatabaseQueue(path: folder.file("plain"))
        try plain.makeTable()
        var configuration = stored
        configuration.readonly = true
        let queue = try DatabaseQueue(path: folder.file("plain"), configuration: configuration)
        #expect(queue.lastCommitNumber.rawValue == 0)
        #expect(try queue.read { db in try db.tableExists("grdb_commit_number") } == false)
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func twoWritersShareThem(_ kind: WriterKind) async throws {
        let writers = [try make(kind), try kind.make(folder, stored)]
        var generator = SeededGenerator()
        var last = 1
        for value in 0..<200 {
            let writer = writers.randomElement(using: &generator)!
            let number: CommitNumber
            if Bool.random(using: &generator) {
                number = try await writer.writeWithCommitNumber { db in try db.insert(value) }.commitNumber
            } else {
                try await writer.writeWithoutTransaction { db in try db.insert(value) }
                number = writer.lastCommitNumber
            }
            #expect(number.rawValue == last + 1, "seed \(generator.seed)")
            last = number.rawValue
        }
        // One waits for the other's commit, and reads it.
        let reader = writers[0]
        try await reader.waitForCommit(CommitNumber(rawValue: last))
        #expect(try await reader.read { db in try db.count() } == 200)
        async let waiting: Void = reader.waitForCommit(CommitNumber(rawValue: last + 3))
        for value in 0..<3 { try await writers[1].write { db in try db.insert(value) } }
        try await waiting
        #expect(try await reader.read { db in try db.count() } == 203)
        try await onOwnThread { for writer in writers { try writer.close() } }
    }

    /// A state has the number that is in the file, whoever has written it.
    @Test(.timeLimit(.minutes(2 * TestTime.factor))) func stableReadersHaveTheNumberOfTheirState() async throws {
        let pools = try (0..<2).map { _ in try DatabasePool(path: folder.file("db"), configuration: stored) }
        try pools[0].makeTable()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pool in pools {
                group.addTask {
                    for value in 0..<150 {
                        try await pool.writeWithoutTransaction { db in try db.insert(value) }
                    }
                }
                group.addTask {
                    let reader = try await pool.makeStableReader()
                    var last = reader.commitNumber
                    for _ in 0..<100 {
                        let commits = try await reader.advance()
                        let (number, count) = try await reader.read { db in
                            (try db.commitNumberInFile(), try db.count())
                        }
                        // Each commit inserts one row, and the first made the table.
                        #expect(reader.commitNumber.rawValue == number && number == count + 1)
                        #expect(commits.allSatisfy { $0.number <= reader.commitNumber })
                        #expect(last <= reader.commitNumber)
                        #expect(last == reader.commitNumber || !commits.isEmpty)
                        last = reader.commitNumber
                    }
                    try await onOwnThread { try reader.close() }
                }
            }
            try await group.waitForAll()
        }
        try await onOwnThread { for pool in pools { try pool.close() } }
    }

    @Test func aSlowReaderIsToldTheNumberUpToWhichItHasMissedCommits() async throws {
        let pool = try DatabasePool(path: folder.file("db"), configuration: stored)
        try pool.makeTable()
        for value in 0..<10 { try await pool.write { db in try db.insert(value) } }
        try await onOwnThread { try pool.close() }
        let later = try DatabasePool(path: folder.file("db"), configuration: stored)
        var commits = later.commits(bufferingAtMost: 2).makeAsyncIterator()
        let reader = try await later.makeStableReader(bufferingAtMost: 2)
        #expect(reader.commitNumber.rawValue == 11)
        for value in 0..<5 { try await later.write { db in try db.insert(value) } }
        let missed = try #require(await commits.next())
        #expect(missed.source == .missed && missed.number.rawValue == 14)
        #expect(await commits.next()?.number.rawValue == 15)
        let passed = try await reader.advance()
        #expect(passed.map(\.source) == [.missed, .database, .database])
        #expect(passed.map(\.number.rawValue) == [14, 15, 16] && reader.commitNumber.rawValue == 16)
        try await onOwnThread { try later.close() }
    }

    // MARK: - Seams

    @Test func aCommitThatFailsIsNotNumbered() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
                    """)
        }
        try queue.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO child VALUES (1)")
            #expect(throws: DatabaseError.self) { try db.commit() }
            #expect(throws: DatabaseError.self) { try db.commit() }
            try db.execute(sql: "INSERT INTO parent VALUES (1)")
            try db.commit()
            #expect(try db.commitNumberInFile() == 2)
            // A statement outside a transaction takes its change back.
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO child VALUES (2)") }
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM child") == 1)
            #expect(try db.commitNumberInFile() == 2)
        }
        #expect(queue.lastCommitNumber.rawValue == 2)
    }

    private final class Veto: TransactionObserver {
        struct Refusal: Error {}
        // Used by one thread: that of the test.
        nonisolated(unsafe) var refuses = false
        nonisolated(unsafe) var tables: Set<String> = []
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) { tables.insert(event.tableName) }
        func databaseWillCommit() throws { if refuses { throw Refusal() } }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool])
    func anObserverRefusesACommit(_ kind: WriterKind) throws {
        let writer = try make(kind)
        let veto = Veto()
        writer.add(transactionObserver: veto)
        try writer.writeWithoutTransaction { db in
            try db.insert(1)
            veto.refuses = true
            #expect(throws: Veto.Refusal.self) { try db.insert(2) }
            #expect(!db.isInsideTransaction)
            #expect(throws: Veto.Refusal.self) {
                try db.inTransaction {
                    try db.insert(3)
                    return .commit
                }
            }
            veto.refuses = false
            #expect(try db.commitNumberInFile() == 2)
            try db.insert(4)
            #expect(try db.commitNumberInFile() == 3 && db.values() == [1, 4])
        }
        // The table of the number is no change that anybody is told.
        #expect(veto.tables == ["t"])
        #expect(writer.lastCommitNumber.rawValue == 3)
    }

    @Test(arguments: [
        "DROP TABLE grdb_commit_number", "DELETE FROM grdb_commit_number", "UPDATE grdb_commit_number SET number = 'x'",
        "UPDATE grdb_commit_number SET number = '-000000000000000001'", "UPDATE grdb_commit_number SET number = 4",
        "UPDATE grdb_commit_number SET number = x'00'",
        "DROP TABLE grdb_commit_number; CREATE TABLE grdb_commit_number (id INTEGER PRIMARY KEY, number)",
    ])
    func sqlThatSpoilsTheTableLosesNoNumber(_ sql: String) throws {
        let pool = try DatabasePool(path: folder.file("db"), configuration: stored)
        try pool.makeTable(1)
        for value in 0..<5 { try pool.write { db in try db.insert(value) } }
        let before = pool.lastCommitNumber
        try pool.write { db in try db.execute(sql: sql) }
        let after = pool.lastCommitNumber
        #expect(after > before)
        #expect(try pool.read { db in try db.commitNumberInFile() } == after.rawValue)
        try pool.write { db in try db.insert(9) }
        #expect(pool.lastCommitNumber.rawValue == after.rawValue + 1)
        #expect(try pool.read { db in try db.commitNumberInFile() } == after.rawValue + 1)
    }

    @Test func aTableThatCannotHaveANumberFailsTheCommit() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                try db.execute(
                    sql: "DROP TABLE grdb_commit_number; CREATE VIEW grdb_commit_number AS SELECT 1 AS id, 2 AS number")
            }
        }
        #expect(error?.message?.contains("grdb_commit_number") ?? false)
        // The transaction was rolled back.
        try queue.write { db in try db.insert(1) }
        #expect(queue.lastCommitNumber.rawValue == 2)
    }

    @Test func theHighestNumberIsNotPassed() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable()
        try queue.write { db in
            try db.execute(sql: "UPDATE grdb_commit_number SET number = '\(Int.max)'")
        }
        try queue.write { db in try db.insert(1) }
        #expect(queue.lastCommitNumber.rawValue == .max)
        try queue.write { db in
            try db.execute(sql: "UPDATE grdb_commit_number SET number = '9999999999999999999'")
        }
        try queue.write { db in try db.insert(2) }
        #expect(queue.lastCommitNumber.rawValue == .max)
    }

    @Test func aReplacedContentGoesOnWithTheHigherNumber() throws {
        let source = try DatabaseQueue()
        try source.makeTable(1, 2)
        let pool = try DatabasePool(path: folder.file("db"), configuration: stored)
        for _ in 0..<3 { try pool.write { db in try db.execute(sql: "CREATE TABLE x (a); DROP TABLE x") } }
        #expect(pool.lastCommitNumber.rawValue == 3)
        try source.backup(to: pool)
        #expect(pool.lastCommitNumber.rawValue == 3)
        try pool.write { db in try db.insert(1) }
        #expect(pool.lastCommitNumber.rawValue == 4)
        #expect(try pool.read { db in try db.commitNumberInFile() } == 4)
        // A copy has the number of its state.
        let copy = try DatabaseQueue(configuration: stored)
        try pool.backup(to: copy)
        try copy.write { db in try db.insert(1) }
        #expect(copy.lastCommitNumber.rawValue == 5)
    }

    @Test func commitsThroughCFunctionsHaveTheNumberBefore() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable()
        try queue.writeWithoutTransaction { db in
            #expect(RawSQL.execute("INSERT INTO t VALUES (1)", db) == 0)
            try db.insert(2)
            #expect(try db.commitNumberInFile() == 2)
            try db.beginTransaction()
            try db.insert(3)
            #expect(RawSQL.execute("COMMIT", db) == 0)
            try db.insert(4)
            #expect(try db.commitNumberInFile() == 3)
            try db.beginTransaction()
            try db.insert(5)
            #expect(RawSQL.execute("ROLLBACK", db) == 0)
            try db.insert(6)
            #expect(try db.commitNumberInFile() == 4 && db.values() == [1, 2, 3, 4, 6])
        }
        #expect(queue.lastCommitNumber.rawValue == 4)
    }

    @Test func countsOfChangesAreThoseOfTheStatement() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable()
        try queue.writeWithoutTransaction { db in
            let total = db.totalChangesCount
            try db.execute(sql: "INSERT INTO t VALUES (1), (2), (3)")
            #expect(db.changesCount == 3 && db.lastInsertedRowID == 3 && db.totalChangesCount == total + 3)
        }
    }

    @Test(arguments: [WriterKind.fileQueue, .pool]) func aFullDiskFailsTheCommit(_ kind: WriterKind) throws {
        let faults = try FaultVFS()
        var configuration = stored
        configuration.vfs = faults.name
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        var failures = 0
        for nth in 1...40 {
            let isOutside = nth.isMultiple(of: 2)
            faults.arm([.write, .sync, .read], nth: (nth + 1) / 2)
            do {
                try writer.writeWithoutTransaction { db in
                    if isOutside {
                        try db.insert(nth)
                    } else {
                        try db.inTransaction {
                            try db.insert(nth)
                            return .commit
                        }
                    }
                }
            } catch is DatabaseError {
                failures += 1
            }
            faults.disarm()
            try writer.writeWithoutTransaction { db throws in #expect(!db.isInsideTransaction) }
            let (number, count) = try writer.read { db in (try db.commitNumberInFile(), try db.count()) }
            // One commit has made the table, and each other one a row.
            #expect(number == 1 + count && writer.lastCommitNumber.rawValue == number)
        }
        #expect(failures > 3)
        try writer.close()
    }

    @Test(arguments: [WriterKind.fileQueue, .pool]) func cancellingLeavesCommitAndNumberTogether(_ kind: WriterKind)
        async throws
    {
        let writer = try make(kind)
        for value in 0..<100 {
            let task = Task {
                try await writer.writeWithoutTransaction { db in
                    try db.insert(value)
                    try db.inTransaction {
                        try db.insert(value)
                        return .commit
                    }
                }
            }
            if value.isMultiple(of: 3) { await Task.yield() }
            task.cancel()
            _ = await task.result
        }
        let (number, count) = try await writer.read { db in (try db.commitNumberInFile(), try db.count()) }
        #expect(number == 1 + count && writer.lastCommitNumber.rawValue == number)
        try await onOwnThread { try writer.close() }
    }

    @Test func aFunctionThatWritesIsInTheSameCommit() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable(1)
        try queue.writeWithoutTransaction { connection in
            // The function runs on this thread.
            nonisolated(unsafe) unowned let db = connection
            db.add(
                function: DatabaseFunction("note", argumentCount: 1) { values in
                    try db.execute(
                        sql: "CREATE TABLE IF NOT EXISTS log (a); INSERT INTO log VALUES (?)", arguments: [values[0]])
                    return values[0]
                })
            try db.execute(sql: "INSERT INTO t SELECT note(2)")
            #expect(!db.isInsideTransaction)
            #expect(try db.commitNumberInFile() == 2)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM log") == [2])
        }
    }

    @Test func erasingAndMigratingGoesOn() throws {
        let queue = try DatabaseQueue(path: folder.file("db"), configuration: stored)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE m (a)") }
        try migrator.migrate(queue)
        let before = queue.lastCommitNumber
        #expect(before.rawValue > 0)
        var changed = DatabaseMigrator()
        changed.eraseDatabaseOnSchemaChange = true
        changed.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE m (a, b)") }
        try changed.migrate(queue)
        #expect(queue.lastCommitNumber > before)
        try queue.erase()
        try queue.makeTable(1)
        #expect(try queue.read { db in try db.commitNumberInFile() } == queue.lastCommitNumber.rawValue)
    }

    @Test func theQueuesOfANameShareThem() throws {
        let name = "numbers-\(UInt64.random(in: 0 ... .max))"
        let queues = try (0..<2).map { _ in try DatabaseQueue(named: name, configuration: stored) }
        try queues[0].makeTable()
        for value in 0..<10 {
            let (_, number) = try queues[value % 2].writeWithCommitNumber { db in try db.insert(value) }
            #expect(number.rawValue == value + 2 && queues[0].lastCommitNumber == queues[1].lastCommitNumber)
        }
    }

    @Test func theTableIsHidden() throws {
        let queue = try DatabaseQueue(configuration: stored)
        try queue.makeTable(1)
        let dump = try queue.read { db in
            let stream = TextOf()
            try db.dumpContent(to: stream)
            return stream.text
        }
        #expect(!dump.contains("grdb_commit_number") && dump.contains("t (a INTEGER)"))
        // Its rows are in no changeset.
        let changeset = try queue.write { db in
            try db.recordChangeset {
                try db.execute(sql: "CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1)")
            }.changeset
        }
        #expect(changeset.description.contains("p") && !changeset.description.contains("grdb_commit_number"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in try db.execute(sql: "CREATE TABLE m (a)") }
        let migrated = try DatabaseQueue(configuration: stored)
        try migrator.migrate(migrated)
        #expect(try migrated.read { db in try migrator.hasSchemaChanges(db) } == false)
    }

    private final class TextOf: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    @Test func openingWaitsForALockAndThenFails() throws {
        let path = folder.file("db")
        let other = try DatabaseQueue(path: path)
        try other.makeTable()
        var configuration = stored
        configuration.busyMode = .immediateError
        try other.writeWithoutTransaction { db in
            try db.beginTransaction(.exclusive)
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            try db.rollback()
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(queue.lastCommitNumber.rawValue == 0)
    }
}

extension Database {
    fileprivate func commitNumberInFile() throws -> Int {
        try Int.fetchOne(self, sql: "SELECT CAST(number AS INTEGER) FROM grdb_commit_number") ?? -1
    }
}

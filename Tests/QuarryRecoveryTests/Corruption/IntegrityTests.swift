import Foundation
import Quarry
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport
import Testing

/// Checks of databases, on each kind of reader.
@Suite("Integrity checks") struct IntegrityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    @Test func problemsNameTheirTablesAndIndexes() throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (b, c NOT NULL DEFAULT 0);
                    CREATE INDEX "i d" ON a (b);
                    INSERT INTO a VALUES (1, 2), (3, 4);
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (parentId REFERENCES parent);
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO child VALUES (7);
                    PRAGMA writable_schema = 1;
                    UPDATE sqlite_master SET sql = 'CREATE INDEX "i d" ON a (c)' WHERE name = 'i d';
                    PRAGMA writable_schema = RESET;
                    """)
        }
        let report = try queue.checkIntegrity()
        #expect(report.isDamaged)
        #expect(report.problems.allSatisfy { $0.kind == .index && $0.table == "a" && $0.index == "i d" })
        #expect(!report.problems.isEmpty)
        #expect(report.foreignKeyViolations.map(\.originTable) == ["child"])
        #expect(report.description.contains("missing from index i d"))
        // A quick check doesn't look at indexes.
        let quick = try queue.checkIntegrity(.quick)
        #expect(quick.problems.isEmpty && !quick.isDamaged && !quick.isIntact)
        #expect(try queue.checkIntegrity(maximumProblems: 1).problems.count == 1)
    }

    @Test func damagedPagesAreNamed() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let queue = try DatabaseQueue(path: file.path)
        let problem = try #require(try queue.checkIntegrity(.quick).problems.first { $0.page != nil })
        #expect(problem.kind == .structure)
        #expect(problem.page ?? 0 > 1)
    }

    /// Newer versions of SQLite end the check before it has begun.
    @Test(arguments: [IntegrityReport.Level.quick, .full]) func fullTextTablesThatCanNotBeOpened(
        _ level: IntegrityReport.Level
    ) async throws {
        let path = folder.file("fts.sqlite")
        let writer = try DatabaseQueue(path: path)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE note USING fts5(text);
                    INSERT INTO note VALUES ('one two');
                    CREATE TABLE score (value INTEGER CHECK (value > 0));
                    PRAGMA ignore_check_constraints = 1;
                    INSERT INTO score VALUES (-1);
                    UPDATE note_config SET v = 0 WHERE k = 'version';
                    """)
        }
        try writer.close()
        let queue = try DatabaseQueue(path: path)
        let report = try await queue.checkIntegrity(level)
        #expect(report.problems.map(\.message) == ["CHECK constraint failed in score"], "the other tables are checked")
        #expect(report.uncheckedFullTextTables == ["note"])
        #expect(!report.isDamaged)
    }

    @Test(arguments: ["fts5", "fts4"]) func fullTextIndexesAreChecked(module: String) async throws {
        let pool = try DatabasePool(path: folder.file("db"))
        try await pool.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE note USING \(module)(text);
                    INSERT INTO note VALUES ('one two'), ('three');
                    """)
        }
        #expect(try await pool.checkIntegrity().isIntact)
        #expect(try await pool.makeSnapshot().checkIntegrity().isIntact)
        // The text changes, and the index doesn't.
        try await pool.write { db in
            let column = module == "fts5" ? "c0" : "c0text"
            try db.execute(sql: "UPDATE note_content SET \(column) = 'four'")
        }
        let changes = try await pool.writeWithoutTransaction { db in db.totalChangesCount }
        let report = try await pool.checkIntegrity()
        #expect(report.fullTextFailures.map(\.table) == ["note"])
        #expect(report.isDamaged)
        #expect(try await pool.writeWithoutTransaction { db in db.totalChangesCount } - changes <= 1)
        // Noticed before, so that no connection writes: the index itself is whole.
        #expect(try await pool.checkIntegrity().fullTextFailures.isEmpty)
    }

    @Test func readersThatCannotWriteReadTheIndex() throws {
        let queue = try DatabaseQueue(path: folder.file("db"))
        try queue.write { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE note USING fts5(text); INSERT INTO note VALUES ('one two'), ('three')")
        }
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: folder.file("db"), configuration: configuration)
        let intact = try reader.checkIntegrity()
        #expect(intact.isIntact && intact.uncheckedFullTextTables == [])
        try queue.write { db in try db.execute(sql: "DELETE FROM note_data WHERE id > 10") }
        #expect(try reader.checkIntegrity().fullTextFailures.map(\.table) == ["note"])
    }

    @Test func stepsAreReportedAndEndTheCheck() async throws {
        struct Stop: Error {}
        let queue = try DatabaseQueue(path: folder.file("db"))
        try await queue.write { db in try db.execute(sql: "CREATE VIRTUAL TABLE note USING fts5(text)") }
        let steps = Recorded<[IntegrityStep]>([])
        _ = try await queue.checkIntegrity { step in steps.update { $0.append(step) } }
        #expect(steps.value == [.pages, .foreignKeys, .fullText(table: "note")])
        #expect(throws: Stop.self) {
            try Self.check(queue) { step in if step == .foreignKeys { throw Stop() } }
        }
        await #expect(throws: Stop.self) {
            try await queue.checkIntegrity { step in if step == .fullText(table: "note") { throw Stop() } }
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.checkIntegrity()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await expectError(.SQLITE_MISUSE, "integrity_check returns at least 1 problem, not 0") {
            try await queue.checkIntegrity(maximumProblems: 0)
        }
    }

    private static func check(_ reader: any DatabaseReader, _ progress: (IntegrityStep) throws -> Void) throws {
        try withoutActuallyEscaping(progress) { progress in _ = try reader.checkIntegrity(progress: progress) }
    }
}

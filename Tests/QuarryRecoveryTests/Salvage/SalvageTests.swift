import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Salvage of schemas, virtual tables, sequences and constraints, and its failures.
@Suite("Salvage", .timeLimit(.minutes(2 * TestTime.factor))) struct SalvageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private func make(_ sql: String) throws -> String {
        let path = folder.file("db")
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
        return path
    }

    private func salvage(_ path: String, _ configuration: Configuration = Configuration()) throws -> SalvageReport {
        try DatabaseSalvage(path: path, configuration: configuration).salvage(into: folder.file("new"))
    }

    private func inNewFile(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue(path: folder.file("new")).read(body)
    }

    @Test func schemasAndSettingsAreKept() throws {
        let path = try make(
            """
            PRAGMA page_size = 1024; PRAGMA encoding = 'UTF-16be'; PRAGMA auto_vacuum = 2;
            CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
            CREATE TABLE log (text);
            CREATE INDEX team_name ON team (name DESC) WHERE id > 1;
            CREATE VIEW names AS SELECT name FROM team;
            CREATE TRIGGER team_ai AFTER INSERT ON team BEGIN INSERT INTO log VALUES (new.name); END;
            CREATE TRIGGER names_ii INSTEAD OF INSERT ON names BEGIN SELECT 1; END;
            INSERT INTO team VALUES (1, 'été'), (7, 'b');
            DELETE FROM team WHERE id = 7;
            PRAGMA user_version = -3; PRAGMA application_id = 77;
            ANALYZE;
            """)
        let schema = try DatabaseQueue(path: path).read { db in
            try String.fetchAll(db, sql: "SELECT type || name || ifnull(sql, '') FROM sqlite_master ORDER BY 1")
        }
        let report = try salvage(path)
        #expect(report.isComplete, "\(report)")
        try inNewFile { db throws in
            #expect(
                try String.fetchAll(db, sql: "SELECT type || name || ifnull(sql, '') FROM sqlite_master ORDER BY 1")
                    == schema)
            #expect(try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-16be")
            #expect(try Int.fetchOne(db, sql: "PRAGMA page_size") == 1024)
            #expect(try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2)
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == -3)
            #expect(try Int.fetchOne(db, sql: "PRAGMA application_id") == 77)
            #expect(try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence") == 7)
            // Triggers don't run for salvaged rows.
            #expect(try String.fetchAll(db, sql: "SELECT text FROM log") == ["été", "b"])
        }
    }

    @Test(arguments: [
        "fts5(text)", "fts5(text, content='')", "fts4(text)", "fts5(text, content='note', content_rowid='id')",
    ])
    func fullTextIndexesAreRebuilt(module: String) throws {
        let path = try make(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
            INSERT INTO note VALUES (3, 'one two'), (5, 'two three');
            CREATE VIRTUAL TABLE found USING \(module);
            INSERT INTO found (rowid, text) SELECT id, text FROM note;
            CREATE VIRTUAL TABLE place USING rtree(id, x0, x1);
            INSERT INTO place VALUES (1, 2, 3), (2, 5, 7);
            """)
        let report = try salvage(path)
        #expect(report.isComplete && report.integrity.isIntact, "\(report)")
        try inNewFile { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM found WHERE found MATCH 'two'") == [3, 5])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM place WHERE x0 > 4") == [2])
            #expect(try String.fetchOne(db, sql: "SELECT rtreecheck('place')") == "ok")
        }
    }

    @Test func fullTextIndexesOfViewsAreRebuilt() throws {
        let path = try make(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, text TEXT);
            INSERT INTO note VALUES (3, 'one', 'two'), (5, 'two', 'three');
            CREATE VIEW whole AS SELECT id, title || ' ' || text AS all_text FROM note;
            CREATE VIRTUAL TABLE found USING fts5(all_text, content='whole', content_rowid='id');
            INSERT INTO found (found) VALUES ('rebuild');
            """)
        let report = try salvage(path)
        #expect(report.isComplete && report.integrity.isIntact, "\(report)")
        try inNewFile { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM found WHERE found MATCH 'two'") == [3, 5])
        }
    }

    /// An index that was lost, and can't be made anew, takes nothing else with it.
    @Test(arguments: [("place_node", "place"), ("found_data", "found")])
    func damagedVirtualTablesTakeNothingElseWithThem(shadow: String, table: String) throws {
        let path = try make(
            """
            PRAGMA page_size = 1024;
            CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
            CREATE VIRTUAL TABLE found USING fts5(text, content='');
            CREATE VIRTUAL TABLE place USING rtree(id, x0, x1);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO note SELECT i, 'text ' || i FROM n;
            INSERT INTO found (rowid, text) SELECT id, text FROM note;
            INSERT INTO place SELECT id, id, id + 1 FROM note;
            """)
        try DamagedFile.zeroPage(of: shadow, in: path)
        let report = try salvage(path)
        #expect(!report.isComplete)
        #expect(report.tables.contains { $0.name == shadow && $0.lostPageCount == 1 }, "\(report)")
        try inNewFile { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM note") == 500)
            let other = table == "place" ? "found WHERE found MATCH 'text'" : "place WHERE x0 >= 0"
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM \(other)") == 500)
        }
    }

    /// Newer versions of SQLite open virtual tables to check them, and end the check if one can't be opened.
    @Test func virtualTablesThatCannotBeOpenedTakeNothingElseWithThem() throws {
        let path = try make(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'one'), (2, 'two');
            CREATE VIRTUAL TABLE place USING rtree(id, x0, x1); INSERT INTO place VALUES (1, 2, 3);
            """)
        var configuration = Configuration()
        configuration.defensive = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in try db.execute(sql: "UPDATE place_node SET data = x'0001'") }
        try queue.close()
        let report = try salvage(path)
        #expect(report.savedRowCount == 4 && report.lostAndFoundRowCount == 0, "\(report)")
        try inNewFile { db throws in
            #expect(try String.fetchAll(db, sql: "SELECT text FROM note") == ["one", "two"])
            #expect(try String.fetchAll(db, sql: "SELECT hex(data) FROM place_node") == ["0001"])
        }
    }

    @Test func tablesOfAnyNameAreMade() throws {
        let names = [#""a ""quoted"" name""#, "[b (c)]", "`d``e`", "'f'", "été", #""as""#, "g/* ( */", "h -- (\n"]
        let path = try make(
            names.map { "CREATE TABLE \($0) (x); INSERT INTO \($0) VALUES (1);" }.joined(separator: "\n"))
        let report = try salvage(path)
        #expect(report.isComplete && report.savedRowCount == names.count, "\(report)")
    }

    /// Only texts of the form in which SQLite keeps a table are run.
    @Test(arguments: [
        "CREATE TABLE a AS SELECT 1", "CREATE TABLE temp.a (b)", "CREATE TABLE IF NOT EXISTS a AS SELECT 1",
        "CREATE TABLE \"a\"\"a\" AS SELECT 1 /* ( */", "CREATE TEMP TABLE a (b)", "DROP TABLE c", "CREATE TABLE ",
    ])
    func otherStatementsAreNotRun(sql: String) throws {
        let path = try make(
            """
            CREATE TABLE a (b); INSERT INTO a VALUES (1); CREATE TABLE c (d); INSERT INTO c VALUES (2);
            PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = '\(sql)' WHERE name = 'a';
            """)
        let report = try salvage(path)
        #expect(report.lostObjects.map(\.error.message) == ["the text of the schema is damaged"])
        try inNewFile { db throws in
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == ["c", "lost_and_found"])
            #expect(try Int.fetchAll(db, sql: "SELECT d FROM c") == [2])
            #expect(try Int.fetchAll(db, sql: "SELECT c0 FROM lost_and_found WHERE \"table\" = 'a'") == [1])
        }
    }

    @Test func textsThatMakeAnotherTableLeaveItsNameToIt() throws {
        let path = try make(
            """
            CREATE TABLE a (b); INSERT INTO a VALUES (1);
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = 'CREATE TABLE lost_and_found (b)' WHERE name = 'a';
            """)
        let report = try salvage(path)
        #expect(report.lostAndFoundTable == "lost_and_found_0")
        try inNewFile { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT c0 FROM lost_and_found_0 WHERE \"table\" = 'a'") == [1])
        }
    }

    @Test func refusedRowsAreKept() throws {
        // Rows of one table that the other one's constraints refuse.
        let path = try make(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT, u INTEGER);
            CREATE TABLE b (id INTEGER PRIMARY KEY, n TEXT NOT NULL ON CONFLICT IGNORE, u UNIQUE ON CONFLICT REPLACE,
                CHECK (u <> 13));
            INSERT INTO a VALUES (1, 'x', 1), (2, NULL, 2), (3, 'y', 1), (4, 'z', 13), (5, x'FF00', 5);
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'a')
                WHERE name = 'b';
            DELETE FROM sqlite_master WHERE name = 'a';
            """)
        let report = try salvage(path)
        let table = try #require(report.tables.first { $0.name == "b" })
        #expect(table.savedRowCount == 2 && table.refusedRowCount == 3, "\(report)")
        #expect(report.lostAndFoundTable == "lost_and_found" && report.lostAndFoundRowCount == 3)
        try inNewFile { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM b ORDER BY id") == [1, 5])
            #expect(
                try String.fetchAll(
                    db, sql: "SELECT \"table\" || ': ' || reason || ', ' || id FROM lost_and_found ORDER BY id") == [
                        "b: NOT NULL constraint failed: b.n, 2", "b: UNIQUE constraint failed: b.u, 3",
                        "b: CHECK constraint failed: u <> 13, 4",
                    ])
        }
    }

    @Test func rowsOfAPageThatTwoTablesHaveAreKept() throws {
        let path = try make(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT);
            CREATE TABLE b (id INTEGER PRIMARY KEY, n TEXT);
            CREATE TABLE c (id INTEGER PRIMARY KEY, n TEXT);
            INSERT INTO a VALUES (1, 'x'), (2, 'y'); INSERT INTO c VALUES (3, 'z');
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'a')
                WHERE name = 'b';
            """)
        let report = try salvage(path)
        #expect(report.tables.map(\.savedRowCount) == [0, 0, 1], "\(report)")
        #expect(report.tables.map(\.brokenRowCount) == [2, 2, 0], "\(report)")
        try inNewFile { db throws in
            #expect(
                try String.fetchAll(
                    db, sql: "SELECT \"table\" || ': ' || reason || ', ' || c1 FROM lost_and_found ORDER BY 1") == [
                        "a: its page belongs to several trees, or is unused, x",
                        "a: its page belongs to several trees, or is unused, y",
                        "b: its page belongs to several trees, or is unused, x",
                        "b: its page belongs to several trees, or is unused, y",
                    ])
        }
    }

    @Test func objectsThatCannotBeMadeAreReported() throws {
        let path = try make(
            """
            CREATE TABLE a (b); CREATE TABLE lost_and_found (c);
            CREATE INDEX i ON a (b); INSERT INTO a VALUES (1), (2);
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = 'CREATE TABLE a (b CHECK (missing(b)))' WHERE name = 'a';
            """)
        let report = try salvage(path)
        #expect(report.lostObjects.map(\.name) == ["a", "i"])
        #expect(report.lostAndFoundTable == "lost_and_found_0")
        try inNewFile { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT c0 FROM lost_and_found_0 WHERE \"table\" = 'a'") == [1, 2])
        }
    }

    @Test func circlesEnd() throws {
        let path = try make(
            """
            PRAGMA page_size = 512; CREATE TABLE a (id INTEGER PRIMARY KEY, b);
            INSERT INTO a VALUES (1, randomblob(100000));
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO a SELECT i, 'some text' || i FROM n;
            """)
        var bytes = try #require(FileCopy.bytes(path))
        let pages = try DatabaseQueue(path: path).read { db in
            try (
                overflow: Int.fetchAll(
                    db, sql: "SELECT pageno FROM dbstat WHERE pagetype = 'overflow' ORDER BY pageno"),
                root: Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'a'")!
            )
        }
        // The chain of overflow pages returns to its beginning, and the root's first child is the root.
        let last = (pages.overflow[100] - 1) * 512
        bytes.replaceSubrange(last..<last + 4, with: [0, 0, 0, UInt8(pages.overflow[0])])
        let root = (pages.root - 1) * 512
        let first = Int(bytes[root + 12]) * 256 + Int(bytes[root + 13]) + root
        bytes.replaceSubrange(first..<first + 4, with: [0, 0, 0, UInt8(pages.root)])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let report = try salvage(path)
        #expect(report.tables[0].lostPages.contains { $0.reason == "it is used in several places" })
        #expect(report.savedRowCount > 400)
    }

    @Test func targetsAreNotOverwrittenAndSourcesMustExist() throws {
        let path = try make("CREATE TABLE a (b)")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("new")))
        expectError(
            .SQLITE_CANTOPEN, "salvage of \(path) into \(folder.file("new")): the file exists"
        ) { try salvage(path) }
        #expect(FileCopy.bytes(folder.file("new")) == Array("mine".utf8))
        FileCopy.remove(folder.file("new"))
        // The damaged database would take it for its own log.
        for suffix in ["-wal", "-journal", "-shm"] {
            expectError(
                .SQLITE_CANTOPEN,
                "salvage of \(path) into \(path)\(suffix): it is a file of the database itself: \(path)\(suffix)"
            ) { try DatabaseSalvage(path: path).salvage(into: path + suffix) }
        }
        expectError(.SQLITE_CANTOPEN) { try salvage(folder.file("missing")) }
        try Data().write(to: URL(fileURLWithPath: folder.file("empty")))
        expectError(.SQLITE_NOTADB, "the file is empty") { try salvage(folder.file("empty")) }
        expectError(.SQLITE_CANTOPEN) { try salvage("a\0b") }
        // SQLite would apply it to the new file.
        for suffix in ["-wal", "-journal"] {
            try Data([1]).write(to: URL(fileURLWithPath: folder.file("new" + suffix)))
            expectError(
                .SQLITE_CANTOPEN,
                "salvage of \(path) into \(folder.file("new")): the file is in use, or was: it has a journal beside it, "
                    + folder.file("new" + suffix)
            ) { try salvage(path) }
            FileCopy.remove(folder.file("new" + suffix))
        }
        #expect(try FileCopy.names(in: folder.path) == ["db", "empty"])
    }

    @Test func errorsOfTheClosureAndCancellationLeaveNoTarget() async throws {
        struct Stop: Error {}
        let file = try DamagedFile(path: folder.file("db"))
        for phase in [SalvageProgress.Phase.schema, .tables, .orphans, .objects, .check] {
            #expect(throws: Stop.self) { try Self.salvage(file.path, folder.file("new"), stopAt: phase, Stop()) }
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await DatabaseSalvage(path: file.path).salvage(into: folder.file("new"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try FileCopy.names(in: folder.path) == ["db"])
        let report = try await DatabaseSalvage(path: file.path).salvage(into: folder.file("new"))
        #expect(report.tables.map(\.name) == ["player", "team"])
        #expect(report.tables[0].lostPageCount == 1 && report.tables[0].savedRowCount > 1500)
        #expect(report.description.contains("rowids"))
    }

    private static func salvage(
        _ path: String, _ target: String, stopAt phase: SalvageProgress.Phase, _ error: any Error
    ) throws {
        _ = try DatabaseSalvage(path: path).salvage(into: target) { if $0.phase == phase { throw error } }
    }

    /// A file that appears during the salvage is kept.
    @Test(arguments: [true, false]) func targetThatAppears(hasLinks: Bool) throws {
        let path = try make("CREATE TABLE a (b)")
        var salvage = DatabaseSalvage(path: path)
        if !hasLinks { salvage.files.fault = { kind, _ in kind == .link ? EPERM : 0 } }
        let operation = "salvage of \(path) into \(folder.file("new"))"
        expectError(.SQLITE_CANTOPEN, "\(operation): the file exists") {
            try salvage.salvage(into: folder.file("new")) { progress in
                if progress.phase == .check {
                    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("new")))
                }
            }
        }
        #expect(FileCopy.bytes(folder.file("new")) == Array("mine".utf8))
        #expect(try FileCopy.names(in: folder.path) == ["db", "new"])
    }
}

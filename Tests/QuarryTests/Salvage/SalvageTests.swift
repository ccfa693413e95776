import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry

/// Salvage of schemas, virtual tables, sequences and constraints, and its failures.
@Suite("Salvage", .timeLimit(.minutes(2))) struct SalvageTests {
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
            .SQLITE_CANTOPEN, "a database can't be salvaged into \(folder.file("new")), which exists already"
        ) { try salvage(path) }
        #expect(FileCopy.bytes(folder.file("new")) == Array("mine".utf8))
        FileCopy.remove(folder.file("new"))
        expectError(.SQLITE_CANTOPEN) { try salvage(folder.file("missing")) }
        try Data().write(to: URL(fileURLWithPath: folder.file("empty")))
        expectError(.SQLITE_NOTADB, "the file is empty") { try salvage(folder.file("empty")) }
        expectError(.SQLITE_CANTOPEN) { try salvage("a\0b") }
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

    /// The calls of the file system that salvage makes itself, also where files have no second names.
    @Test(arguments: [true, false]) func eachFailingCallLeavesNoTornTarget(hasLinks: Bool) throws {
        let file = try DamagedFile(path: folder.file("db"))
        let source = FileCopy.bytes(file.path)
        let target = folder.file("new")
        let always: @Sendable (FileOperations.Kind) -> CInt = { $0 == .link && !hasLinks ? EPERM : 0 }
        let count = try FileCalls.eachFails(with: EIO, always: always) { files throws in
            FileCopy.remove(target)
            var salvage = DatabaseSalvage(path: file.path)
            salvage.files = files
            #expect(try salvage.salvage(into: target).integrity.isIntact)
        } check: { call, failure in
            if let failure {
                let message = (failure as? DatabaseError)?.message ?? ""
                #expect(message.hasPrefix("salvage into \(target): could not "), "\(failure)")
                #expect(message.contains(call.path), "\(failure)")
            } else {
                #expect(call.kind == .remove)
                try inNewFile { db throws in #expect(try db.integrityCheck() == [], "\(call)") }
                FileCopy.remove(target)
            }
            let names = try FileCopy.names(in: folder.path)
            #expect(names == ["db"] || call.kind == .remove && names.count == 2, "\(call): \(names)")
            for name in names where name != "db" { FileCopy.remove(folder.file(name)) }
            #expect(FileCopy.bytes(file.path) == source)
            #expect(try folder.openFiles == [])
        }
        #expect(count > 7)
    }

    /// A file that appears during the salvage is kept.
    @Test(arguments: [true, false]) func targetThatAppears(hasLinks: Bool) throws {
        let path = try make("CREATE TABLE a (b)")
        var salvage = DatabaseSalvage(path: path)
        if !hasLinks { salvage.files.fault = { kind, _ in kind == .link ? EPERM : 0 } }
        expectError(
            .SQLITE_CANTOPEN, "a database can't be salvaged into \(folder.file("new")), which exists already"
        ) {
            try salvage.salvage(into: folder.file("new")) { progress in
                if progress.phase == .check {
                    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("new")))
                }
            }
        }
        #expect(FileCopy.bytes(folder.file("new")) == Array("mine".utf8))
        #expect(try FileCopy.names(in: folder.path) == ["db", "new"])
    }

    @Test func eachFailingOperationLeavesTheSourceAndNoTornTarget() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let source = FileCopy.bytes(file.path)
        let faults = try FaultVFS()
        var configuration = Configuration()
        configuration.vfs = faults.name
        var (failed, nth) = (0, 0)
        while true {
            nth += 1
            faults.arm(.all, nth: nth)
            defer { faults.disarm() }
            do {
                let report = try DatabaseSalvage(path: file.path, configuration: configuration).salvage(
                    into: folder.file("new"))
                let hasFailed = faults.failures > 0
                faults.disarm()
                // A page that can't be read is lost, and the report says so.
                #expect(report.integrity.isIntact, "operation \(nth): \(report)")
                try inNewFile { db throws in #expect(try db.integrityCheck() == [], "operation \(nth)") }
                FileCopy.remove(folder.file("new"))
                if !hasFailed { break }
            } catch is DatabaseError {
                failed += 1
                faults.disarm()
                #expect(FileCopy.bytes(folder.file("new")) == nil, "operation \(nth)")
            }
            #expect(FileCopy.bytes(file.path) == source)
        }
        #expect(failed > 10 && nth > 50)
        #expect(try FileCopy.names(in: folder.path) == ["db"])
    }
}

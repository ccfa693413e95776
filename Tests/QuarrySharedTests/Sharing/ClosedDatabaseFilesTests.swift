import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Paths that a program may give by mistake: a database is whole and open afterwards, and no other file is harmed.
@Suite struct ClosedDatabaseFilesTests {
    let folder: TemporaryFolder
    let database: SharedDatabase

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        database = SharedDatabase(path: folder.file("a.sqlite"))
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    private func count(_ reader: any DatabaseReader) throws -> Int? {
        try reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }

    private func count(ofFile path: String) throws -> Int? { try count(DatabaseQueue(path: path)) }

    private func make(_ name: String, rows: Int) throws -> String {
        try DatabaseQueue(path: folder.file(name)).write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for row in 0..<rows { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row]) }
        }
        return folder.file(name)
    }

    /// A log without a database, as a killed process and an `rm` leave it: SQLite would apply it to the file that gets
    /// the path.
    @Test(arguments: ["-wal", "-journal"]) func logsOfOthers(suffix: String) throws {
        let target = folder.file("b.sqlite")
        do {
            // The files of a database in the midst of its use.
            let other = folder.file("other.sqlite")
            let queue = try DatabaseQueue(path: other)
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA journal_mode = \(suffix == "-wal" ? "WAL" : "DELETE"); PRAGMA cache_size = 1;
                        CREATE TABLE secret (a); INSERT INTO secret VALUES (zeroblob(100000));
                        BEGIN; UPDATE secret SET a = randomblob(100000)
                        """)
                try FileManager.default.copyItem(atPath: other + suffix, toPath: target + suffix)
                try db.execute(sql: "ROLLBACK")
            }
        }
        let message =
            "\(target)\(suffix) has changes that aren't in the database: another connection has it open, or had it"
        try database.withClosedDatabase { files in
            for overwrites in [false, true] {
                expectError(.SQLITE_BUSY, "moving \(files.path) to \(target): \(message)") {
                    try files.move(to: target, overwrites: overwrites)
                }
                expectError(.SQLITE_BUSY, "copying \(files.path) to \(target): \(message)") {
                    try files.copy(to: target, overwrites: overwrites)
                }
            }
            try FileManager.default.removeItem(atPath: target + suffix)
            try files.move(to: target)
        }
        #expect(try count(ofFile: target) == 1)
    }

    /// The next access would take the database for its own log, and remove it.
    @Test func ownFiles() throws {
        try database.withClosedDatabase { files in
            for path in files.paths {
                expectError(.SQLITE_MISUSE) { try files.move(to: path, overwrites: true) }
                expectError(.SQLITE_MISUSE) { try files.copy(to: path, overwrites: true) }
            }
            let (journal, hard) = (files.path + "-journal", folder.file("hard"))
            try Data().write(to: URL(fileURLWithPath: journal))
            try FileManager.default.linkItem(atPath: journal, toPath: hard)
            for path in [journal, hard] {
                expectError(.SQLITE_MISUSE) { try files.move(to: path, overwrites: true) }
                expectError(.SQLITE_MISUSE) { try files.copy(to: path, overwrites: true) }
                expectError(.SQLITE_MISUSE) { try files.replace(with: path) }
            }
        }
        #expect(try count(database) == 1)
    }

    /// A download that has failed, say: the database stays, and the file too.
    @Test func replacementsThatAreNoDatabase() throws {
        let new = try make("new.sqlite", rows: 300)
        let whole = try Data(contentsOf: URL(fileURLWithPath: new))
        let middle = whole.count / 8192 * 4096
        for (bytes, code) in [
            (Data(repeating: 9, count: 5000), ResultCode.SQLITE_NOTADB), (Data(), .SQLITE_NOTADB),
            (whole[..<middle] + Data(repeating: 0x55, count: 4096) + whole[(middle + 4096)...], .SQLITE_CORRUPT),
        ] {
            try bytes.write(to: URL(fileURLWithPath: new))
            _ = try database.withClosedDatabase { files in expectError(code) { try files.replace(with: new) } }
            #expect(try count(database) == 1)
            // `Data(contentsOf:)` leaks a page for an empty file.
            let file = try #require(FileHandle(forReadingAtPath: new))
            #expect(try (file.readToEnd() ?? Data()) == bytes)
            try file.close()
            try database.close()
            #expect(try folder.names == ["a.sqlite", "new.sqlite"])
        }
        try whole.write(to: URL(fileURLWithPath: new))
        try database.withClosedDatabase { files in try files.replace(with: new) }
        #expect(try count(database) == 300)
    }

    /// A queue without a log has nothing beside its file.
    @Test func filesOfOpenQueues() throws {
        let path = try make("b.sqlite", rows: 2)
        let queue = try DatabaseQueue(path: path)
        let hard = folder.file("hard")
        try FileManager.default.linkItem(atPath: path, toPath: hard)
        try database.withClosedDatabase { files in
            for target in [path, hard] {
                expectError(.SQLITE_BUSY) { try files.move(to: target, overwrites: true) }
                expectError(.SQLITE_BUSY) { try files.copy(to: target, overwrites: true) }
                expectError(.SQLITE_BUSY, "replacing \(files.path) by \(target): \(path) is in use") {
                    try files.replace(with: target)
                }
            }
            expectError(.SQLITE_BUSY) { try files.copy(to: path + "-journal") }
        }
        #expect(try count(queue) == 2)
        try queue.close()
        try database.withClosedDatabase { files in try files.replace(with: path) }
        #expect(try count(database) == 2)
    }

    /// A link is another name of the file that it leads to: the path of the database never becomes a link.
    @Test func links() throws {
        let (real, link) = (try make("real.sqlite", rows: 7), folder.file("link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.sqlite")
        try database.withClosedDatabase { files in try files.replace(with: link) }
        #expect(try count(database) == 7)
        #expect(SharedDatabase(path: folder.file("a.sqlite")).isSameDatabase(as: database))
        #expect(!FileManager.default.fileExists(atPath: real))

        _ = try make("real.sqlite", rows: 2)
        try database.withClosedDatabase { files in try files.copy(to: link, overwrites: true) }
        #expect(try count(ofFile: real) == 7)
        try database.withClosedDatabase { files in try files.move(to: link, overwrites: true) }
        #expect(try count(ofFile: real) == 7)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.sqlite")
    }

    /// Folders, pipes, and links that lead nowhere, in place of a file.
    @Test func otherKindsOfFiles() throws {
        let (directory, pipe, dangling) = (folder.file("folder"), folder.file("pipe"), folder.file("dangling"))
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try #require(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "nowhere")
        try database.withClosedDatabase { files in
            for path in [directory, pipe, dangling, "/dev/null"] {
                expectError(.SQLITE_CANTOPEN) { try files.move(to: path, overwrites: true) }
                expectError(.SQLITE_CANTOPEN) { try files.copy(to: path, overwrites: true) }
                expectError(.SQLITE_CANTOPEN) { try files.replace(with: path) }
            }
            for path in ["", "a\0b"] {
                expectError(.SQLITE_MISUSE) { try files.move(to: path) }
                expectError(.SQLITE_MISUSE) { try files.copy(to: path) }
            }
        }
        #expect(try count(database) == 1)
        try database.close()
        try FileManager.default.removeItem(atPath: database.path)
        try FileManager.default.moveItem(atPath: directory, toPath: database.path)
        expectError(.SQLITE_CANTOPEN) { try count(database) }
        #expect(!database.isOpened)
        try FileManager.default.removeItem(atPath: database.path)
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        #expect(try count(database) == 0)
    }
}

@Suite struct FileNameTests {
    /// A relative path names the file that it led to when the database was made. In a process of its own, because all
    /// threads have one current folder.
    @Test func relativePaths() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(
                atPath: folder.file("b"), withIntermediateDirectories: false)
            let database = SharedDatabase(path: folder.file("a.sqlite"))
            try await database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            guard chdir(folder.path) == 0 else { exit(1) }
            let aliases = ["a.sqlite", "./a.sqlite", "b/../a.sqlite", "b/.././a.sqlite"].map { path in
                SharedDatabase(path: path)
            }
            guard aliases.allSatisfy({ $0.isSameDatabase(as: database) && $0.path == database.path }) else { exit(2) }
            // Closed and opened again in another folder.
            guard chdir(folder.file("b")) == 0 else { exit(3) }
            try await aliases[0].closeAsync()
            try await aliases[0].write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
            guard try await database.read({ db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }) == 2,
                SharedDatabase(path: "../a.sqlite").isSameDatabase(as: database),
                !SharedDatabase(path: "a.sqlite").isSameDatabase(as: database)
            else { exit(4) }
            let moved = folder.file("moved.sqlite")
            try await aliases[1].withClosedDatabase { files in try files.move(to: moved) }
            guard try FileManager.default.contentsOfDirectory(atPath: folder.file("b")) == [],
                FileManager.default.fileExists(atPath: moved)
            else { exit(5) }
        }
    }

    /// A relative path has no meaning then. In a process of its own, because all threads have one current folder.
    @Test func aCurrentFolderThatWasRemoved() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            guard chdir(folder.path) == 0, rmdir(folder.path) == 0 else { exit(1) }
            for path in ["a.sqlite", "a/b.sqlite", ".", "..", "./a"] {
                do {
                    try SharedDatabase(path: path).open()
                    exit(2)
                } catch DatabaseError.SQLITE_CANTOPEN {}
                _ = FileName.canonical(path)
            }
            do {
                _ = try DatabaseDirectory(path: "tenants")
                exit(3)
            } catch DatabaseError.SQLITE_CANTOPEN {}
        }
    }
}

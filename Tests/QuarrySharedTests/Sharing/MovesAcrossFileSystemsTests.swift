import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Databases that are moved to another file system, or replaced by one of another file system.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct MovesAcrossFileSystemsTests {
    let folder: TemporaryFolder
    let otherFolder: TemporaryFolder
    /// Whether the folders are on two file systems. If not, the first renaming of an operation fails as if they were.
    let areApart: Bool

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        otherFolder = try TemporaryFolder()
        let files = FileOperations()
        areApart = try files.status(folder.path)?.identity.device != files.status(otherFolder.path)?.identity.device
    }

    /// A fault of one call.
    private struct Fault: Sendable {
        let kind: FileOperations.Kind
        /// The number of calls of the kind before it.
        let skipped: Int
    }

    /// Operations with at most one fault.
    private func operations(_ fault: Fault? = nil, hasFailed: Lock<Bool> = Lock(false)) -> FileOperations {
        let counts = Lock((renames: 0, calls: 0))
        return FileOperations { [areApart] called, _ in
            counts.withLock { counts in
                if called == .rename {
                    counts.renames += 1
                    if counts.renames == 1, !areApart { return EXDEV }
                }
                guard let fault, fault.kind == called else { return 0 }
                counts.calls += 1
                guard counts.calls == fault.skipped + 1 else { return 0 }
                hasFailed.withLock { $0 = true }
                return EIO
            }
        }
    }

    private func makeDatabase(_ path: String, rows: Int) throws -> SharedDatabase {
        let database = SharedDatabase(path: path)
        try database.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for row in 0..<rows { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row]) }
        }
        return database
    }

    /// The number of rows of a file; nil if it is missing.
    private func rows(_ path: String) throws -> Int? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try DatabaseQueue(path: path).read { db in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "\(path)")
            return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        }
    }

    // MARK: - Whole operations

    /// The file is at its new path, with its rows and permissions, and nothing is left at the old one.
    @Test(arguments: [false, true]) func move(overwrites: Bool) throws {
        let database = try makeDatabase(folder.file("a.sqlite"), rows: 3)
        let target = otherFolder.file("a.sqlite")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: database.path)
        if overwrites { try makeDatabase(target, rows: 1).close() }
        try database.withClosedDatabase(operations()) { files in
            try files.move(to: target, overwrites: overwrites)
            #expect(try files.sizes().total == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: otherFolder.path) == ["a.sqlite"])
        let permissions = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(permissions == 0o640)
        #expect(try rows(target) == 3)
        #expect(try database.read { db in try !db.tableExists("t") })
        #expect(try otherFolder.openFiles.isEmpty)
    }

    /// The database has the path and the content of the other, which has none any more.
    @Test func replace() throws {
        let database = try makeDatabase(folder.file("a.sqlite"), rows: 3)
        let new = otherFolder.file("new.sqlite")
        try makeDatabase(new, rows: 7).close()
        try database.withClosedDatabase(operations()) { files in try files.replace(with: new) }
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 7)
        #expect(try FileManager.default.contentsOfDirectory(atPath: otherFolder.path).isEmpty)
    }

    /// The check of a copy has the collations of the program: those of the configuration and those added later.
    @Test func collations() throws {
        var configuration = Configuration()
        let path = folder.file("a.sqlite")
        configuration.prepareDatabase { db in
            db.add(
                collation: DatabaseCollation("first") { (lhs: String, rhs: String) in
                    lhs == rhs ? 0 : lhs < rhs ? -1 : 1
                })
        }
        let database = SharedDatabase(path: path, configuration: configuration)
        database.prepareConnections { db in
            db.add(
                collation: DatabaseCollation("second") { (lhs: String, rhs: String) in
                    lhs == rhs ? 0 : lhs < rhs ? -1 : 1
                })
        }
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a TEXT COLLATE first UNIQUE, b TEXT COLLATE second UNIQUE);
                    INSERT INTO t VALUES ('a', 'b'), ('c', 'd');
                    """)
        }
        let (copy, moved) = (folder.file("copy.sqlite"), otherFolder.file("moved.sqlite"))
        try database.withClosedDatabase(operations()) { files in
            try files.copy(to: copy)
            try files.move(to: moved)
        }
        try database.withClosedDatabase(operations()) { files in try files.replace(with: moved) }
        #expect(try database.read { db in try String.fetchAll(db, sql: "SELECT b FROM t ORDER BY a") } == ["b", "d"])
    }

    /// A taken path, a missing folder and a file in place of a folder are refused, and the errors name both paths.
    @Test func refusals() throws {
        let database = try makeDatabase(folder.file("a.sqlite"), rows: 3)
        let taken = otherFolder.file("taken.sqlite")
        try makeDatabase(taken, rows: 1).close()
        for path in [taken, otherFolder.file("missing/a.sqlite"), taken + "/a.sqlite", otherFolder.path] {
            let error = #expect(throws: DatabaseError.self) {
                try database.withClosedDatabase { files in try files.move(to: path) }
            }
            let message = error?.message ?? ""
            #expect(message.contains(database.path) && message.contains(path), "\(message)")
        }
        #expect(try rows(taken) == 1)
        #expect(try database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") } == 3)
    }

    // MARK: - Faults

    /// Whatever call fails, a database is whole at its old path, or at its new one, and the error names both.
    @Test(arguments: FileOperations.Kind.allCases, [false, true])
    func faultsWhileMoving(kind: FileOperations.Kind, overwrites: Bool) throws {
        var faultCount = 0
        for skipped in 0..<30 {
            let name = "\(kind)-\(skipped).sqlite"
            let database = try makeDatabase(folder.file(name), rows: 3)
            let target = otherFolder.file(name)
            if overwrites { try makeDatabase(target, rows: 1).close() }
            let hasFailed = Lock(false)
            let error = failure {
                let operations = operations(Fault(kind: kind, skipped: skipped), hasFailed: hasFailed)
                try database.withClosedDatabase(operations) { files in
                    try files.move(to: target, overwrites: overwrites)
                }
            }
            let found = try (old: rows(database.path), new: rows(target))
            let context: Comment = "\(kind), \(skipped): \(found), \(error?.description ?? "no error")"
            var outcomes: [(Int?, Int?)] = error == nil ? [(nil, 3)] : [(3, overwrites ? 1 : nil)]
            // The copy has its name, or the old file is gone.
            if error?.extendedResultCode == .SQLITE_IOERR_DIR_FSYNC { outcomes += [(nil, 3)] }
            if overwrites, [.SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_DELETE].contains(error?.extendedResultCode) {
                outcomes += [(3, 3)]
            }
            #expect(outcomes.contains { $0 == found }, context)
            if let error {
                let message = error.message ?? ""
                #expect(message.contains(database.path) && message.contains(target), context)
                #expect(message.contains("Input/output error"), context)
            }
            try checkLeftovers(kind, context)
            guard hasFailed.withLock({ $0 }) else { break }
            faultCount += 1
        }
        // SQLite itself writes. A file that is replaced needs no second name.
        let isUsed = kind != .write && !(kind == .link && overwrites)
        #expect(isUsed == (faultCount > 0) && faultCount < 30, "\(kind): \(faultCount) faults")
    }

    /// Whatever call fails, the database has its old content or the new one, and the other file isn't lost.
    @Test(arguments: FileOperations.Kind.allCases) func faultsWhileReplacing(kind: FileOperations.Kind) throws {
        var faultCount = 0
        for skipped in 0..<30 {
            let database = try makeDatabase(folder.file("\(kind)-\(skipped).sqlite"), rows: 3)
            let new = otherFolder.file("\(kind)-\(skipped).sqlite")
            try makeDatabase(new, rows: 7).close()
            let hasFailed = Lock(false)
            let error = failure {
                let operations = operations(Fault(kind: kind, skipped: skipped), hasFailed: hasFailed)
                try database.withClosedDatabase(operations) { files in try files.replace(with: new) }
            }
            let found = try (old: rows(database.path), new: rows(new))
            let context: Comment = "\(kind), \(skipped): \(found), \(error?.description ?? "no error")"
            var outcomes: [(Int?, Int?)] = error == nil ? [(7, nil)] : [(3, 7)]
            if error?.extendedResultCode == .SQLITE_IOERR_DIR_FSYNC { outcomes += [(7, 7), (7, nil)] }
            if error?.extendedResultCode == .SQLITE_IOERR_DELETE { outcomes += [(7, 7)] }
            #expect(outcomes.contains { $0 == found }, context)
            if let message = error?.message {
                #expect(message.contains(database.path) && message.contains(new), context)
            }
            try checkLeftovers(kind, context)
            guard hasFailed.withLock({ $0 }) else { break }
            faultCount += 1
        }
        let isUsed = kind != .write && kind != .link
        #expect(isUsed == (faultCount > 0) && faultCount < 30, "\(kind): \(faultCount) faults")
    }

    /// Nothing stays open, and no part of a copy stays behind, unless its removal has failed.
    private func checkLeftovers(_ kind: FileOperations.Kind, _ context: Comment) throws {
        #expect(try otherFolder.openFiles.isEmpty, context)
        for directory in [folder.path, otherFolder.path] where kind != .remove {
            let partial = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix(".") }
            #expect(partial.isEmpty, context)
        }
    }

    private func failure(_ body: () throws -> Void) -> DatabaseError? {
        do {
            try body()
            return nil
        } catch let error as DatabaseError {
            return error
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }
}

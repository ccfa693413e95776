import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Raw SQL on a connection that is closed at once, because another database waits for its place.
@Suite struct DirectorySQLTests {
    /// SQL that leaves something behind on its connection.
    enum SQL: String, CaseIterable, Sendable {
        case begin = "BEGIN; INSERT INTO t VALUES (2)"
        case savepoint = "SAVEPOINT s; INSERT INTO t VALUES (2)"
        case rollback = "INSERT INTO t VALUES (2); ROLLBACK"
        case attach = "ATTACH 'other' AS other; INSERT INTO other.o VALUES (2)"
        case temporaryTable = "CREATE TEMP TABLE o (a); INSERT INTO o VALUES (2)"
        case rollbackJournal = "PRAGMA journal_mode = DELETE"
        case exclusiveLock = "PRAGMA locking_mode = EXCLUSIVE; INSERT INTO t VALUES (2)"
        case queryOnly = "PRAGMA query_only = ON"

        /// Whether it runs inside a transaction.
        var isInTransaction: Bool { self == .rollback }
        /// The error of the access.
        var error: ResultCode? {
            switch self {
            case .begin, .savepoint: .SQLITE_MISUSE
            case .rollback: .SQLITE_ABORT
            default: nil
            }
        }
        /// The rows that it leaves in the table.
        var rows: [Int] { self == .exclusiveLock ? [1, 2] : [1] }
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// Nothing that belongs to the connection survives it, nothing is lost that was committed, and no file stays open.
    @Test(arguments: SQL.allCases) func connectionsThatAreClosed(_ sql: SQL) async throws {
        let other = folder.file("other.db")
        try await onOwnThread {
            try DatabaseQueue(path: other).write { db in try db.execute(sql: "CREATE TABLE o (a)") }
        }
        let directory = try DatabaseDirectory(
            path: folder.path, maximumOpenCount: 1, migrator: DatabaseDirectoryTests.migrator)
        let (a, b) = (try directory.database(named: "a"), try directory.database(named: "b"))
        try await onOwnThread { try DatabaseDirectoryTests.insert(a, 1) }
        let (hasRun, mayEnd) = (Step("the SQL has run"), Step("the access may end"))
        let access = OwnThread {
            let run: (Database) throws -> Void = { db in
                try db.execute(sql: sql.rawValue.replacingOccurrences(of: "'other'", with: "'\(other)'"))
                hasRun.reach()
                try mayEnd.wait()
            }
            if sql.isInTransaction { try a.write(run) } else { try a.writeWithoutTransaction(run) }
        }
        try await hasRun.reached()
        let waiter = OwnThread { try DatabaseDirectoryTests.insert(b, 1) }
        try await until("b waits") { directory.statistics.waitingCount == 1 }
        mayEnd.reach()
        if let error = sql.error {
            await expectError(error) { try await access.value }
        } else {
            try await access.value
        }
        try await waiter.value
        #expect(!a.isOpened)
        #expect(try folder.openFiles.filter { $0.contains("/a.sqlite") || $0.contains("/other.db") } == [])
        #expect(directory.statistics.evictedCount == 1)
        try await onOwnThread {
            #expect(try DatabaseDirectoryTests.values(a) == sql.rows)
            try a.writeWithoutTransaction { (db) throws in
                #expect(try !db.tableExists("o"))
                #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal")
                #expect(try String.fetchOne(db, sql: "PRAGMA locking_mode") == "normal")
                #expect(
                    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM pragma_database_list WHERE name = 'other'") == 0)
            }
            try DatabaseDirectoryTests.insert(a, 3)
            #expect(try DatabaseDirectoryTests.values(a) == sql.rows + [3])
            #expect(try DatabaseDirectoryTests.values(b) == [1])
        }
        let stored = try await onOwnThread {
            try DatabaseQueue(path: other).read { db in try Int.fetchAll(db, sql: "SELECT a FROM o") }
        }
        #expect(stored == (sql == .attach ? [2] : []))
    }

    /// An access that comes while its database is being closed opens it again, whatever SQL it runs.
    @Test(arguments: [UInt64.random(in: .min ... .max), 7]) func rawSQLAtRandom(seed: UInt64) async throws {
        let directory = try DatabaseDirectory(
            path: folder.path, maximumOpenCount: 1, migrator: DatabaseDirectoryTests.migrator)
        let scripts = [SQL.begin, .savepoint, .rollback, .temporaryTable, .queryOnly]
        let threads = try (0..<4).map { number in
            let database = try directory.database(named: "\(number % 3)")
            return OwnThread {
                var generator = SeededGenerator(seed: seed &+ UInt64(number))
                for step in 0..<40 {
                    let row = 1_000 * (number + 1) + step
                    let script = scripts.randomElement(using: &generator)!
                    do {
                        let sql = script.rawValue.replacingOccurrences(of: "(2)", with: "(-\(row))")
                        if script.isInTransaction {
                            try database.write { db in try db.execute(sql: sql) }
                        } else {
                            // The settings are those of the connection, which may live on.
                            try database.writeWithoutTransaction { db in
                                try db.execute(sql: sql)
                                if script == .queryOnly { try db.execute(sql: "PRAGMA query_only = OFF") }
                                if script == .temporaryTable { try db.execute(sql: "DROP TABLE temp.o") }
                            }
                        }
                        #expect(script.error == nil, "seed \(seed)")
                    } catch let error as DatabaseError {
                        #expect(error.resultCode == script.error, "\(error), seed \(seed)")
                    }
                    try DatabaseDirectoryTests.insert(database, row)
                }
            }
        }
        for thread in threads { try await thread.value }
        for name in 0..<3 {
            let expected = (0..<4).filter { $0 % 3 == name }.flatMap { number in
                (0..<40).map { 1_000 * (number + 1) + $0 }
            }
            let database = try directory.database(named: "\(name)")
            #expect(try await onOwnThread { try DatabaseDirectoryTests.values(database) } == expected, "seed \(seed)")
        }
        #expect(directory.statistics.openCount == 1)
        try await directory.closeAsync()
        #expect(try folder.openFiles == [])
    }
}

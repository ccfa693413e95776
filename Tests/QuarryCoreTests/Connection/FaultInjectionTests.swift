import Foundation
import QuarryCore
import QuarryTestSupport
import Testing

/// Every I/O operation of a transaction is made to fail, one run for each. Whatever happens, the caller is told, the
/// connection can be used afterwards, and the file has the state before the transaction or the one after it.
@Suite("Failing I/O", .timeLimit(.minutes(5 * TestTime.factor)))
struct FaultInjectionTests {
    struct Scenario: CustomTestStringConvertible {
        var journal: String
        /// The code of failing operations; nil for their own codes.
        var code: ResultCode?
        var andAllAfter: Bool
        var testDescription: String {
            "\(journal), \(code?.description ?? "own codes")\(andAllAfter ? ", and all after" : "")"
        }
    }

    static let scenarios = ["DELETE", "TRUNCATE", "PERSIST", "WAL"].flatMap { journal in
        [(nil, false), (nil, true), (.SQLITE_FULL, true)].map { code, andAllAfter in
            Scenario(journal: journal, code: code, andAllAfter: andAllAfter)
        }
    }

    private let before: Row = ["n": 100, "total": 5050]
    private let after: Row = ["n": 101, "total": 15149]

    private func state(_ db: Database) throws -> Row? {
        try Row.fetchOne(db, sql: "SELECT COUNT(*) AS n, SUM(a) AS total FROM t")
    }

    /// Large rows and a small cache: pages are written before the commit.
    private func create(_ path: String, _ journal: String) throws {
        try withConnection(path: path) { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = \(journal);
                    CREATE TABLE t (a INTEGER, b BLOB);
                    CREATE INDEX i ON t (a);
                    WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100)
                    INSERT INTO t SELECT n, zeroblob(500) FROM c;
                    """)
        }
    }

    private func write(_ db: Database) throws {
        try db.inTransaction {
            try db.execute(sql: "UPDATE t SET a = a + 100, b = randomblob(600)")
            try db.execute(sql: "INSERT INTO t VALUES (99, zeroblob(20000))")
            return .commit
        }
    }

    @Test(arguments: scenarios) func failingWriteRollsBack(_ scenario: Scenario) throws {
        let faults = try FaultVFS()
        var options = ConnectionOptions()
        options.vfs = faults.name
        options.busyMode = .immediateError
        // Only WAL is a property of the file.
        options.pragmas = ["PRAGMA cache_size = 8", "PRAGMA journal_mode = \(scenario.journal)"]
        let folder = try TemporaryFolder(isFast: true)
        try create(folder.file("origin"), scenario.journal)

        var codes: Set<ResultCode> = []
        var nth = 0
        var wasReached = true
        while wasReached {
            nth += 1
            let path = folder.file("db\(nth)")
            try FileManager.default.copyItem(atPath: folder.file("origin"), toPath: path)
            do {
                let connection = try TestConnection(path: path, options: options)
                faults.arm(.all, nth: nth, code: scenario.code, andAllAfter: scenario.andAllAfter)
                defer { faults.disarm() }
                var thrown: (any Error)?
                do { try connection.access { try write($0) } } catch { thrown = error }
                wasReached = faults.failures > 0
                faults.disarm()
                if let thrown {
                    let error = try #require(thrown as? DatabaseError, "operation \(nth): \(thrown)")
                    codes.insert(error.resultCode)
                    #expect(error.sql != nil, "operation \(nth): \(error)")
                    #expect(wasReached, "operation \(nth): \(error)")
                }
                try connection.access { db throws in
                    #expect(!db.isInsideTransaction, "operation \(nth)")
                    let state = try state(db)
                    if thrown == nil {
                        #expect(state == after, "operation \(nth)")
                    } else {
                        #expect(state == before || state == after, "operation \(nth)")
                    }
                    // And it can write.
                    try db.execute(sql: "INSERT INTO t VALUES (0, NULL)")
                    try db.execute(sql: "DELETE FROM t WHERE b IS NULL")
                    try db.close()
                }
            }
            try withConnection(path: path) { db throws in
                let state = try state(db)
                #expect(state == before || state == after, "operation \(nth)")
                #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "operation \(nth)")
            }
            for suffix in ["", "-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        // The operations of a transaction were all reached, and what failed was told as what it was.
        #expect(nth > 30)
        let told: Set<ResultCode> = [.SQLITE_IOERR, .SQLITE_FULL, .SQLITE_CANTOPEN]
        #expect(!codes.isEmpty && codes.isSubset(of: told), "\(codes)")
    }

    @Test(arguments: ["DELETE", "WAL"]) func failingOpeningThrows(_ journal: String) throws {
        let faults = try FaultVFS()
        var options = ConnectionOptions()
        options.vfs = faults.name
        let folder = try TemporaryFolder(isFast: true)
        try create(folder.file("db"), journal)
        var nth = 0
        var errors = 0
        repeat {
            nth += 1
            faults.arm(.all, nth: nth)
            defer { faults.disarm() }
            do {
                try TestConnection(path: folder.file("db"), options: options).access { db throws in
                    #expect(try state(db) == before)
                }
            } catch let error as DatabaseError {
                errors += 1
                #expect(
                    [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) && error.message != nil,
                    "operation \(nth): \(error)")
            }
        } while faults.failures > 0
        #expect(errors > 3)
        try withConnection(path: folder.file("db")) { db throws in
            #expect(try state(db) == before)
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
    }

    @Test func failingReadHasItsSQLAndTheNextQueryWorks() throws {
        let faults = try FaultVFS()
        var options = ConnectionOptions()
        options.vfs = faults.name
        options.pragmas = ["PRAGMA cache_size = 8"]
        let folder = try TemporaryFolder(isFast: true)
        try create(folder.file("db"), "DELETE")
        let connection = try TestConnection(path: folder.file("db"), options: options)
        let sql = "SELECT a FROM t WHERE length(b) > 0 ORDER BY rowid"
        for nth in [1, 2, 5, 10] {
            try connection.access { db throws in
                faults.arm(.read, nth: nth)
                expectError(.SQLITE_IOERR_READ, "disk I/O error", sql: sql) { try Int.fetchAll(db, sql: sql) }
                faults.disarm()
                #expect(try Int.fetchAll(db, sql: sql) == Array(1...100))
            }
        }
    }

    @Test func failingLocksSyncsAndSizesHaveTheirOwnCodes() throws {
        let faults = try FaultVFS()
        var options = ConnectionOptions()
        options.vfs = faults.name
        let folder = try TemporaryFolder(isFast: true)
        try create(folder.file("db"), "DELETE")
        let connection = try TestConnection(path: folder.file("db"), options: options)
        let expected: [(FaultVFS.Operations, ResultCode)] = [
            (.lock, .SQLITE_IOERR_LOCK), (.sync, .SQLITE_IOERR_FSYNC), (.write, .SQLITE_IOERR_WRITE),
            (.delete, .SQLITE_IOERR_DELETE), (.size, .SQLITE_IOERR_FSTAT),
        ]
        for (operations, code) in expected {
            try connection.access { db throws in
                faults.arm(operations, nth: 1)
                let error = expectError(code) { try write(db) }
                faults.disarm()
                #expect(error?.message == "disk I/O error")
                #expect(try state(db) == before)
            }
        }
        try connection.access { db throws in
            try write(db)
            #expect(try state(db) == after)
        }
    }
}

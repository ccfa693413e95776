import Foundation
import QuarryTestSupport
import Testing

@testable import Quarry
@testable import QuarryCore

/// The two forms of a call.
enum CallForm: String, CaseIterable, CustomTestStringConvertible {
    case sync
    case async

    var testDescription: String { rawValue }
}

extension DatabaseReader {
    /// Backs up in one form or the other.
    func backup(
        _ form: CallForm, toFile path: String, _ options: BackupOptions = BackupOptions(),
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)? = nil
    ) async throws -> BackupResult {
        switch form {
        case .sync: try await onOwnThread { try self.backup(toFile: path, options: options, progress: progress) }
        case .async: try await backupAsync(toFile: path, options: options, progress: progress)
        }
    }
}

extension DatabaseWriter {
    /// Restores in one form or the other.
    func restore(_ form: CallForm, from path: String, check: BackupCheck = .quick) async throws {
        switch form {
        case .sync: try await onOwnThread { try self.restore(from: path, check: check) }
        case .async: try await restore(from: path, check: check)
        }
    }

    /// Makes a table of rows that have a page each, and are numbered from 1.
    func makePages(_ count: Int) throws {
        try write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                    INSERT INTO t SELECT n, randomblob(3900) FROM c;
                    """, arguments: [count])
        }
    }

    /// Runs `body` while another connection holds the lock of the file, until the step is reached.
    func whileLocked(_ body: (_ mayEnd: Step) async throws -> Void) async throws {
        let (isLocked, mayEnd) = (Step("the lock is held"), Step("the lock may go"))
        // Connections that close at the same moment may both leave the log.
        let mayClose = Step("this database is closed")
        let lock = OwnThread { [path] in
            let other = try DatabaseQueue(path: path)
            try other.write { db in
                try db.execute(sql: "UPDATE t SET b = 1 WHERE a = 1")
                isLocked.reach()
                try mayEnd.wait()
            }
            try mayClose.wait()
            try other.close()
        }
        try await isLocked.reached()
        defer { for step in [mayEnd, mayClose] { step.reach() } }
        try await body(mayEnd)
        for step in [mayEnd, mayClose] { step.reach() }
        try await lock.value
    }

    func insertPage() throws { try write { db in try db.execute(sql: "INSERT INTO t (b) VALUES (randomblob(3900))") } }
}

extension TemporaryFolder {
    /// The names of its files, in order.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// The bytes of each of its files, but for the index of a log, which is memory.
    var bytes: [String: Data] {
        get throws {
            let files = try names.filter { !$0.hasSuffix("-shm") }
            return Dictionary(
                uniqueKeysWithValues: try files.map { ($0, try Data(contentsOf: URL(fileURLWithPath: file($0)))) })
        }
    }
}

/// The calls of the file system that the library makes, and the one at which something happens.
final class FileCalls: Sendable {
    struct Call: CustomStringConvertible {
        let kind: FileOperations.Kind
        let path: String

        var description: String { "\(kind) \(path)" }
    }

    let made = Recorded<[Call]>([])

    /// - parameter always: returns the number of the error with which calls of a kind always fail; 0 for none.
    /// - parameter happens: called at a call; returns the number of its error.
    func operations(
        _ nth: Int, always: @escaping @Sendable (FileOperations.Kind) -> CInt = { _ in 0 },
        _ happens: @escaping @Sendable () -> CInt
    ) -> FileOperations {
        var files = FileOperations()
        files.fault = { [made] kind, path in
            let count = made.update { made in
                made.append(Call(kind: kind, path: path))
                return made.count
            }
            return count == nth ? happens() : always(kind)
        }
        return files
    }

    /// Fails one call after the other, until none is left to fail.
    ///
    /// - parameter body: makes the calls.
    /// - parameter check: is given the failed call, and the error that has followed.
    /// - returns: the number of calls.
    static func eachFails(
        with number: CInt, always: @escaping @Sendable (FileOperations.Kind) -> CInt = { _ in 0 },
        _ body: (FileOperations) throws -> Void, check: (Call, (any Error)?) throws -> Void
    ) throws -> Int {
        var nth = 1
        while true {
            let calls = FileCalls()
            let files = calls.operations(nth, always: always) { number }
            var failure: (any Error)?
            do { try body(files) } catch { failure = error }
            guard calls.made.value.count >= nth else {
                if let failure { throw failure }
                return nth - 1
            }
            try check(calls.made.value[nth - 1], failure)
            nth += 1
        }
    }
}

/// The synchronous forms, for tests that are asynchronous.
extension DatabaseReader {
    func readHere<T>(_ body: (Database) throws -> T) throws -> T { try read(body) }
}

extension DatabaseWriter {
    func writeHere<T>(_ body: (Database) throws -> T) throws -> T { try writeWithoutTransaction(body) }
}

/// The contents of a database: for each table the sum of its rows, and the problems that an integrity check finds.
func contents(ofFile path: String) throws -> [String] {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try contents(of: queue)
}

func contents(of reader: any DatabaseReader) throws -> [String] { try reader.read { db in try contents(db) } }

func rowCount(of reader: any DatabaseReader) throws -> Int {
    try reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1 }
}

private func contents(_ db: Database) throws -> [String] {
    let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'grdb_commit_number' ORDER BY name")
    return try tables.map { table in
        let row = try Row.fetchOne(
            db, sql: "SELECT COUNT(*), TOTAL(a), TOTAL(unicode(hex(b))) FROM \(table)")
        return "\(table): \(row?.description ?? "")"
    } + String.fetchAll(db, sql: "PRAGMA integrity_check")
}

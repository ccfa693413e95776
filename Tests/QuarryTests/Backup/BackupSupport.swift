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

    func insertPage() throws { try write { db in try db.execute(sql: "INSERT INTO t (b) VALUES (randomblob(3900))") } }
}

extension TemporaryFolder {
    /// The names of its files, in order.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}

/// The synchronous forms, for tests that are asynchronous.
extension DatabaseWriter {
    func readHere<T>(_ body: (Database) throws -> T) throws -> T { try read(body) }

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

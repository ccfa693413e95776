import Foundation
import Quarry
import QuarryRecovery
import QuarryTestSupport
import Testing

/// Every operation of SQLite on the disk fails during a backup or a restoration, one run for each: the database has the
/// content before it or after it, and the target of a backup is whole or absent.
@Suite("Backups on a failing disk", .timeLimit(.minutes(5 * TestTime.factor)), .serialized)
struct BackupOnFailingDiskTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var operations: FaultVFS.Operations
        var code: ResultCode?
        var andAllAfter: Bool
    }

    static let faults = [
        Fault(testDescription: "I/O error", operations: .all, andAllAfter: false),
        Fault(testDescription: "I/O errors from then on", operations: .all, andAllAfter: true),
        Fault(testDescription: "disk full from then on", operations: .write, code: .SQLITE_FULL, andAllAfter: true),
        Fault(testDescription: "no sync from then on", operations: .sync, andAllAfter: true),
    ]

    static let kinds = ["queue", "walQueue", "pool"]

    private static func open(_ kind: String, _ path: String, vfs: String) throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.vfs = vfs
        configuration.commitNumbers = kind == "pool" ? .stored : .counted
        if kind == "walQueue" { configuration.journalMode = .wal }
        return kind == "pool"
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func fill(_ writer: any DatabaseWriter, rows: Int) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                    INSERT INTO t SELECT n, randomblob(3900) FROM c;
                    """, arguments: [rows])
        }
    }

    private static func content(_ reader: any DatabaseReader) throws -> String {
        try reader.read { db in
            let sum = try Row.fetchOne(db, sql: "SELECT COUNT(*), TOTAL(a), TOTAL(unicode(hex(b))) FROM t")
            return "\(sum?.description ?? "") \(try String.fetchAll(db, sql: "PRAGMA integrity_check"))"
        }
    }

    private static func content(ofFile path: String) throws -> String {
        var configuration = Configuration()
        configuration.readonly = true
        return try content(DatabaseQueue(path: path, configuration: configuration))
    }

    @Test(arguments: kinds, faults) func backup(kind: String, fault: Fault) async throws {
        let (count, problems) = try await onOwnThread(within: 250) {
            let folder = try TemporaryFolder(isFast: true)
            let target = try TemporaryFolder(isFast: true)
            let vfs = try FaultVFS()
            let writer = try Self.open(kind, folder.file("db"), vfs: vfs.name)
            try Self.fill(writer, rows: 6)
            let before = try Self.content(writer)
            var options = BackupOptions()
            options.pagesPerStep = 3
            options.check = .integrity
            var nth = 0
            var problems: [String] = []
            var wasReached = true
            while wasReached {
                nth += 1
                options.compact = nth % 2 == 0 && fault.andAllAfter
                vfs.arm(fault.operations, nth: nth, code: fault.code, andAllAfter: fault.andAllAfter)
                var failure: (any Error)?
                do { try writer.backup(toFile: target.file("copy"), options: options) } catch { failure = error }
                wasReached = vfs.failures > 0
                vfs.disarm()
                let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                if let failure {
                    if names != [] { problems.append("\(nth): \(failure) leaves \(names)") }
                    if !(failure is DatabaseError) { problems.append("\(nth): \(failure)") }
                } else {
                    if names != ["copy"] { problems.append("\(nth): success leaves \(names)") }
                    let copy = try Self.content(ofFile: target.file("copy"))
                    if copy != before { problems.append("\(nth): the copy is \(copy)") }
                    try FileManager.default.removeItem(atPath: target.file("copy"))
                }
                let after = try Self.content(writer)
                if after != before { problems.append("\(nth): the source is \(after)") }
            }
            try writer.close()
            if try Self.content(ofFile: folder.file("db")) != before { problems.append("the closed source") }
            return (nth, problems)
        }
        #expect(problems == [])
        #expect(count > (fault.operations == .all ? 40 : fault.operations == .write ? 5 : 0), "\(count)")
    }

    @Test(arguments: kinds, faults) func restore(kind: String, fault: Fault) async throws {
        let (count, problems) = try await onOwnThread(within: 250) {
            let folder = try TemporaryFolder(isFast: true)
            let vfs = try FaultVFS()
            let source = folder.file("source")
            let first = try DatabaseQueue(path: source)
            try Self.fill(first, rows: 9)
            try first.close()
            let restored = try Self.content(ofFile: source)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: source))
            let writer = try Self.open(kind, folder.file("db"), vfs: vfs.name)
            try Self.fill(writer, rows: 6)
            let before = try Self.content(writer)
            try writer.backup(toFile: folder.file("before"))
            var nth = 0
            var problems: [String] = []
            var wasReached = true
            while wasReached {
                nth += 1
                vfs.arm(fault.operations, nth: nth, code: fault.code, andAllAfter: fault.andAllAfter)
                var failure: (any Error)?
                do { try writer.restore(from: source) } catch { failure = error }
                wasReached = vfs.failures > 0
                vfs.disarm()
                let state = try Self.content(writer)
                // An error at the very end, such as of a journal that can't be removed, may come after the commit.
                if state != restored, failure == nil || state != before {
                    problems.append("\(nth): \(failure.map { "\($0)" } ?? "no error"): \(state)")
                }
                if let failure, !(failure is DatabaseError) { problems.append("\(nth): \(failure)") }
                // As another process sees it.
                var configuration = Configuration()
                configuration.readonly = true
                let other = try Self.content(DatabaseQueue(path: folder.file("db"), configuration: configuration))
                if other != state { problems.append("\(nth): the file has \(other)") }
                if state == restored { try writer.restore(from: folder.file("before")) }
            }
            if try Data(contentsOf: URL(fileURLWithPath: source)) != bytes { problems.append("the source has changed") }
            try writer.close()
            return (nth, problems)
        }
        #expect(problems == [])
        #expect(count > (fault.operations == .all ? 40 : fault.operations == .write ? 5 : 0), "\(count)")
    }
}

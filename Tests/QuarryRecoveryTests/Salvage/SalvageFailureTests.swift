import Foundation
import Quarry
import QuarryCore
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryRecovery

/// Every operation on the disk fails during a salvage, one run for each: the source is untouched, and the target whole
/// or absent.
@Suite("Salvage on a failing disk", .timeLimit(.minutes(5 * TestTime.factor))) struct SalvageFailureTests {
    private let folder: TemporaryFolder
    private let targets: TemporaryFolder
    private var target: String { targets.file("new") }

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        targets = try TemporaryFolder(isFast: true)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var operations: FaultVFS.Operations
        var code: ResultCode?
        var andAllAfter: Bool
        /// The number of operations that a salvage has at least.
        var minimum: Int
    }

    static let faults = [
        Fault(testDescription: "I/O error", operations: .all, andAllAfter: false, minimum: 50),
        Fault(testDescription: "I/O errors from then on", operations: .all, andAllAfter: true, minimum: 50),
        Fault(
            testDescription: "disk full from then on", operations: .write, code: .SQLITE_FULL, andAllAfter: true,
            minimum: 10),
        Fault(testDescription: "no reading from then on", operations: .read, andAllAfter: true, minimum: 30),
        Fault(testDescription: "no file opened from then on", operations: .open, andAllAfter: true, minimum: 3),
    ]

    /// Salvages, again and again with a later fault, until none has happened.
    ///
    /// - parameter arm: is told the number of the operation that fails.
    /// - parameter disarm: returns whether an operation has failed.
    /// - returns: the number of runs, and those that threw.
    private func salvageUntilNothingFails(
        _ source: String, _ salvage: DatabaseSalvage, arm: (Int) -> Void, disarm: () -> Bool
    ) throws -> (runs: Int, failures: Int) {
        let files = ["", "-wal", "-journal"].map { FileCopy.bytes(source + $0) }
        var (nth, failures) = (0, 0)
        while true {
            nth += 1
            arm(nth)
            var error: (any Error)?
            do {
                let report = try salvage.salvage(into: target)
                // A page that can't be read is lost, and the report says so.
                #expect(report.integrity.isIntact, "operation \(nth): \(report)")
            } catch let thrown {
                error = thrown
            }
            let hasFailed = disarm()
            let names = try FileCopy.names(in: targets.path)
            if let error {
                failures += 1
                #expect(error is DatabaseError, "operation \(nth): \(error)")
                #expect(names == [], "operation \(nth)")
            } else {
                #expect(names == ["new"], "operation \(nth)")
                let problems = try DatabaseQueue(path: target).read { db in try db.integrityCheck() }
                #expect(problems == [], "operation \(nth)")
            }
            for name in try FileCopy.names(in: targets.path) { FileCopy.remove(targets.file(name)) }
            #expect(["", "-wal", "-journal"].map { FileCopy.bytes(source + $0) } == files, "operation \(nth)")
            if !hasFailed {
                #expect(error == nil)
                return (nth, failures)
            }
        }
    }

    @Test(arguments: faults) func ofSQLiteLeavesTheSourceAndNoTornTarget(fault: Fault) async throws {
        try await onOwnThread(within: 250 * Double(TestTime.factor)) {
            let file = try DamagedFile(path: folder.file("db"))
            let faults = try FaultVFS()
            var configuration = Configuration()
            configuration.vfs = faults.name
            let (runs, failures) = try salvageUntilNothingFails(
                file.path, DatabaseSalvage(path: file.path, configuration: configuration)
            ) { nth in
                faults.arm(fault.operations, nth: nth, code: fault.code, andAllAfter: fault.andAllAfter)
            } disarm: {
                defer { faults.disarm() }
                return faults.failures > 0
            }
            #expect(runs > fault.minimum && failures >= min(10, fault.minimum), "\(failures) of \(runs)")
        }
    }

    enum Companion: String, CaseIterable {
        case none
        case log
        case journal

        /// Makes a database of a killed program: 300 rows, whose text is `kept`.
        func make(_ path: String) throws {
            let working = path + "-working"
            let queue = try DatabaseQueue(path: working)
            func copy() throws {
                for suffix in ["", "-wal", "-journal"] {
                    try FileCopy.copyIfExists(working + suffix, to: path + suffix)
                }
            }
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA page_size = 1024; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                        INSERT INTO t SELECT i, '\(self == .log ? "old" : "kept")' FROM n;
                        """)
                switch self {
                case .none: try copy()
                case .log:
                    try db.execute(sql: "PRAGMA journal_mode = WAL; UPDATE t SET text = 'kept'")
                    try copy()
                case .journal:
                    try db.inTransaction {
                        // The changed pages don't fit into the cache: they are written before the commit.
                        try db.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; UPDATE t SET text = 'lost'")
                        try copy()
                        return .rollback
                    }
                }
            }
            try queue.close()
            for suffix in ["", "-wal", "-journal", "-shm"] { FileCopy.remove(working + suffix) }
        }
    }

    /// A read that fails may cost pages, commits of the log, or the way back to the state before a transaction: the
    /// report tells of it.
    @Test(arguments: Companion.allCases) func nothingIsLostThatTheReportDoesNotTell(companion: Companion) throws {
        let path = folder.file("db")
        try companion.make(path)
        let faults = try FaultVFS()
        var configuration = Configuration()
        configuration.vfs = faults.name
        var (nth, incompleteCount, hasFailed) = (0, 0, true)
        while hasFailed {
            nth += 1
            faults.arm(.read, nth: nth)
            let result = Result {
                try DatabaseSalvage(path: path, configuration: configuration).salvage(into: target)
            }
            hasFailed = faults.failures > 0
            faults.disarm()
            guard case .success(let report) = result else { continue }
            // The schema may be lost.
            let rows = try? DatabaseQueue(path: target).read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE text = 'kept'")
            }
            if report.isComplete { #expect(rows == 300, "operation \(nth): \(report)") } else { incompleteCount += 1 }
            FileCopy.remove(target)
        }
        #expect(nth > 10 && incompleteCount > 3, "\(incompleteCount) of \(nth)")
    }

    /// The calls that SQLite doesn't make: its own file beside the target, the sync, the link or the renaming, and the
    /// sync of the folder.
    @Test(arguments: [EIO, ENOSPC], [false, true]) func ofTheFileSystemLeavesTheSourceAndNoTornTarget(
        code: CInt, hasLinks: Bool
    ) async throws {
        try await onOwnThread(within: 250 * Double(TestTime.factor)) {
            let file = try DamagedFile(path: folder.file("db"))
            let state = Lock((left: 0, failed: nil as FileOperations.Kind?, kinds: Set<FileOperations.Kind>()))
            var salvage = DatabaseSalvage(path: file.path)
            salvage.files.fault = { kind, _ in
                state.withLock { state in
                    state.left -= 1
                    if state.left == 0 {
                        state.failed = kind
                        state.kinds.insert(kind)
                        return code
                    }
                    return kind == .link && !hasLinks ? EPERM : 0
                }
            }
            let (runs, failures) = try salvageUntilNothingFails(
                file.path, salvage
            ) { nth in
                state.withLock { ($0.left, $0.failed) = (nth, nil) }
            } disarm: {
                state.withLock { $0.failed != nil }
            }
            #expect(runs > 10 && failures > 5, "\(failures) of \(runs)")
            var expected: Set<FileOperations.Kind> = [
                .create, .permissions, .lock, .status, .list, .sync, .syncFolder, .link, .remove,
            ]
            if !hasLinks { expected.insert(.rename) }
            #expect(state.withLock { $0.kinds } == expected)
        }
    }

    @Test func errorsOfTheFileSystemNameTheSalvageAndTheFile() throws {
        let file = try DamagedFile(path: folder.file("db"))
        var salvage = DatabaseSalvage(path: file.path)
        salvage.files.fault = { kind, _ in kind == .syncFolder ? EIO : 0 }
        expectError(
            .SQLITE_IOERR_DIR_FSYNC,
            "salvage of \(file.path) into \(target): could not sync \(targets.path): Input/output error"
        ) { try salvage.salvage(into: target) }
        salvage.files.fault = { kind, _ in kind == .sync ? ENOSPC : 0 }
        expectError(.SQLITE_FULL) { try salvage.salvage(into: target) }
        #expect(try FileCopy.names(in: targets.path) == [])
    }

    @Test func targetsThatAppearAreKept() throws {
        let file = try DamagedFile(path: folder.file("db"))
        for hasLinks in [true, false] {
            var salvage = DatabaseSalvage(path: file.path)
            salvage.files.fault = { kind, _ in kind == .link && !hasLinks ? EPERM : 0 }
            expectError(.SQLITE_CANTOPEN, "salvage of \(file.path) into \(target): the file exists") {
                try salvage.salvage(into: target) { progress in
                    if progress.phase == .check { try Data("mine".utf8).write(to: URL(fileURLWithPath: target)) }
                }
            }
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
            #expect(try FileCopy.names(in: targets.path) == ["new"])
            FileCopy.remove(target)
        }
    }

    @Test(arguments: [0o600, 0o640]) func permissionsAreThoseOfTheDamagedFile(permissions: Int) throws {
        let file = try DamagedFile(path: folder.file("db"))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
        _ = try DatabaseSalvage(path: file.path).salvage(into: target)
        let attributes = try FileManager.default.attributesOfItem(atPath: target)
        #expect(attributes[.posixPermissions] as? Int == permissions)
    }

    @Test func leftoversOfTheSameTargetAreRemoved() throws {
        let file = try DamagedFile(path: folder.file("db"))
        let leftover = ".new.0123456789abcdef.partial"
        for name in [leftover, leftover + "-journal", ".other.0123456789abcdef.partial"] {
            try Data("torn".utf8).write(to: URL(fileURLWithPath: targets.file(name)))
        }
        _ = try DatabaseSalvage(path: file.path).salvage(into: target)
        #expect(try FileCopy.names(in: targets.path) == [".other.0123456789abcdef.partial", "new"])
    }

    /// Some sectors of the disk can't be read, however often they are asked for.
    @Test(arguments: ["delete", "wal"]) func badSectorsTakeOnlyTheirPages(journalMode: String) throws {
        let path = folder.file("db")
        let working = folder.file("working")
        let queue = try DatabaseQueue(path: working)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = 512;
                    CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                    INSERT INTO t SELECT i, 'some text of row ' || i FROM n;
                    """)
            if journalMode == "wal" {
                try db.execute(
                    sql: """
                        PRAGMA wal_autocheckpoint = 0; PRAGMA journal_mode = WAL;
                        UPDATE t SET text = 'later text of row ' || id WHERE id BETWEEN 200 AND 260;
                        """)
            }
            // As a killed program leaves them.
            try FileCopy.copyIfExists(working, to: path)
            try FileCopy.copyIfExists(working + "-wal", to: path + "-wal")
        }
        try queue.close()
        let expected = try ExpectedRows(path: path)
        let faults = try FaultVFS()
        // The middle of each tenth page, and of the log.
        let bad = stride(from: 10, to: expected.pages.count, by: 10).map { $0 }
        for page in bad { faults.damage(path, (page - 1) * 512 + 200..<(page - 1) * 512 + 201) }
        if journalMode == "wal" {
            // The frames from there on don't count.
            let size = try #require(FileCopy.bytes(path + "-wal")?.count)
            faults.damage(path + "-wal", size - 100..<size - 99)
        }
        var configuration = Configuration()
        configuration.vfs = faults.name
        let report = try DatabaseSalvage(path: path, configuration: configuration).salvage(into: target)
        if journalMode == "delete" { #expect(report.unreadablePages == bad, "\(report)") }
        let source = try PageSource(path: path, vfs: faults.name)
        let pages = expected.pages.indices.map { $0 == 0 ? nil : source.page(UInt32($0)) }
        let saved = try SavedRows(target, report).check(expected, pages: pages)
        #expect(saved.inTable == saved.all && saved.all > 200 && saved.all < 400, "\(saved), \(report)")
    }
}

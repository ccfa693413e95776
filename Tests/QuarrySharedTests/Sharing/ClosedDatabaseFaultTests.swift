import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// Failing calls and failing disks while a shared database is closed, and its files are changed.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ClosedDatabaseFaultTests {
    /// An operation on the files of a database of one row.
    enum Operation: String, CaseIterable, CustomTestStringConvertible {
        case copy, overwritingCopy, move, overwritingMove, remove, replace

        var testDescription: String { rawValue }

        /// The calls that it makes.
        var kinds: Set<FileOperations.Kind> {
            switch self {
            case .copy: [.create, .lock, .permissions, .sync, .syncFolder, .link, .remove, .status, .list]
            case .overwritingCopy: [.create, .lock, .permissions, .sync, .syncFolder, .rename, .remove, .status, .list]
            case .move, .overwritingMove, .replace: [.rename, .remove, .syncFolder, .status]
            case .remove: [.remove, .syncFolder]
            }
        }

        var hasTarget: Bool { self == .overwritingCopy || self == .overwritingMove }

        func run(_ files: ClosedDatabaseFiles, _ target: String, _ new: String) throws {
            switch self {
            case .copy: try files.copy(to: target)
            case .overwritingCopy: try files.copy(to: target, overwrites: true)
            case .move: try files.move(to: target)
            case .overwritingMove: try files.move(to: target, overwrites: true)
            case .remove: try files.remove()
            case .replace: try files.replace(with: new)
            }
        }

        /// The numbers of rows of the database, the target and the new database; nil for a file that is missing.
        var before: [Int?] { [1, hasTarget ? 2 : nil, 7] }

        var after: [Int?] {
            switch self {
            case .copy, .overwritingCopy: [1, 1, 7]
            case .move, .overwritingMove: [nil, 1, 7]
            case .remove: [nil, nil, 7]
            case .replace: [7, nil, nil]
            }
        }
    }

    private func make(_ path: String, rows: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            for row in 0..<rows { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row]) }
        }
        try queue.close()
    }

    private func rows(_ path: String) throws -> Int? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
    }

    /// Whichever call fails, the files are as before or as afterwards, and the operation can be repeated.
    @Test(arguments: Operation.allCases, FileOperations.Kind.allCases)
    func calls(_ operation: Operation, kind: FileOperations.Kind) throws {
        var failureCount = 0
        for number in 1... {
            let folder = try TemporaryFolder(isFast: true)
            let database = SharedDatabase(path: folder.file("a.sqlite"))
            let (target, new) = (folder.file("target.sqlite"), folder.file("new.sqlite"))
            try database.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try make(new, rows: 7)
            if operation.hasTarget { try make(target, rows: 2) }
            let count = Lock(0)
            let operations = FileOperations { called, _ in
                guard called == kind else { return 0 }
                return count.withLock { count in
                    count += 1
                    return count == number ? EIO : 0
                }
            }
            var found: [Int?] = []
            var error: (any Error)?
            let paths = [database.path, target, new]
            try database.withClosedDatabase(operations) { files in
                do { try operation.run(files, target, new) } catch let thrown { error = thrown }
                found = try paths.map(rows)
            }
            let hasFailed = count.withLock { $0 >= number }
            #expect(hasFailed || error == nil, "\(number)")
            guard hasFailed else {
                #expect(found == operation.after)
                break
            }
            failureCount += 1
            guard let error else {
                // A call whose failure does no harm, such as the removal of a file that isn't needed any more.
                #expect(found == operation.after, "\(number)")
                continue
            }
            let failure = try #require(error as? DatabaseError)
            #expect(failure.message?.contains("Input/output error") ?? false, "\(number): \(failure)")
            #expect(found == operation.before || found == operation.after, "\(number): \(found), \(failure)")
            if found == operation.before {
                try database.withClosedDatabase { files in
                    try operation.run(files, target, new)
                    found = try paths.map(rows)
                }
                #expect(found == operation.after, "\(number)")
            }
            #expect(try folder.openFiles.allSatisfy { $0.hasPrefix(database.path) })
        }
        #expect(operation.kinds.contains(kind) == (failureCount > 0))
    }

    /// The operations of the disk that fail while connections are closed: closing moves the log into the database. It
    /// opens no file.
    static let disks: [FaultVFS.Operations] = [.read, .write, .sync, .lock, .truncate, .delete, .size, .all]

    /// Rows stay where they were, or are all in the moved file, whichever operation of the disk fails while the
    /// database is closed.
    @Test(arguments: disks, [false, true])
    func closing(_ operations: FaultVFS.Operations, isLasting: Bool) throws {
        let (folder, disk) = (try TemporaryFolder(isFast: true), try FaultVFS())
        var configuration = Configuration()
        configuration.vfs = disk.name
        configuration.busyMode = .immediateError
        configuration.otherProcesses = .ignored
        let database = SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)
        var failureCount = 0
        var row = 0
        var rows: [Int] = []
        for moves in [false, true] {
            for number in 1... {
                row += 1
                try database.write { db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)")
                    try db.insert(row)
                }
                rows.append(row)
                let target = folder.file("moved-\(number).sqlite")
                disk.arm(operations, nth: number, andAllAfter: isLasting)
                var error: (any Error)?
                do {
                    if moves {
                        try database.withClosedDatabase { files in try files.move(to: target) }
                    } else {
                        try database.close()
                    }
                } catch let thrown {
                    error = thrown
                }
                let hasFailed = disk.failures > 0
                disk.disarm()
                if moves, error == nil {
                    #expect(try DatabaseQueue(path: target).read { try $0.values() } == rows, "\(number)")
                    #expect(try database.read { db in try !db.tableExists("t") }, "\(number)")
                    rows = []
                } else {
                    #expect(try database.read { db in try db.values() } == rows, "\(number)")
                    #expect(!FileManager.default.fileExists(atPath: target), "\(number)")
                }
                #expect(hasFailed || error == nil)
                guard hasFailed else { break }
                failureCount += 1
            }
        }
        try database.close()
        #expect(try folder.openFiles == [])
        #expect(failureCount > 0)
    }
}

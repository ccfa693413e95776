import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// A file that is moved, deleted or replaced while a database has it open. SQLite finds the log and its index by the
/// file's name: a connection to another file of that name would take them for its own, and cut the index that the other
/// connections have mapped (<https://www.sqlite.org/howtocorrupt.html>).
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct ReplacedFileTests {
    private let folder = try! TemporaryFolder(isFast: true)

    private func pool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        return pool
    }

    private func replace(_ path: String) throws {
        let other = try DatabaseQueue(path: path + ".new")
        try other.makeTable(7, 8, 9)
        try other.close()
        #expect(rename(path + ".new", path) == 0)
    }

    private func isRefused(_ path: String, _ open: () throws -> Void) {
        isRefused(path, #expect(throws: DatabaseError.self) { try open() })
    }

    private func isRefused(_ path: String, _ error: DatabaseError?) {
        #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        #expect(
            error?.message?.hasSuffix(
                "\(path) was moved, deleted or replaced while it was open, so no other connection is opened: close the "
                    + "database, remove \(path)-wal if it is left, the log of the former file, and open it again")
                == true, "\(error as Any)")
    }

    private func values(_ database: any DatabaseReader) throws -> [Int] {
        try database.read { db in try Int.fetchAll(db, sql: "SELECT * FROM t") }
    }

    enum Change: CaseIterable { case replaced, deleted, moved, linkChanged }

    /// The connections that are open go on with their file.
    @Test(arguments: Change.allCases) func noOtherConnectionIsOpened(_ change: Change) async throws {
        if change == .linkChanged {
            try DatabaseQueue(path: folder.file("first")).close()
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("a.sqlite"), withDestinationPath: folder.file("first"))
        }
        let pool = try await onOwnThread { try self.pool() }
        let path = pool.path
        let observed = Recorded<[Int]>([])
        try await onOwnThread {
            try pool.read { db in
                switch change {
                case .replaced: try replace(path)
                case .deleted: try FileManager.default.removeItem(atPath: path)
                case .moved: try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                case .linkChanged:
                    try replace(folder.file("second"))
                    try FileManager.default.removeItem(atPath: path)
                    try FileManager.default.createSymbolicLink(
                        atPath: path, withDestinationPath: folder.file("second"))
                }
                // Another reader, which would see the values of another file.
                try onOtherThread { isRefused(path) { _ = try values(pool) } }
                #expect(try Int.fetchAll(db, sql: "SELECT * FROM t") == [1])
            }
            // Inside a write, and beside a barrier, the reader that is open serves.
            try pool.writeWithoutTransaction { _ throws in #expect(try values(pool) == [1]) }
            try pool.barrierWriteWithoutTransaction { db throws in
                #expect(try Int.fetchAll(db, sql: "SELECT * FROM t") == [1])
            }
            isRefused(path) { _ = try pool.makeSnapshot() }
            isRefused(path) { _ = try pool.makeStableReader() }
            isRefused(path) { try pool.backup(toFile: folder.file("copy")) }
            #expect(try !folder.names.contains("copy"))
        }
        let cancellable = ValueObservation.tracking { db in try Int.fetchAll(db, sql: "SELECT * FROM t") }.start(
            in: pool, scheduling: .task, onError: { Issue.record($0) },
            onChange: { value in observed.update { $0 = value } })
        try await until("the observation has its value") { observed.value == [1] }
        cancellable.cancel()
        await isRefused(
            path, #expect(throws: DatabaseError.self) { try await pool.backup(toFile: folder.file("copy")) })
        // The readers are given back while nothing uses them: the next read would need another connection.
        pool.releaseMemory()
        let read = await #expect(throws: DatabaseError.self) {
            try await pool.read { db in try Int.fetchAll(db, sql: "SELECT * FROM t") }
        }
        isRefused(path, read)
        try await pool.closeAsync()
    }

    /// The backup of a queue in WAL mode has a connection of its own.
    @Test func queuesOpenNoOtherConnection() throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: configuration)
        try queue.makeTable(1)
        try replace(queue.path)
        isRefused(queue.path) { try queue.backup(toFile: folder.file("copy")) }
        #expect(try values(queue) == [1])
        try queue.close()
    }

    /// The error names a cure, after which the new file is read, and is whole.
    @Test func theCureHelps() throws {
        let pool = try pool()
        try pool.write { db in try db.insert(2) }
        try replace(pool.path)
        isRefused(pool.path) { _ = try pool.makeSnapshot() }
        try pool.close()
        try? FileManager.default.removeItem(atPath: pool.path + "-wal")
        let next = try DatabasePool(path: pool.path)
        #expect(try values(next) == [7, 8, 9])
        #expect(try next.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check") } == "ok")
        try next.close()
    }

    @Test func aClosedDatabaseMayBeReplaced() throws {
        let pool = try pool()
        try pool.close()
        try replace(pool.path)
        let next = try DatabasePool(path: pool.path)
        #expect(try values(next) == [7, 8, 9])
        try next.close()
    }

    /// A process would be killed at one of the first of these replacements, if connections to the new files were
    /// opened.
    @Test func theProcessLives() async {
        await #expect(processExitsWith: .success) { try await ReplacedFileTests().replaceAgainAndAgain() }
    }

    private func replaceAgainAndAgain() async throws {
        let pool = try await onOwnThread { try self.pool() }
        let writing = Task {
            // Some writes are refused: SQLite sees that the file has moved.
            while !Task.isCancelled {
                try? await pool.write { db in for number in 0..<20 { try db.insert(number) } }
            }
        }
        for _ in 0..<100 {
            try await onOwnThread {
                try replace(pool.path)
                if let snapshot = try? pool.makeSnapshot() {
                    _ = try? snapshot.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                }
            }
        }
        writing.cancel()
        await writing.value
        try await onOwnThread { try pool.close() }
    }
}

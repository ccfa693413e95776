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
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        #expect(
            error?.message == "\(path) was moved, deleted or replaced while it was open, so no other connection is "
                + "opened: close the database, and open it again")
    }

    enum Change: CaseIterable { case replaced, deleted, moved }

    /// The connections that are open go on with their file.
    @Test(arguments: Change.allCases) func noOtherConnectionIsOpened(_ change: Change) throws {
        let pool = try pool()
        let path = pool.path
        try pool.read { db in
            switch change {
            case .replaced: try replace(path)
            case .deleted: try FileManager.default.removeItem(atPath: path)
            case .moved: try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            }
            // Another reader, which would see the values of another file.
            try onOtherThread {
                isRefused(path) { _ = try pool.read { db in try Int.fetchAll(db, sql: "SELECT * FROM t") } }
            }
            #expect(try Int.fetchAll(db, sql: "SELECT * FROM t") == [1])
        }
        isRefused(path) { _ = try pool.makeSnapshot() }
        isRefused(path) { _ = try pool.makeStableReader() }
        #expect(try pool.read { db in try Int.fetchAll(db, sql: "SELECT * FROM t") } == [1])
        try pool.close()
    }

    @Test func aClosedDatabaseMayBeReplaced() throws {
        let pool = try pool()
        try pool.close()
        try replace(pool.path)
        let next = try DatabasePool(path: pool.path)
        #expect(try next.read { db in try Int.fetchAll(db, sql: "SELECT * FROM t") } == [7, 8, 9])
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

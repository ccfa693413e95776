import Foundation
import Quarry
import QuarryExpectations
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// A file with two names, and pools that were released while accesses ran: two pools of one file mustn't use two logs,
/// and no window moves files that a pool still uses.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct FileUsersTests {
    let folder: TemporaryFolder
    let path: String
    /// A hard link.
    let link: String

    init() throws {
        folder = try TemporaryFolder(isFast: true)
        path = folder.file("a.sqlite")
        link = folder.file("a.link")
        try SharedDatabase(path: path).write { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        try FileManager.default.linkItem(atPath: path, toPath: link)
    }

    /// Runs a closure in an access of a shared database that nothing else refers to any more.
    private func inReleasedDatabase(_ path: String, _ body: @escaping @Sendable () throws -> Void) async throws {
        let isReleased = Step("the database is released")
        let hasEnded = Step("the access has ended")
        do {
            let database = SharedDatabase(path: path)
            database.asyncWriteWithoutTransaction { db in
                do {
                    try isReleased.wait()
                    try body()
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                } catch {
                    Issue.record("\(error)")
                }
                hasEnded.reach()
            }
        }
        isReleased.reach()
        try await hasEnded.reached()
    }

    /// The access's own thread can't wait for the end of the access.
    @Test func anotherNameIsRefusedMeanwhile() async throws {
        try await inReleasedDatabase(path) { [path, link] in
            let next = SharedDatabase(path: link)
            let message =
                "\(link) is another name of \(path), which a released shared database still uses: its log has that name"
            expectError(.SQLITE_BUSY, message) { try next.open() }
            expectError(.SQLITE_BUSY, message) { try next.read { _ in } }
            #expect(!next.isOpened && !FileManager.default.fileExists(atPath: link + "-wal"))
        }
        #expect(try await rows(link) == [1, 2])
    }

    /// The pool in between hasn't opened the file, and is gone when the last one opens it.
    @Test(arguments: [true, false]) func aPoolInBetween(_ isLinked: Bool) async throws {
        try await inReleasedDatabase(path) { [path, link] in
            for name in [path, link] { try #require(!SharedDatabase(path: name).isOpened) }
            let next = SharedDatabase(path: isLinked ? link : path)
            if isLinked {
                expectError(.SQLITE_BUSY) { try next.open() }
            } else {
                expectError(.SQLITE_BUSY, "unable to close \(path): a released shared database still uses it") {
                    try next.withClosedDatabase { files in try files.remove() }
                }
            }
        }
        #expect(try await rows(isLinked ? link : path) == [1, 2])
    }

    /// The next pool of the same path opens beside an access that doesn't end. No window does.
    @Test func noWindowBesideAnAccessThatIsOverdue() async throws {
        try await inReleasedDatabase(path) { [path] in
            let next = SharedDatabase(path: path)
            #expect(try next.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [1])
            for _ in 0..<2 {
                expectError(.SQLITE_BUSY, "unable to close \(path): a released shared database still uses it") {
                    try next.withClosedDatabase { _ in Issue.record("the window is open") }
                }
                try next.open()
            }
        }
        let openFiles = try await SharedDatabase(path: path).withClosedDatabase { [folder] _ in try folder.openFiles }
        #expect(openFiles.isEmpty)
    }

    /// A window of one name copies the file without the log of the other.
    @Test func noWindowBesideAnotherName() async throws {
        try await inReleasedDatabase(path) { [link] in
            expectError(.SQLITE_BUSY, "unable to close \(link): a released shared database still uses it") {
                try SharedDatabase(path: link).withClosedDatabase { _ in Issue.record("the window is open") }
            }
        }
    }

    /// Another name is opened when the last access under the first one has ended.
    @Test func anotherNameWaits() async throws {
        let order = Recorded<[String]>([])
        let next = Recorded<SharedDatabase?>(nil)
        let thread = Recorded<OwnThread<Void>?>(nil)
        var configuration = Configuration()
        configuration.prepareDatabase { _ in order.update { $0.append("opened") } }
        try await inReleasedDatabase(path) { [link, configuration] in
            let database = SharedDatabase(path: link, configuration: configuration)
            next.update { $0 = database }
            thread.update { $0 = OwnThread { try database.writeWithoutTransaction { _ in } } }
            // On this thread: the next pool waits for some seconds only.
            let group = database.pool.writer.group
            while group.state.withLock({ $0.machine.leasedCount }) == 0 { sched_yield() }
            order.update { $0.append("ended") }
        }
        try await thread.value?.value
        #expect(order.value == ["ended", "opened"])
        next.update { $0 = nil }
    }

    /// Accesses that wait in a released pool run, though a pool of the other name wants to open the file already.
    @Test func earlierAccessesComeFirst() async throws {
        let mayOpen = Step("the first pool may open the file")
        let order = Recorded<[Int]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { db in if !db.configuration.readonly { try mayOpen.wait() } }
        weak var pool: DatabasePool?
        do {
            let database = SharedDatabase(path: path, configuration: configuration)
            pool = database.pool
            for number in 0..<10 {
                database.asyncWriteWithoutTransaction { db in
                    do {
                        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [10 + number])
                        order.update { $0.append(number) }
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
        }
        // The thread that opens the connection may have it for a moment.
        try await until("the pool is released") { pool == nil }
        let next = SharedDatabase(path: link)
        let reading = Task.detached { try await next.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } }
        mayOpen.reach()
        #expect(try await reading.value == [1] + (10..<20))
        #expect(order.value == Array(0..<10))
    }

    /// A snapshot outlives the pool of its shared database: no backup takes the place of the file, by either name.
    @Test func backupsRefuseTheFileOfASnapshot() throws {
        let snapshot = try SharedDatabase(path: path).makeSnapshot()
        let source = try DatabaseQueue()
        var options = BackupOptions()
        options.replacesExisting = true
        for target in [path, link] {
            let error = #expect(throws: DatabaseError.self) { try source.backup(toFile: target, options: options) }
            #expect(
                error?.resultCode == .SQLITE_CANTOPEN && error?.message?.contains("open") == true, "\(error as Any)")
        }
        #expect(try snapshot.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [1])
    }

    /// A snapshot reads with the log of its name, and outlives its pool.
    @Test func snapshotUnderAnotherName() async throws {
        let snapshot = try SharedDatabase(path: path).makeSnapshot(label: "a report")
        let next = SharedDatabase(path: link)
        let message = "\(link) is another name of \(path), which “a report” reads: its log has that name"
        expectError(.SQLITE_BUSY, message) { try next.open() }
        expectError(.SQLITE_BUSY, message) { try next.withClosedDatabase { _ in } }
        #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
        try snapshot.close()
        try await next.withClosedDatabase { _ in }
        #expect(try await next.read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
    }

    /// A file whose name was removed stays open.
    @Test func theFirstNameIsRemovedWhileItIsOpen() throws {
        let database = SharedDatabase(path: path)
        try database.open()
        try FileManager.default.removeItem(atPath: path)
        expectError(
            .SQLITE_MISUSE, "\(link) is another name of \(path), which is in use: its log has that name"
        ) { try SharedDatabase(path: link).open() }
        try database.close()
        #expect(try SharedDatabase(path: link).read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 1)
    }

    /// A database that was moved in a window, or while it was closed, is another one.
    @Test(arguments: [true, false]) func movedFiles(_ isWindow: Bool) throws {
        let database = SharedDatabase(path: path)
        try database.open()
        let newPath = folder.file("b.sqlite")
        if isWindow {
            try database.withClosedDatabase { files in try files.move(to: newPath) }
        } else {
            try database.close()
            try FileManager.default.moveItem(atPath: path, toPath: newPath)
        }
        try database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let moved = SharedDatabase(path: newPath)
        try moved.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        #expect(try moved.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [1, 2])
        #expect(try database.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") } == [])
        // The link leads to the moved file.
        #expect(SharedDatabase(path: link).isSameDatabase(as: moved))
    }

    private func rows(_ path: String) async throws -> [Int] {
        try await SharedDatabase(path: path).read { db in try Int.fetchAll(db, sql: "SELECT a FROM t") }
    }
}

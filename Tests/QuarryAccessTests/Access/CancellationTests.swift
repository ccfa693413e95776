import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Cancelling a task ends its access, wherever it waits: in the line, at a lock.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct CancellationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The asynchronous accesses of a writer, by name.
    enum Access: String, CaseIterable {
        case read, unsafeRead, write, writeWithoutTransaction, barrierWriteWithoutTransaction

        func run<T: Sendable>(
            _ writer: any DatabaseWriter, _ body: @Sendable (Database) throws -> T
        ) async throws -> T {
            switch self {
            case .read: try await writer.read(body)
            case .unsafeRead: try await writer.unsafeRead(body)
            case .write: try await writer.write(body)
            case .writeWithoutTransaction: try await writer.writeWithoutTransaction(body)
            case .barrierWriteWithoutTransaction: try await writer.barrierWriteWithoutTransaction(body)
            }
        }
    }

    @Test(arguments: WriterKind.allCases, Access.allCases)
    func beforeItBegins(_ kind: WriterKind, _ access: Access) async throws {
        let writer = try kind.make(folder)
        let mayStart = Step("the task is cancelled")
        let task = Task {
            try await mayStart.reached()
            _ = try await access.run(writer) { _ in Issue.record("the closure has run") }
        }
        task.cancel()
        mayStart.reach()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await access.run(writer) { _ in }
    }

    @Test(arguments: Access.allCases) func inTheLineOfAQueue(_ access: Access) async throws {
        let queue = try DatabaseQueue()
        let hasBegun = Step("the connection is out")
        let mayEnd = Step("it may come back")
        let owner = OwnThread("owner") {
            try queue.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached()
        let task = Task { try await access.run(queue) { _ in Issue.record("the closure has run") } }
        let next = Task { try await access.run(queue) { _ in 7 } }
        try await until("both wait") { queue.runner.group.waiterCount == 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.runner.group.waiterCount == 1)
        mayEnd.reach()
        try await owner.value
        #expect(try await next.value == 7)
    }

    @Test func inTheLinesOfAPool() async throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let mayEnd = Step("the accesses may end")
        let writing = Step("the writer is out")
        let reading = Step("the reader is out")
        let writer = OwnThread("writer") {
            try pool.write { _ in
                writing.reach()
                try mayEnd.wait()
            }
        }
        let reader = OwnThread("reader") {
            try pool.read { _ in
                reading.reach()
                try mayEnd.wait()
            }
        }
        try await writing.reached()
        try await reading.reached()
        for access in Access.allCases {
            let task = Task { try await access.run(pool) { _ in Issue.record("the closure has run") } }
            try await until("\(access) waits") {
                pool.readers.group.waiterCount + pool.writer.group.waiterCount == 1
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(pool.readers.group.waiterCount + pool.writer.group.waiterCount == 0)
        }
        mayEnd.reach()
        try await writer.value
        try await reader.value
        for access in Access.allCases { try await access.run(pool) { _ in } }
    }

    /// A barrier has the writer, and waits for a reader.
    @Test func inTheSecondPhaseOfABarrier() async throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        let reading = Step("the reader is out")
        let mayEnd = Step("the read may end")
        let reader = OwnThread("reader") {
            try pool.read { _ in
                reading.reach()
                try mayEnd.wait()
            }
        }
        try await reading.reached()
        let task = Task {
            try await pool.barrierWriteWithoutTransaction { _ in Issue.record("the closure has run") }
        }
        try await until("the barrier waits for the reader") { pool.readers.group.waiterCount == 1 }
        let write = Task { try await pool.write { _ in 1 } }
        let read = Task { try await pool.read { _ in 2 } }
        try await until("a write waits for the barrier") { pool.writer.group.waiterCount == 1 }
        try await until("a read waits for the barrier") { pool.readers.group.waiterCount == 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await write.value == 1, "the writer is free, although the read goes on")
        #expect(try await read.value == 2)
        mayEnd.reach()
        try await reader.value
        try await pool.barrierWriteWithoutTransaction { _ in }
    }

    /// Another connection has the lock: SQLite's busy handler waits.
    @Test(arguments: [Access.write, .writeWithoutTransaction, .barrierWriteWithoutTransaction], [true, false])
    func atALock(_ access: Access, hasCallback: Bool) async throws {
        let isWaiting = Step("SQLite waits for the lock")
        var configuration = Configuration()
        if hasCallback {
            configuration.busyMode = .callback { _ in
                isWaiting.reach()
                return true
            }
        } else {
            configuration.busyMode = .timeout(1_000_000)
        }
        let path = folder.file("a.sqlite")
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let other = try TestConnection(path: path)
        try other.access { db in
            try db.beginTransaction(.immediate)
            try db.rollback()
        }
        let blocker = try DatabaseQueue(path: path)
        let hasLock = Step("the lock is taken")
        let mayRelease = Step("the lock may be released")
        let holder = OwnThread("holder of the lock") {
            try blocker.write { _ in
                hasLock.reach()
                try mayRelease.wait()
            }
        }
        try await hasLock.reached()
        let hasBegun = Step("the closure runs")
        let task = Task {
            try await access.run(pool) { db in
                hasBegun.reach()
                try db.insert(1)
            }
        }
        if hasCallback {
            try await isWaiting.reached()
        } else if access != .write {
            try await hasBegun.reached()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayRelease.reach()
        try await holder.value
        try await pool.write { db in try db.insert(2) }
        #expect(try await pool.read { db in try db.values() } == [2])
    }
}

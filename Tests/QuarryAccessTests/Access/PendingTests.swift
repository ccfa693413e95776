import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryShared
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Counts of pending accesses, and the wait for those that came before.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct PendingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: WriterKind.allCases) func counts(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        #expect(writer.pendingWriteCount == 0 && writer.activeReadCount == 0 && writer.pendingReadCount == 0)
        let hasBegun = Step("the first write has begun")
        let mayEnd = Step("the first write may end")
        let first = OwnThread {
            try writer.write { db in
                hasBegun.reach()
                try mayEnd.wait()
                try db.insert(1)
            }
        }
        try await hasBegun.reached()
        #expect(writer.pendingWriteCount == 1)
        let second = OwnThread { try writer.write { db in try db.insert(2) } }
        try await until("the second write waits") { writer.pendingWriteCount == 2 }
        if kind.isPool {
            try await writer.read { _ in #expect(writer.activeReadCount == 1 && writer.pendingReadCount == 1) }
        }
        mayEnd.reach()
        try await first.value(within: 60 * Double(TestTime.factor))
        try await second.value(within: 60 * Double(TestTime.factor))
        try await until("nothing is pending") { writer.pendingWriteCount == 0 }
    }

    /// Running accesses by their labels, and backups; no access that waits.
    @Test(arguments: WriterKind.allCases) func runningWorkInWords(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.label = "shop"
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        #expect(writer.runningWork == [])
        let (hasBegun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
        let first = OwnThread {
            try writer.write { db in
                db.accessLabel = "import"
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached(by: first)
        let second = OwnThread { try writer.write { _ in } }
        try await until("the second write waits") { writer.pendingWriteCount == 2 }
        let connection = kind.isPool ? "the writer of shop" : "the connection of shop"
        #expect(writer.runningWork == ["the access “import” of \(connection)"])
        if kind.isPool {
            try await writer.read { _ in
                #expect(
                    writer.runningWork == [
                        "the access “import” of \(connection)", "an access without a label of a reader of shop",
                    ])
            }
        }
        mayEnd.reach()
        try await first.value
        try await second.value
        let copy = folder.file("copy")
        try await writer.backup(toFile: copy) { progress in
            if !progress.isCompleted { #expect(writer.runningWork.contains("the backup of shop to \(copy)")) }
        }
        #expect(writer.runningWork == [])
        try writer.close()
        #expect(writer.runningWork == [])
    }

    @Test(arguments: WriterKind.allCases, [AsyncExecution.automatic, .inline, .offloaded])
    func flushWaitsForWhatCameBefore(_ kind: WriterKind, _ execution: AsyncExecution) async throws {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        // A flush is no access of the program: it isn't refused.
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        for round in 0..<20 {
            for index in 0..<10 {
                writer.asyncWrite { db in
                    try db.insert(round * 10 + index)
                } completion: { _, _ in
                }
            }
            try await writer.flush()
            #expect(try await writer.read { db in try db.values() }.count == (round + 1) * 10)
        }
        // A connection is given back after the result.
        try await until("nothing is pending") { writer.pendingWriteCount == 0 }
    }

    @Test(arguments: WriterKind.allCases) func flushBeginsNoTransaction(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        let sql = Recorded<[String]>([])
        writer.prepareConnections { db in
            db.trace { event in if case .statement(let statement) = event { sql.update { $0.append(statement.sql) } } }
        }
        try await writer.flush()
        #expect(sql.update { $0 } == [])
        try await writer.closeAsync()
        await #expect(throws: DatabaseError.self) { try await writer.flush() }
    }

    @Test(arguments: WriterKind.allCases) func aCancelledFlush(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try writer.makeTable()
        let hasBegun = Step("the write has begun")
        let mayEnd = Step("the write may end")
        let write = OwnThread {
            try writer.write { db in
                hasBegun.reach()
                try mayEnd.wait()
                try db.insert(1)
            }
        }
        try await hasBegun.reached()
        let flush = Task { try await writer.flush() }
        flush.cancel()
        await #expect(throws: CancellationError.self) { try await flush.value }
        mayEnd.reach()
        try await write.value(within: 60 * Double(TestTime.factor))
        try await writer.flush()
        #expect(try await writer.read { db in try db.values() } == [1])
    }

    /// A closed shared database has nothing in line, and stays closed. A window is in line.
    @Test func flushOpensNoSharedDatabase() async throws {
        let database = SharedDatabase(path: folder.file("shared.sqlite"))
        try await database.flush()
        #expect(!database.isOpened)
        #expect(try folder.openFiles == [])
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        try await database.flush()
        #expect(database.isOpened)
        try await database.closeAsync()
        try await database.flush()
        #expect(!database.isOpened)
        let cancelled = Task {
            withUnsafeCurrentTask { task in task?.cancel() }
            try await database.flush()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let blockade = try await onOwnThread { try database.blockade() }
        let flush = Task { try await database.flush() }
        try await until("the flush waits") { database.pendingWriteCount == 1 }
        blockade.end()
        try await flush.value
    }
}

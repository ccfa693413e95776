import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// Asynchronous sequences that are written in chunks: their errors and ends, cancellation, accesses in between.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct BulkStreamTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func writer(_ kind: WriterKind) throws -> (any DatabaseWriter, ConnectionGroup) {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        let writer = try kind.make(folder, configuration)
        try writer.write { db in try db.makePlayers() }
        try writer.makeTable()
        let group = try #require(writer.groupReader as? any GroupWriter).writer.group
        return (writer, group)
    }

    /// Players without end.
    private func endless(
        _ next: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) -> AsyncThrowingStream<BulkPlayer, any Error> {
        let last = Recorded(0)
        return AsyncThrowingStream {
            let id = last.update { last in
                last += 1
                return last
            }
            try await next(id)
            return BulkPlayer(id: id)
        }
    }

    @Test func theSequenceThrows() async throws {
        let (writer, _) = try writer(.pool)
        let error = await #expect(throws: BulkWriteError.self) {
            try await writer.insertIncrementally(endless { if $0 == 251 { throw BulkFailure() } }, chunkSize: 100)
        }
        #expect(error?.underlyingError is BulkFailure && error?.elementIndex == 250)
        #expect(error?.committed == BulkWriteProgress(elementCount: 200, rowCount: 200, transactionCount: 2))
        #expect(try await writer.playerIDs() == Array(1...200))
    }

    /// It is read no further than to the end of the chunk that is written next, and other accesses find the connection
    /// free meanwhile: the sequence itself reads and writes.
    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .walQueue, .pool]) func noConnectionIsHeldWhileReading(
        kind: WriterKind
    ) async throws {
        let (writer, group) = try writer(kind)
        let read = Recorded(0)
        let players = endless { id in
            read.update { $0 = id }
            #expect(group.waiterCount == 0)
            try await writer.write { db in try db.insert(id) }
            let count = try await writer.read { db in try BulkPlayer.fetchCount(db) }
            #expect(count == (id - 1) / 10 * 10)
        }
        let error = await #expect(throws: BulkWriteError.self) {
            try await writer.insertIncrementally(players, chunkSize: 10) { progress in
                #expect(read.value == progress.elementCount)
                if progress.transactionCount == 3 { throw BulkFailure() }
            }
        }
        #expect(error?.committed.elementCount == 30)
        #expect(try await writer.read { db in try db.count() } == 30)
    }

    /// An access that comes while a chunk is written, which it divides.
    @Test func othersWriteInAChunk() async throws {
        let (writer, group) = try writer(.pool)
        let others = Recorded<[OwnThread<Int>]>([])
        let result = try await writer.writeIncrementally(
            BulkWriteForm.Stream(Array(1...9)), chunkSize: 6, pace: IncrementalWritePace(maximumHold: .seconds(600))
        ) { db, number in
            try db.insert(number)
            guard number == 2 || number == 8 else { return }
            others.update { others in
                others.append(OwnThread { try writer.write { db in try db.count() } })
            }
            try spin(until: "the other one waits") { group.waiterCount == 1 }
        }
        #expect(result == BulkWriteProgress(elementCount: 9, rowCount: 9, transactionCount: 4))
        var counts: [Int] = []
        for other in others.value { counts.append(try await other.value) }
        #expect(counts == [2, 8])
    }

    @Test func failedElementOfAClosure() async throws {
        let (writer, _) = try writer(.pool)
        let error = await #expect(throws: BulkWriteError.self) {
            try await writer.writeIncrementally(BulkWriteForm.Stream(Array(0..<100)), chunkSize: 10) { db, number in
                try db.insert(number)
                if number == 37 { throw BulkFailure() }
            }
        }
        #expect(error?.elementIndex == 37 && error?.committed.elementCount == 30)
        #expect(try await writer.read { db in try db.values() } == Array(0..<30))
    }

    /// The task is cancelled while the sequence has no next element. A stream then ends, which isn't its end.
    @Test func cancelledWhileReading() async throws {
        let (writer, _) = try writer(.pool)
        let (players, continuation) = AsyncStream<BulkPlayer>.makeStream()
        for id in 1...150 { continuation.yield(BulkPlayer(id: id)) }
        let isWritten = Step("the first chunk is written")
        let task = Task {
            try await writer.insertIncrementally(players, chunkSize: 100) { progress in
                #expect(progress.elementCount == 100)
                isWritten.reach()
            }
        }
        try await isWritten.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.playerIDs() == Array(1...100))
    }

    @Test(.blocksSwiftThreads) func cancelledWhileWaiting() async throws {
        let (writer, group) = try writer(.pool)
        let next = try NextWrite(of: writer)
        let told = Recorded(0)
        let task = Task {
            try await writer.insertIncrementally(endless(), chunkSize: 100) { progress in
                told.update { $0 = progress.elementCount }
                if progress.transactionCount == 2 {
                    next.start()
                    try next.hasBegun.wait()
                }
            }
        }
        try await next.hasBegun.reached()
        try await until("the next chunk waits") { group.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await next.end()
        #expect(told.value == 200)
        #expect(try await writer.playerIDs() == Array(1...200))
    }

    /// In a chunk, whose elements are rolled back: between two of them, and in a statement.
    @Test(arguments: [WriterKind.memoryQueue, .pool], [false, true]) func cancelledWhileWriting(
        kind: WriterKind, isInStatement: Bool
    ) async throws {
        let (writer, _) = try writer(kind)
        let runs = Step("the element is written")
        let isCancelled = Step("the task is cancelled")
        let told = Recorded(0)
        let task = Task {
            try await writer.writeIncrementally(BulkWriteForm.Stream(Array(0..<100)), chunkSize: 10) { db, number in
                try db.insert(number)
                guard number == 15 else { return }
                runs.reach()
                if isInStatement { try db.runForever() } else { try isCancelled.wait() }
            } progress: { progress in
                told.update { $0 = progress.elementCount }
            }
        }
        try await runs.reached()
        task.cancel()
        isCancelled.reach()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(told.value == 10)
        #expect(try await writer.read { db in try db.values() } == Array(0..<10))
    }

    /// A sequence without end, until the task itself has enough. Each commit is told.
    @Test func endlessSequences() async throws {
        let (writer, _) = try writer(.pool)
        let told = Recorded(0)
        let task = Task {
            try await writer.insertIncrementally(endless(), chunkSize: 50) { progress in
                told.update { $0 = progress.elementCount }
                if progress.elementCount == 1_000 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(told.value == 1_000)
        #expect(try await writer.playerIDs().count == 1_000)
    }

    @Test func invalidChunkSizes() async throws {
        let (writer, _) = try writer(.memoryQueue)
        for size in [0, -1, Int.min] {
            await expectError(.SQLITE_MISUSE, "chunkSize must be at least 1, not \(size)") {
                try await writer.insertIncrementally(endless(), chunkSize: size)
            }
        }
        let result = try await writer.insertIncrementally(
            BulkWriteForm.Stream([BulkPlayer(id: 1)]), chunkSize: .max)
        #expect(result.elementCount == 1)
    }

    /// Inside an access of the same thread, and of a closed database.
    @Test func refusedWrites() async throws {
        let (writer, _) = try writer(.pool)
        try await writer.closeAsync()
        let error = await #expect(throws: BulkWriteError.self) { try await writer.insertIncrementally(endless()) }
        #expect(error?.databaseError?.message == "Connection is closed" && error?.committed == BulkWriteProgress())
        let queue = try DatabaseQueue()
        try await queue.write { db in
            let error = #expect(throws: BulkWriteError.self) { try queue.insertIncrementally([BulkPlayer(id: 1)]) }
            #expect(error?.databaseError?.message == "Database methods are not reentrant.")
        }
    }

    /// The sequence is read, and progress told, where the caller runs: neither needs to be sendable.
    @MainActor @Test func callersOfAnActor() async throws {
        struct Source: AsyncSequence {
            final class Iterator: AsyncIteratorProtocol {
                var last = 0

                func next() async throws -> BulkPlayer? { nil }

                func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> BulkPlayer? {
                    #expect(actor === MainActor.shared)
                    last += 1
                    return last > 25 ? nil : BulkPlayer(id: last)
                }
            }

            func makeAsyncIterator() -> Iterator { Iterator() }
        }
        let (writer, _) = try writer(.pool)
        var told: [Int] = []
        let result = try await writer.insertIncrementally(Source(), chunkSize: 10) { progress in
            MainActor.assertIsolated()
            told.append(progress.elementCount)
        }
        #expect(told == [10, 20, 25] && result.elementCount == 25)
        try await writer.insertIncrementally([BulkPlayer(id: 26)]) { _ in told.append(26) }
        #expect(told.last == 26)
    }
}

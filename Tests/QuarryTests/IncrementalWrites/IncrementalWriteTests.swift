import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// `writeIncrementally`: steps that share transactions, and let others write in between.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct IncrementalWriteTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    typealias Form = IncrementalWriteForm

    private func writer(
        _ kind: WriterKind, _ configuration: Configuration = Configuration()
    ) throws -> (any DatabaseWriter, ConnectionGroup) {
        var configuration = configuration
        // Steps wait for other accesses: on Swift's threads, these might wait for a thread.
        configuration.asyncExecution = .offloaded
        let writer = try kind.make(folder, configuration)
        try writer.makeTable()
        let group = try #require(writer.groupReader as? any GroupWriter).writer.group
        return (writer, group)
    }

    @Test(arguments: WriterKind.allCases, Form.allCases) func stepsShareATransaction(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, _) = try writer(kind)
        let beginnings = Recorded<[Bool]>([])
        let result = try await form.write(writer) { step in
            beginnings.update { $0.append(step.isNewTransaction) }
            try step.db.insert(step.index)
            return step.index == 4 ? .done : .next
        }
        #expect(result == IncrementalWriteResult(stepCount: 5, transactionCount: 1))
        #expect(beginnings.value == [true, false, false, false, false])
        #expect(try await writer.read { db in try db.values() } == [0, 1, 2, 3, 4])
    }

    /// Accesses of the library itself, a look for other processes' commits for example, end no transaction.
    @Test(arguments: [WriterKind.memoryQueue, .walQueue, .pool], Form.allCases) func theLibraryWaits(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, group) = try writer(kind)
        let runner = try #require(writer.groupReader as? any GroupWriter).writer
        let ended = Step("the library's access has ended")
        let result = try await form.write(writer) { step in
            try step.db.insert(step.index)
            if step.index == 0 {
                runner.enqueue(AccessRequest(.bare, origin: .library)) { _ in
                } whenReleased: { _ in
                    ended.reach()
                }
                try spin(until: "the library waits") { group.waiterCount == 1 }
            }
            return step.index == 9 ? .done : .next
        }
        #expect(result == IncrementalWriteResult(stepCount: 10, transactionCount: 1))
        try await ended.reached()
    }

    /// Thirty-one steps, and ten writes that come in the middle of one: each gets its turn after that step.
    @Test(arguments: [WriterKind.memoryQueue, .walQueue, .pool], Form.allCases) func othersWriteInBetween(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, group) = try writer(kind)
        for othersAreTasks in [true, false] {
            try await othersWriteInBetween(writer, group, form, othersAreTasks)
            try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
        }
    }

    private func othersWriteInBetween(
        _ writer: any DatabaseWriter, _ group: ConnectionGroup, _ form: Form, _ othersAreTasks: Bool
    ) async throws {
        let others = Recorded<[Task<Int, any Error>]>([])
        let beginnings = Recorded<[Int]>([])
        let result = try await form.write(writer) { step in
            if step.isNewTransaction { beginnings.update { $0.append(step.index) } }
            try step.db.insert(step.index)
            if step.index % 3 == 0, step.index < 30 {
                let other = Task {
                    if othersAreTasks {
                        try await writer.write { db in try db.count() }
                    } else {
                        try await onOwnThread { try writer.write { db in try db.count() } }
                    }
                }
                others.update { $0.append(other) }
                try spin(until: "the other one waits") { group.waiterCount == 1 }
            }
            return step.index == 30 ? .done : .next
        }
        #expect(result == IncrementalWriteResult(stepCount: 31, transactionCount: 11))
        #expect(beginnings.value == [0, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28])
        var counts: [Int] = []
        for other in others.value { counts.append(try await other.value) }
        #expect(counts == [1, 4, 7, 10, 13, 16, 19, 22, 25, 28])
        #expect(try await writer.read { db in try db.count() } == 31)
    }

    /// A barrier comes in between, and so do changes of the schema, of the step and of others.
    @Test(arguments: Form.allCases) func barriersAndSchemaChangesInBetween(form: Form) async throws {
        let (writer, group) = try writer(.pool)
        let others = Recorded<[OwnThread<Void>]>([])
        let result = try await form.write(writer) { step in
            try step.db.execute(sql: "ALTER TABLE t ADD COLUMN step\(step.index)")
            try step.db.insertAll(step.index)
            guard step.index < 2 else { return .done }
            let other = OwnThread { [index = step.index] in
                try writer.barrierWriteWithoutTransaction { db in
                    try db.execute(sql: "CREATE TABLE barrier\(index) (a); ATTACH ':memory:' AS more; DETACH more")
                }
            }
            others.update { $0.append(other) }
            try spin(until: "the barrier waits") { group.waiterCount == 1 }
            return .next
        }
        #expect(result == IncrementalWriteResult(stepCount: 3, transactionCount: 3))
        for other in others.value { try await other.value }
        let (rows, tables) = try await writer.read { db in
            (
                try Row.fetchAll(db, sql: "SELECT * FROM t").map { $0.map { Int.fromDatabaseValue($0.1) } },
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema ORDER BY name")
            )
        }
        #expect(rows == [[0, 0, nil, nil], [1, 1, 1, nil], [2, 2, 2, 2]])
        #expect(tables == ["barrier0", "barrier1", "t"])
    }

    /// The synchronous form on a thread of Swift's.
    @Test func inATask() async throws {
        let (writer, _) = try writer(.pool)
        func write() throws -> BulkWriteProgress {
            try writer.writeIncrementally(1...2) { db, number in try db.insert(number) }
        }
        #expect(try await Task { try write() }.value.elementCount == 2)
    }

    /// Several wait: all of them come before the next step.
    @Test(arguments: Form.allCases) func allWhoWaitComeFirst(form: Form) async throws {
        let (writer, group) = try writer(.pool)
        let others = Recorded<[OwnThread<Int>]>([])
        let seen = Recorded<Int?>(nil)
        _ = try await form.write(writer) { step in
            guard step.index == 0 else {
                seen.update { value in value = try? step.db.count() }
                return .done
            }
            try step.db.insert(0)
            for number in 1...8 {
                let other = OwnThread {
                    try writer.write { db in
                        try db.insert(number)
                        return number
                    }
                }
                others.update { $0.append(other) }
                try spin(until: "it waits") { group.waiterCount == number }
            }
            return .next
        }
        #expect(seen.value == 9)
        for other in others.value { _ = try await other.value }
    }

    /// It ends although others write without end.
    @Test(arguments: [WriterKind.walQueue, .pool], Form.allCases) func endsUnderContention(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, group) = try writer(kind)
        let isOver = Recorded(false)
        try await withThrowingTaskGroup(of: Int.self) { tasks in
            for number in 0..<8 {
                tasks.addTask {
                    var count = 0
                    while !isOver.value {
                        if number % 2 == 0 {
                            try await writer.write { db in try db.insert(-1) }
                        } else {
                            try await onOwnThread { try writer.write { db in try db.insert(-1) } }
                        }
                        count += 1
                    }
                    return count
                }
            }
            let result = try await form.write(writer) { step in
                try step.db.insert(step.index)
                if step.index < 20 { try spin(until: "somebody waits") { group.waiterCount > 0 } }
                return step.index == 99 ? .done : .next
            }
            isOver.update { $0 = true }
            #expect(result.stepCount == 100 && result.transactionCount >= 20)
            var count = 100
            for try await written in tasks { count += written }
            #expect(try await writer.read { db in try db.count() } == count)
        }
    }

    /// The limits are for those who ask for the first time.
    @Test(arguments: Form.allCases) func limitsApplyToTheFirstTransaction(form: Form) async throws {
        var configuration = Configuration()
        configuration.maximumWaiters = 1
        configuration.acquireTimeout = 0.001
        let clock = ManualMonotonicClock()
        configuration.monotonicClock = clock.monotonicClock
        let (writer, group) = try writer(.pool, configuration)
        let next = try NextWrite(of: writer)
        let incremental = Task {
            try await form.write(writer) { step in
                try step.db.insert(step.index)
                guard step.index == 0 else { return .done }
                try next.request()
                return .next
            }
        }
        try await next.hasBegun.reached()
        try await until("the incremental write waits", by: incremental) { group.waiterCount == 1 }
        // Its place doesn't count: another one may wait, and gives up after its time.
        try await clock.advance(by: .milliseconds(1), when: "another one waits", group.waiterCount == 2) {
            await expectError(.SQLITE_BUSY) { try await writer.write { _ in } }
        }
        try await next.end()
        #expect(try await incremental.value.transactionCount == 2)
        // The first transaction has the limits of a write.
        let isHeld = Step("it is held")
        let isFree = Step("it is free")
        let holder = OwnThread {
            try writer.write { _ in
                isHeld.reach()
                try isFree.wait()
            }
        }
        try await isHeld.reached(by: holder)
        try await clock.advance(by: .milliseconds(1), when: "it waits", group.waiterCount == 1) {
            await expectError(.SQLITE_BUSY) { try await form.write(writer) { _ in .done } }
        }
        isFree.reach()
        try await holder.value
    }

    @Test(arguments: WriterKind.allCases, Form.allCases) func errorsKeepEarlierTransactions(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, _) = try writer(kind)
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            // Each step is a transaction.
            try await form.write(writer, IncrementalWritePace(maximumHold: .zero)) { step in
                try step.db.insert(step.index)
                if step.index == 2 { throw Failure() }
                return .next
            }
        }
        #expect(try await writer.read { db in try db.values() } == [0, 1])
        await #expect(throws: Failure.self) {
            try await form.write(writer) { step in
                try step.db.insert(10 + step.index)
                if step.index == 2 { throw Failure() }
                return .next
            }
        }
        #expect(try await writer.read { db in try db.values() } == [0, 1])
        await expectError(.SQLITE_ERROR) {
            try await form.write(writer) { step in
                try step.db.execute(sql: "INSERT INTO missing VALUES (1)")
                return .next
            }
        }
    }

    /// SQL that ends the transaction under the write.
    @Test(arguments: [WriterKind.fileQueue, .pool], Form.allCases) func rawTransactions(
        kind: WriterKind, form: Form
    ) async throws {
        let (writer, _) = try writer(kind)
        for sql in ["ROLLBACK", "COMMIT"] {
            for completion in [IncrementalWriteStep.Completion.next, .done] {
                await expectError(sql == "COMMIT" ? .SQLITE_MISUSE : .SQLITE_ABORT) {
                    try await form.write(writer) { step in
                        if step.index == 0 {
                            try step.db.execute(sql: "DELETE FROM t")
                            try step.db.insert(step.index)
                            try step.db.execute(sql: sql)
                        }
                        return completion
                    }
                }
                #expect(try await writer.read { db in try db.values() } == [], "\(sql)")
                try await writer.write { db in try db.execute(sql: "DELETE FROM t") }
            }
        }
        // Savepoints are the step's own.
        _ = try await form.write(writer) { step in
            try step.db.inSavepoint {
                try step.db.insert(step.index)
                return step.index % 2 == 0 ? .commit : .rollback
            }
            return step.index == 3 ? .done : .next
        }
        #expect(try await writer.read { db in try db.values() } == [0, 2])
    }

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool]) func cancellation(kind: WriterKind) async throws {
        let (writer, _) = try writer(kind)
        // Between two steps.
        let isCancelled = Step("the task is cancelled")
        let hasBegun = Step("the third step runs")
        let task = Task {
            try await writer.writeIncrementally(IncrementalWritePace(maximumHold: .zero)) { step in
                try step.db.insert(step.index)
                if step.index == 2 {
                    hasBegun.reach()
                    try isCancelled.wait()
                }
                return .next
            }
        }
        try await hasBegun.reached()
        task.cancel()
        isCancelled.reach()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { db in try db.values() } == [0, 1])
        // In a statement.
        let runs = Step("a statement runs")
        let endless = Task {
            try await writer.writeIncrementally { step in
                try step.db.insert(9)
                runs.reach()
                try step.db.runForever()
                return .done
            }
        }
        try await runs.reached()
        endless.cancel()
        await #expect(throws: CancellationError.self) { try await endless.value }
        #expect(try await writer.read { db in try db.values() } == [0, 1])
        // Steps that run no statement.
        let idle = Task {
            try await writer.writeIncrementally { _ in .next }
        }
        idle.cancel()
        await #expect(throws: CancellationError.self) { try await idle.value }
    }

    /// While it waits for its next transaction.
    @Test func cancelledWait() async throws {
        let (writer, group) = try writer(.pool)
        let next = try NextWrite(of: writer)
        let task = Task {
            try await writer.writeIncrementally { step in
                try step.db.insert(step.index)
                try next.request()
                return .next
            }
        }
        try await next.hasBegun.reached()
        try await until("the incremental write waits") { group.waiterCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await next.end()
        #expect(try await writer.read { db in try db.values() } == [0])
    }

    /// Closing waits for the open transaction only, also with a grace period.
    @Test(arguments: Form.allCases) func closing(form: Form) async throws {
        let (writer, group) = try writer(.pool)
        let closers = Recorded<[OwnThread<Void>]>([])
        await expectError(.SQLITE_MISUSE, "Connection is closed") {
            try await form.write(writer) { step in
                try step.db.insert(step.index)
                let closer = OwnThread { try writer.close(gracePeriod: .seconds(600)) }
                closers.update { $0.append(closer) }
                try spin(until: "closing waits") { group.isAwaitedByBarrier && group.waiterCount > 0 }
                return .next
            }
        }
        for closer in closers.value { try await closer.value }
        let queue = try DatabaseQueue(path: folder.file("pool.sqlite"))
        #expect(try await queue.read { db in try db.values() } == [0])
    }

    @Test func insideAccesses() async throws {
        let (writer, _) = try writer(.pool)
        try await onOwnThread { try Self.insideAccesses(writer) }
    }

    private static func insideAccesses(_ writer: any DatabaseWriter) throws {
        _ = try writer.write { _ in
            expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
                try writer.writeIncrementally { _ in .done }
            }
        }
        try writer.writeIncrementally { step in
            expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") { try writer.write { _ in } }
            return .done
        }
        // A step's connection is of no use afterwards.
        var kept: Database?
        try writer.writeIncrementally { step in
            kept = step.db
            return .done
        }
        expectError(.SQLITE_MISUSE) { try kept?.insert(1) }
        // A write inside a read, and cursors that a step leaves behind.
        try writer.read { _ in
            _ = try writer.writeIncrementally { step in
                let cursor = try Int.fetchCursor(step.db, sql: "SELECT 1 UNION SELECT 2")
                #expect(try cursor.next() == 1)
                return step.index == 1 ? .done : .next
            }
        }
    }

    /// Two threads that have a writer each, and write incrementally with the other's: one of them is refused.
    @Test func deadlock() async throws {
        let pools = try ["one", "two"].map { try DatabasePool(path: folder.file($0)) }
        for pool in pools { try pool.makeTable() }
        let haveBegun = [Step("the first has its writer"), Step("the second has its writer")]
        let threads = [0, 1].map { number in
            OwnThread {
                try pools[number].write { db in
                    try db.insert(number)
                    haveBegun[number].reach()
                    try haveBegun[1 - number].wait()
                    do {
                        try pools[1 - number].writeIncrementally([7, 8]) { db, value in try db.insert(value) }
                        return true
                    } catch let error as BulkWriteError where error.databaseError?.resultCode == .SQLITE_BUSY {
                        #expect(error.databaseError?.message?.hasPrefix("deadlock: ") == true)
                        return false
                    }
                }
            }
        }
        var areWritten: [Bool] = []
        for thread in threads { areWritten.append(try await thread.value) }
        #expect(areWritten.count { $0 } == 1)
        for (number, pool) in pools.enumerated() {
            let expected = areWritten[1 - number] ? [number, 7, 8] : [number]
            #expect(try await pool.read { db in try db.values() } == expected)
        }
    }

    @Test func readOnlyDatabases() async throws {
        let (writer, _) = try writer(.pool)
        try await writer.closeAsync()
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: folder.file("pool.sqlite"), configuration: configuration)
        await expectError(.SQLITE_READONLY) {
            try await queue.writeIncrementally { step in
                try step.db.insert(1)
                return .done
            }
        }
    }

    @Test(arguments: [WriterKind.memoryQueue, .pool]) func elements(kind: WriterKind) async throws {
        let (writer, _) = try writer(kind)
        let pace = IncrementalWritePace(maximumHold: .zero)
        let sync = try await onOwnThread {
            try writer.writeIncrementally(1...3, pace: pace) { db, number in try db.insert(number) }
        }
        let async = try await writer.writeIncrementally([4, 5]) { db, number in try db.insert(number) }
        #expect(sync == BulkWriteProgress(elementCount: 3, rowCount: 3, transactionCount: 3))
        #expect(async.elementCount == 2 && async.transactionCount == 1)
        #expect(try await writer.writeIncrementally([Int]()) { _, _ in }.transactionCount == 0)
        #expect(try await writer.read { db in try db.values() } == [1, 2, 3, 4, 5])
        let error = await #expect(throws: BulkWriteError.self) {
            try await writer.writeIncrementally([6, 7, 8], pace: pace) { db, number in
                try db.insert(number)
                if number == 7 { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT) }
            }
        }
        #expect(error?.elementIndex == 1 && error?.committed.elementCount == 1)
        #expect(error?.databaseError?.resultCode == .SQLITE_CONSTRAINT)
        #expect(try await writer.read { db in try db.values() } == [1, 2, 3, 4, 5, 6])
    }

    /// Each transaction is a commit of its own.
    @Test func watchersSeeEachTransaction() async throws {
        let (writer, _) = try writer(.pool)
        var commits = writer.commits.makeAsyncIterator()
        try await writer.writeIncrementally(1...3, pace: IncrementalWritePace(maximumHold: .zero)) { db, number in
            try db.insert(number)
        }
        for _ in 1...3 {
            let commit = await commits.next()
            #expect(commit?.changes.description == "t(*)")
        }
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Cancelling a task ends its access while it runs: in a statement, between statements.
///
/// Where it runs on the library's threads, the connection is interrupted. Where it runs with its task, and found its
/// connection free, nobody is told of a cancellation, but the task is asked.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct RunningCancellationTests {
    /// An access of a writer, and where it runs.
    struct Situation: Sendable, CustomTestStringConvertible {
        var kind: WriterKind
        var access: CancellationTests.Access
        var execution: AsyncExecution

        var testDescription: String { "\(kind) \(access) \(execution)" }

        static let all: [Situation] = [AsyncExecution.inline, .offloaded].flatMap { execution in
            WriterKind.allCases.flatMap { kind in
                CancellationTests.Access.allCases.map { access in
                    Situation(kind: kind, access: access, execution: execution)
                }
            }
        }
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ situation: Situation) async throws -> any DatabaseWriter {
        var configuration = Configuration()
        configuration.asyncExecution = situation.execution
        let writer = try situation.kind.make(folder, configuration)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        return writer
    }

    /// Cancels on a thread of its own: the access may hold one of Swift's.
    private func cancel<T>(_ task: Task<T, any Error>, at step: Step, then next: Step? = nil) -> OwnThread<Void> {
        OwnThread("canceller") {
            try step.wait()
            task.cancel()
            next?.reach()
        }
    }

    @Test(arguments: Situation.all) func beforeItBegins(_ situation: Situation) async throws {
        let writer = try await make(situation)
        let access = situation.access
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await access.run(writer) { _ in Issue.record("the closure has run") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await access.run(writer) { _ in }
    }

    @Test(.blocksSwiftThreads, arguments: Situation.all) func inAStatement(_ situation: Situation) async throws {
        let writer = try await make(situation)
        let access = situation.access
        let hasBegun = Step("the statement is about to run")
        let isRolledBack = Recorded(false)
        let task = Task {
            try await access.run(writer) { db in
                if access == .write {
                    try db.insert(1)
                    db.afterNextTransaction(
                        onCommit: { _ in Issue.record("it is committed") },
                        onRollback: { db in
                            // Statements that run here aren't cancelled.
                            let isEmpty = try? db.values().isEmpty
                            isRolledBack.update { $0 = isEmpty ?? false }
                        })
                }
                hasBegun.reach()
                try db.runForever()
            }
        }
        let canceller = cancel(task, at: hasBegun)
        await #expect(throws: CancellationError.self) { try await task.value }
        try await canceller.value
        #expect(isRolledBack.value == (access == .write))
        #expect(try await access.run(writer) { db in try db.values() } == [], "the next access feels nothing")
    }

    @Test(.blocksSwiftThreads, arguments: Situation.all) func betweenStatements(_ situation: Situation) async throws {
        let writer = try await make(situation)
        let access = situation.access
        let hasBegun = Step("a statement has run")
        let isCancelled = Step("the task is cancelled")
        let task = Task {
            try await access.run(writer) { db in
                if access == .write { try db.insert(1) }
                _ = try db.values()
                hasBegun.reach()
                try isCancelled.wait()
                _ = try db.values()
                Issue.record("a statement has run in a cancelled task")
            }
        }
        let canceller = cancel(task, at: hasBegun, then: isCancelled)
        await #expect(throws: CancellationError.self) { try await task.value }
        try await canceller.value
        #expect(try await access.run(writer) { db in try db.values() } == [], "the write is rolled back")
    }

    /// A closure that has all it needs gives its result. Only a commit is refused to a task that is cancelled.
    @Test(.blocksSwiftThreads, arguments: Situation.all) func afterTheLastStatement(_ situation: Situation) async throws
    {
        let writer = try await make(situation)
        let access = situation.access
        let hasRead = Step("the last statement has run")
        let isCancelled = Step("the task is cancelled")
        let task = Task {
            try await access.run(writer) { db in
                let values = try db.values()
                hasRead.reach()
                try isCancelled.wait()
                return values
            }
        }
        let canceller = cancel(task, at: hasRead, then: isCancelled)
        if access == .write {
            await #expect(throws: CancellationError.self) { try await task.value }
        } else {
            #expect(try await task.value == [])
        }
        try await canceller.value
        try await writer.write { db in try db.insert(1) }
    }
}

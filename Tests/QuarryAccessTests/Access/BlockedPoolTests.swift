import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Synchronous accesses in tasks block Swift's threads, perhaps all of them. A connection must not wait then for a task
/// that could only go on there.
@Suite("Tasks that block Swift's threads", .timeLimit(.minutes(2 * TestTime.factor))) struct BlockedPoolTests {
    /// The access that waits for a connection, while all others block a thread.
    enum Waiter: String, CaseIterable, Codable, Sendable {
        case read, write, asyncRead, asyncWrite, barrier

        func run(_ writer: any DatabaseWriter) async throws {
            switch self {
            case .read: try await writer.read { _ in }
            case .write: try await writer.write { _ in }
            case .barrier: try await writer.barrierWriteWithoutTransaction { _ in }
            case .asyncRead:
                try await withCheckedThrowingContinuation { continuation in
                    writer.asyncRead { result in continuation.resume(with: result.map { _ in }) }
                }
            case .asyncWrite:
                try await withCheckedThrowingContinuation { continuation in
                    writer.asyncWrite { _ in
                    } completion: { _, result in
                        continuation.resume(with: result)
                    }
                }
            }
        }
    }

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool], Waiter.allCases)
    func connectionIsNotKeptForATaskWithoutThread(_ kind: WriterKind, _ waiter: Waiter) async {
        await #expect(processExitsWith: .success) { [kind = kind as WriterKind, waiter = waiter as Waiter] in
            try await withEachExecution(kind, readerCount: 1) { writer in
                let groups = writer.groups
                let hasBegun = Step("the connections are out")
                let threadCount = CooperativePool.width
                // Not on Swift's threads: these will be blocked.
                let holder = OwnThread("holder") {
                    try writer.holdAll {
                        hasBegun.reach()
                        try spin(until: "all wait") {
                            groups.reduce(0) { $0 + $1.waiterCount } == 1 + threadCount
                        }
                    }
                }
                try await hasBegun.reached()
                async let first: Void = waiter.run(writer)
                try await until("the first waits") { groups.contains { $0.waiterCount == 1 } }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<threadCount {
                        group.addTask { try block(writer, reads: index.isMultiple(of: 2)) }
                    }
                    try await group.waitForAll()
                }
                try await first
                try await holder.value
            }
        }
    }

    @Test(arguments: [WriterKind.memoryQueue, .fileQueue, .pool]) func suspendingAndBlockingTasksGoOn(
        _ kind: WriterKind
    ) async {
        await #expect(processExitsWith: .success) { [kind = kind as WriterKind] in
            try await withEachExecution(kind, readerCount: 2) { writer in
                try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<16 {
                        group.addTask {
                            for round in 0..<40 {
                                switch (index + round) % 4 {
                                case 0: try block(writer, reads: true)
                                case 1: try await writer.read { _ in }
                                case 2: try block(writer, reads: false)
                                default: try await writer.write { db in try db.insert(index) }
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await writer.read { db in try db.count() } == 16 * 10)
                try await writer.write { db in try db.execute(sql: "DROP TABLE t") }
            }
        }
    }
}

/// Runs `body` with a writer for each way to place accesses, in a process that ends after a minute.
private func withEachExecution(
    _ kind: WriterKind, readerCount: Int, _ body: (any DatabaseWriter) async throws -> Void
) async throws {
    alarm(60)
    let folder = try TemporaryFolder()
    for execution in [AsyncExecution.automatic, .inline, .offloaded] {
        var configuration = Configuration()
        configuration.asyncExecution = execution
        configuration.maximumReaderCount = readerCount
        let writer = try kind.make(folder, configuration)
        try await body(writer)
        try writer.close()
    }
}

/// A synchronous access, on the thread of the task that calls.
private func block(_ writer: any DatabaseWriter, reads: Bool) throws {
    if reads { try writer.read { _ in } } else { try writer.write { _ in } }
}

extension DatabaseWriter {
    fileprivate var groups: [ConnectionGroup] {
        if let pool = self as? DatabasePool { return [pool.writer.group, pool.readers.group] }
        return (self as? DatabaseQueue).map { [$0.runner.group] } ?? []
    }

    /// Runs `body` while all connections are out.
    fileprivate func holdAll(_ body: () throws -> Void) throws {
        try writeWithoutTransaction { _ in
            guard let pool = self as? DatabasePool else { return try body() }
            try pool.unsafeRead { _ in try body() }
        }
    }
}

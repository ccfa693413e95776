import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// The form of the call.
enum IncrementalWriteForm: CaseIterable, Codable {
    case thread
    case task

    func write(
        _ writer: any DatabaseWriter,
        _ pace: IncrementalWritePace = IncrementalWritePace(maximumHold: .seconds(600)),
        _ step: @escaping @Sendable (IncrementalWriteStep) throws -> IncrementalWriteStep.Completion
    ) async throws -> IncrementalWriteResult {
        switch self {
        case .thread: try await onOwnThread { try writer.writeIncrementally(pace, step) }
        case .task: try await writer.writeIncrementally(pace, step)
        }
    }
}

/// A write that is requested in a step, and keeps the connection until it may end.
final class NextWrite: Sendable {
    let hasBegun = Step("the next write has begun")
    private let mayEnd = Step("the next write may end")
    private let runner: AccessRunner
    private let threads = Recorded<[OwnThread<Void>]>([])

    init(of writer: any DatabaseWriter) throws {
        runner = try #require(writer.groupReader as? any GroupWriter).writer
    }

    /// Waits until it waits. No limits apply to it.
    func request() throws {
        start()
        try spin(until: "the next write waits") { runner.group.waiterCount == 1 }
    }

    func start() {
        let thread = OwnThread { [runner, hasBegun, mayEnd] in
            try runner.perform(AccessRequest(.write, origin: .continuation)) { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        threads.update { $0.append(thread) }
    }

    func end() async throws {
        mayEnd.reach()
        for thread in threads.value { try await thread.value }
    }
}

extension Database {
    /// Inserts a row that has one value in all columns.
    func insertAll(_ value: Int) throws {
        let count = try columns(in: "t").count
        let values = Array(repeating: "\(value)", count: count).joined(separator: ", ")
        try execute(sql: "INSERT INTO t VALUES (\(values))")
    }
}

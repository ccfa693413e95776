import Foundation
import QuarryCore

/// A thread of a test's own, which may block: blocking Swift's threads would stop all tests.
public final class OwnThread<Value: Sendable>: Sendable {
    private let result = Lock<Result<Value, any Error>?>(nil)
    private let isOver: Step

    /// Starts the thread.
    public init(_ name: String = "a thread of the test", _ body: @escaping @Sendable () throws -> Value) {
        isOver = Step("\(name) has ended")
        let thread = Thread { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            isOver.reach()
        }
        thread.name = name
        thread.start()
    }

    /// What the thread has returned, or thrown.
    public var value: Value {
        get async throws {
            try await isOver.reached()
            return try result.withLock { $0 }!.get()
        }
    }
}

/// Runs `body` on a thread of its own.
public func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await OwnThread("a thread of the test", body).value
}

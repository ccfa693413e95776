import Foundation
import QuarryCore

/// A thread of a test's own, which may block: blocking Swift's threads would stop all tests.
public final class OwnThread<Value: Sendable>: Sendable {
    private let result = Lock<Result<Value, any Error>?>(nil)
    /// The thread has ended.
    let isOver: Step

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

    /// The value that the thread has returned, or its error.
    public var value: Value {
        get async throws { try await value(within: Step.patience) }
    }

    /// The error that the thread has thrown, if it has ended with one.
    var error: (any Error)? {
        guard case .failure(let error) = result.withLock({ $0 }) else { return nil }
        return error
    }

    /// The value that the thread has returned, or its error.
    ///
    /// - parameter seconds: how long it may take.
    public func value(within seconds: Double) async throws -> Value {
        try await isOver.reached(within: seconds)
        return try result.withLock { $0 }!.get()
    }
}

/// Runs `body` on a thread of its own.
///
/// - parameter seconds: how long it may take.
public func onOwnThread<Value: Sendable>(
    within seconds: Double = Step.patience, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await OwnThread("a thread of the test", body).value(within: seconds)
}

import Foundation
import QuarryCore

/// Looks again and again until `condition` holds: for what other threads do and nobody reports, such as waiting in a
/// line.
///
/// It fails when the code that has to make it hold has ended, and after `Step.patience`.
public func until(
    _ name: String, by code: (any CodeUnderTest)? = nil, _ condition: () throws -> Bool
) async throws {
    let end = SystemClock.monotonicNanoseconds() + UInt64(Step.patience * 1e9)
    let failure = Recorded<Step.NeverReached?>(nil)
    code?.whenEnded { error in failure.update { $0 = Step.NeverReached(name, byCodeThatThrew: error) } }
    while true {
        // Asked first: the code may make it hold just before it ends.
        let failure = failure.value
        if try condition() { return }
        if let failure { throw failure }
        if SystemClock.monotonicNanoseconds() > end { throw Step.NeverReached(name) }
        await Task.yield()
    }
}

/// As `until`, on a thread of one's own.
public func spin(until name: String, _ condition: () throws -> Bool) throws {
    SwiftThreads.willBlock(until: name)
    let end = SystemClock.monotonicNanoseconds() + UInt64(Step.patience * 1e9)
    while try !condition() {
        if SystemClock.monotonicNanoseconds() > end { throw Step.NeverReached(name) }
        sched_yield()
    }
}

/// A value that several threads write, and a test looks at.
public final class Recorded<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    /// A first value.
    public init(_ value: Value) { lock = Lock(value) }

    /// The value of now.
    public var value: Value { lock.withLock { $0 } }

    /// Changes the value, while no other thread does.
    public func update<T>(_ body: (inout Value) -> T) -> T { lock.withLock { body(&$0) } }
}

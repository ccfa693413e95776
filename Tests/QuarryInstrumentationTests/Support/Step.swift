#if Instrumentation || AllButTLS
import Dispatch
import Quarry

@testable import QuarryInstrumentation

/// A named step of a schedule: some reach it, others wait for it. A step that is never reached fails after two minutes.
final class Step: Sendable {
    struct NeverReached: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    private let signal = Signal<Bool>()
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ name: String) { self.name = name }

    func reach() {
        signal.send(true)
        semaphore.signal()
    }

    /// Waits on a thread that isn't one of Swift's.
    func wait() throws {
        guard semaphore.wait(timeout: .now() + 120) == .success else { throw neverReached }
        semaphore.signal()
    }

    /// Suspends the task.
    func reached() async throws {
        let patience = DispatchWorkItem { [signal] in signal.send(false) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: patience)
        defer { patience.cancel() }
        guard await signal.value() ?? false else { throw neverReached }
    }

    private var neverReached: NeverReached { NeverReached(description: "never reached: \(name)") }
}

/// Looks again and again until a condition holds that nothing reports; fails after two minutes.
func until(_ name: String, _ condition: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try !condition() {
        guard ContinuousClock.now < end else { throw Step.NeverReached(description: name) }
        await Task.yield()
    }
}

/// A value that several threads write, and a test reads.
final class Recorded<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    init(_ value: Value) { lock = Lock(value) }

    var value: Value { lock.withLock { $0 } }

    func update<T>(_ body: (inout Value) -> T) -> T { lock.withLock { body(&$0) } }
}

/// Suspends until the task is cancelled.
func forever() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    // The stream ends when the task is cancelled.
    for await _ in stream {}
    continuation.finish()
    throw CancellationError()
}
#endif

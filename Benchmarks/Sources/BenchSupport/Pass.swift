import Dispatch
import Foundation
import Synchronization

/// The time and the checksum of a pass over a workload's operations.
struct Pass {
    var nanoseconds: Double
    var checksum: Int
}

extension Workload {
    /// Performs all operations once, by as many threads or tasks as the row has clients, and times it.
    func runPass(operations: Int, clients: Int) throws -> Pass {
        let ranges = Self.split(operations, into: Swift.max(1, clients))
        var pass: Pass
        switch body {
        case .sync(let body):
            pass = ranges.count == 1 ? try Self.onThisThread(ranges[0], body) : try Self.onThreads(ranges, body)
        case .async(let body):
            pass = try Self.onTasks(ranges, body)
        }
        pass.checksum &+= try finish()
        return pass
    }

    /// Performs all operations once, on this thread, and waits after each for what it gave other threads to do.
    func runSettledPass(operations: Int, settle: () -> Void) throws {
        guard case .sync(let body) = body else { throw BenchError.settlingTasks }
        for operation in 0..<operations {
            _ = try body(operation..<operation + 1)
            settle()
        }
        _ = try finish()
        settle()
    }

    private static func split(_ operations: Int, into parts: Int) -> [Range<Int>] {
        (0..<parts).map { operations * $0 / parts..<operations * ($0 + 1) / parts }
    }

    private static func onThisThread(_ range: Range<Int>, _ body: (Range<Int>) throws -> Int) throws -> Pass {
        let start = ContinuousClock.now
        let checksum = try body(range)
        return Pass(nanoseconds: start.nanosecondsToNow, checksum: checksum)
    }

    /// From the moment that all threads are released until the last one is done: starting them isn't measured.
    private static func onThreads(
        _ ranges: [Range<Int>], _ body: @escaping @Sendable (Range<Int>) throws -> Int
    ) throws -> Pass {
        let gate = Gate(parties: ranges.count + 1)
        let results = Mutex<[Result<Int, any Error>]>([])
        let done = DispatchGroup()
        for range in ranges {
            done.enter()
            let thread = Thread {
                gate.pass()
                let result = Result { try body(range) }
                results.withLock { $0.append(result) }
                done.leave()
            }
            thread.start()
        }
        gate.pass()
        let start = ContinuousClock.now
        done.wait()
        let nanoseconds = start.nanosecondsToNow
        let checksum = try results.withLock { try $0.reduce(0) { try $0 &+ $1.get() } }
        return Pass(nanoseconds: nanoseconds, checksum: checksum)
    }

    /// On the default executor's threads, as a server's handlers run. The calling thread waits outside of them.
    private static func onTasks(
        _ ranges: [Range<Int>], _ body: @escaping @Sendable (Range<Int>) async throws -> Int
    ) throws -> Pass {
        let outcome = Mutex<Result<Pass, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Pass, any Error>
            do {
                let start = ContinuousClock.now
                let checksum =
                    ranges.count == 1 ? try await body(ranges[0]) : try await sum(of: ranges, body)
                result = .success(Pass(nanoseconds: start.nanosecondsToNow, checksum: checksum))
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else {
            throw BenchError.noResult
        }
        return try result.get()
    }

    private static func sum(
        of ranges: [Range<Int>], _ body: @escaping @Sendable (Range<Int>) async throws -> Int
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for range in ranges {
                group.addTask { try await body(range) }
            }
            return try await group.reduce(0, &+)
        }
    }
}

/// Holds threads back until all have arrived.
private final class Gate: Sendable {
    private let condition = NSCondition()
    private let missing: Mutex<Int>

    init(parties: Int) {
        missing = Mutex(parties)
    }

    func pass() {
        condition.lock()
        defer { condition.unlock() }
        let left = missing.withLock { missing in
            missing -= 1
            return missing
        }
        if left == 0 {
            condition.broadcast()
        }
        while missing.withLock({ $0 > 0 }) {
            condition.wait()
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var nanosecondsToNow: Double {
        let (seconds, attoseconds) = duration(to: .now).components
        return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    }
}

import Foundation
import Quarry
import QuarryTestSupport

@testable import QuarryAccess
@testable import QuarryRecovery

/// The calls of the file system that the library makes, and the one at which something happens.
final class FileCalls: Sendable {
    struct Call: CustomStringConvertible {
        let kind: FileOperations.Kind
        let path: String

        var description: String { "\(kind) \(path)" }
    }

    let made = Recorded<[Call]>([])

    /// - parameter always: returns the number of the error with which calls of a kind always fail; 0 for none.
    /// - parameter happens: called at a call; returns the number of its error.
    func operations(
        _ nth: Int, always: @escaping @Sendable (FileOperations.Kind) -> CInt = { _ in 0 },
        _ happens: @escaping @Sendable () -> CInt
    ) -> FileOperations {
        var files = FileOperations()
        files.fault = { [made] kind, path in
            let count = made.update { made in
                made.append(Call(kind: kind, path: path))
                return made.count
            }
            return count == nth ? happens() : always(kind)
        }
        return files
    }

    /// Fails one call after the other, until none is left to fail.
    ///
    /// - parameter body: makes the calls.
    /// - parameter check: is given the failed call, and the error that has followed.
    /// - returns: the number of calls.
    static func eachFails(
        with number: CInt, always: @escaping @Sendable (FileOperations.Kind) -> CInt = { _ in 0 },
        _ body: (FileOperations) throws -> Void, check: (Call, (any Error)?) throws -> Void
    ) throws -> Int {
        var nth = 1
        while true {
            let calls = FileCalls()
            let files = calls.operations(nth, always: always) { number }
            var failure: (any Error)?
            do { try body(files) } catch { failure = error }
            guard calls.made.value.count >= nth else {
                if let failure { throw failure }
                return nth - 1
            }
            try check(calls.made.value[nth - 1], failure)
            nth += 1
        }
    }
}

extension TemporaryFolder {
    /// The bytes of each of its files, but for the index of a log, which is memory.
    var bytes: [String: Data] {
        get throws {
            let files = try names.filter { !$0.hasSuffix("-shm") }
            return Dictionary(
                uniqueKeysWithValues: try files.map { ($0, try Data(contentsOf: URL(fileURLWithPath: file($0)))) })
        }
    }
}

/// A clock whose sleeps end at once, and are noted: `onSleep` decides how it goes on.
final class StepClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let time = Recorded(Duration.zero)
    let onSleep: @Sendable (Duration) throws -> Void
    var now: Instant { Instant(offset: time.value) }
    var minimumResolution: Duration { .nanoseconds(1) }

    init(_ onSleep: @escaping @Sendable (Duration) throws -> Void) { self.onSleep = onSleep }

    func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        try onSleep(deadline.offset - time.value)
        time.update { $0 = max($0, deadline.offset) }
    }
}

import Foundation
import QuarryCore
public import Testing

/// Swift's threads, of which there are as many as processors. All tests share them.
///
/// Two tests that block one each until a task of theirs has run stop all tests on two processors, until the patience of
/// one of them ends. A test that blocks some therefore says so, with the trait `.blocksSwiftThreads`.
public enum SwiftThreads {
    /// Whether the test has the trait.
    @TaskLocal fileprivate static var areReserved = false

    /// Whether the current thread may block: it is none of Swift's, or the test has the trait.
    public static var mayBlock: Bool { areReserved || label != "Swift global concurrent queue" }

    /// Records an issue if the current thread may not block.
    ///
    /// - parameter name: what the thread is about to wait for, or to compute.
    public static func willBlock(until name: String) {
        guard !mayBlock else { return }
        Issue.record("one of Swift's threads waits until \(name): the test needs the trait .blocksSwiftThreads")
    }

    /// The name of the queue that the thread serves. The function has no name in Swift.
    private static var label: String? { getLabel?(nil).map { String(cString: $0) } }

    private typealias GetLabel = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
    private static let getLabel = dlsym(nil, "dispatch_queue_get_label").map { unsafeBitCast($0, to: GetLabel.self) }
}

/// A test that blocks threads of Swift's. Its cases, and other tests that have this trait, run one after the other.
public struct BlockingTrait: TestTrait, TestScoping {
    private struct Line {
        var isTaken = false
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    private static let line = Lock(Line())

    /// Runs a case of the test when no other has its turn.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await withUnsafeContinuation { continuation in
            let isFree = Self.line.withLock { line in
                if line.isTaken { line.waiters.append(continuation) }
                defer { line.isTaken = true }
                return !line.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = Self.line.withLock { line in
                line.isTaken = !line.waiters.isEmpty
                return line.isTaken ? line.waiters.removeFirst() : nil
            }
            next?.resume()
        }
        try await SwiftThreads.$areReserved.withValue(true) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// The test blocks threads of Swift's, and must not run beside another that does.
    public static var blocksSwiftThreads: Self { BlockingTrait() }
}

import Foundation

/// The time that tests may take.
///
/// ```swift
/// @Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct GroupCommitTests {
/// ```
public enum TestTime {
    /// How many times as long as without a sanitizer: `make test-tsan` and `make test-asan` set it.
    public static let factor = ProcessInfo.processInfo.environment["QUARRY_TEST_TIME_FACTOR"].flatMap { Int($0) } ?? 1
}

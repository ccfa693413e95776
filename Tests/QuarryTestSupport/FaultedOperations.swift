import Foundation

/// The operations of a workload that fail, one in each run: each third from a random one on. With
/// `QUARRY_ALL_FAULTS=1`, as in `make kills`, each one.
///
/// ```swift
/// var faulted = FaultedOperations()
/// repeat {
///     vfs.arm(.all, nth: faulted.nth)
///     …
///     faulted.advance()
/// } while vfs.failures > 0
/// ```
public struct FaultedOperations: Sendable {
    /// The distance between two of them.
    public static let stride = ProcessInfo.processInfo.environment["QUARRY_ALL_FAULTS"] == "1" ? 1 : 3

    /// The number of the operation that fails, from 1.
    public private(set) var nth = Int.random(in: 1...stride)

    /// The first operations.
    public init() {}

    /// Goes on with the next one.
    public mutating func advance() { nth += Self.stride }
}

/// One peer's way to perform a task, with its connections open and its data in place.
package struct Workload: Sendable {
    /// Performs the operations of a range and returns a checksum of what it read or did. The checksum of a pass is the
    /// sum over its ranges, must not depend on how the pass was cut into ranges, and must be the same for all peers.
    package enum Body: Sendable {
        case sync(@Sendable (Range<Int>) throws -> Int)
        case async(@Sendable (Range<Int>) async throws -> Int)
    }

    package let body: Body
    /// Runs after each pass, untimed: undoes what the pass did and returns a checksum of it.
    package let finish: @Sendable () throws -> Int
    /// Makes what all operations read, for the rows where its memory is measured.
    package let keep: (@Sendable () throws -> Any)?
    /// Waits until other threads have done what the operations so far gave them to do.
    ///
    /// Where they allocate, chance decides how many operations they take at once. So allocations are counted with a
    /// wait after each operation.
    package let settle: (@Sendable () -> Void)?

    package init(
        _ body: Body, finish: @escaping @Sendable () throws -> Int = { 0 }, keep: (@Sendable () throws -> Any)? = nil,
        settle: (@Sendable () -> Void)? = nil
    ) {
        self.body = body
        self.finish = finish
        self.keep = keep
        self.settle = settle
    }

    package static func sync(_ body: @escaping @Sendable (Range<Int>) throws -> Int) -> Workload {
        Workload(.sync(body))
    }

    package static func async(_ body: @escaping @Sendable (Range<Int>) async throws -> Int) -> Workload {
        Workload(.async(body))
    }
}

/// The three sides of the comparison.
package enum PeerName: String, CaseIterable, Sendable, Codable {
    case c = "C"
    case quarry = "Quarry"
    case grdb = "GRDB"
}

/// A library, or the C API, that knows how to perform the tasks.
package protocol Peer: Sendable {
    var name: PeerName { get }

    /// Opens the resources of the task, which are closed when the workload is released. Returns `nil` if this peer
    /// has no such task.
    func workload(for task: BenchTask, fixtures: Fixtures) throws -> Workload?
}

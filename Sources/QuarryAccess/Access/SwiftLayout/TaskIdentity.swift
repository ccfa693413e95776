/// The task that a job continues.
///
/// Assumption: Swift gives executors a pointer to the task itself each time. Check: a job is as long as a pointer, and
/// `StayingTests`. Slow way: without an identity, or if it differed from job to job, tasks would change threads where
/// they stay otherwise.
struct TaskIdentity: Equatable {
    private let address: UInt

    init?(_ job: UnownedJob) {
        guard MemoryLayout<UnownedJob>.size == MemoryLayout<UInt>.size else { return nil }
        address = unsafeBitCast(job, to: UInt.self)
    }
}

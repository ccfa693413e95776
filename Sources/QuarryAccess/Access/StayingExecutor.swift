/// The library's threads, for accesses whose tasks may stay on their thread until they next suspend.
///
/// A task that goes back to Swift's threads wakes one of them, which takes longer than a short access. With two
/// connections a server on two processors inserted 12 % more rows a second when tasks stayed, and made 8 % more reads
/// of 100 microseconds.
///
/// The thread says that it is one of Swift's (`pool`). Swift then sees no reason to change threads when the access has
/// ended and the task no longer prefers this executor. Before that, the task prefers this executor, and so queues
/// itself here on the way: the thread goes on with it at once (`ThreadState.takesBack`). A runtime that compares
/// executors in another way changes threads, as it does for tasks that may not stay. So does a task that has an actor
/// or an executor of its own. `WorkerThreads.leave` sends a task back.
///
/// The code of the program after the access may be long, or block. Therefore a thread whose task may stay
/// * isn't counted on for further jobs: another is started if need be, even if there are as many as there are
///   connections;
/// * wakes another thread for the access that gets its connection, unless it hands on the transaction of a shared
///   commit: then the task suspends at once;
/// * is one of a few: as many as Swift has.
final class StayingExecutor: TaskExecutor {
    // They own this object.
    private unowned(unsafe) let threads: WorkerThreads

    /// Swift's own threads.
    static let pool = globalConcurrentExecutor.asUnownedTaskExecutor()

    init(_ threads: WorkerThreads) { self.threads = threads }

    func enqueue(_ job: consuming ExecutorJob) {
        threads.enqueue(UnownedJob(job), on: asUnownedTaskExecutor(), mayStay: true)
    }
}

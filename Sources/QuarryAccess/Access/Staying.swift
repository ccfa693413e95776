/// The run of a task that may stay on its thread of the library until it next suspends.
///
/// A task that goes back to Swift's threads wakes one of them, which takes longer than a short access. With two
/// connections a server on two processors inserted 12 % more rows a second when tasks stayed, and made 8 % more reads
/// of 100 microseconds.
///
/// The thread says that it is one of Swift's (`StayingExecutor.pool`). Swift then sees no reason to change threads when
/// the access has ended and the task no longer prefers a `StayingExecutor`. Before that, the task prefers that
/// executor, and so queues itself there on the way: the thread goes on with it at once (`takesBack`). A runtime that
/// compares executors in another way changes threads, as it does for tasks that may not stay. So does a task that has
/// an actor or an executor of its own. `WorkerThreads.leave` sends a task back.
///
/// The code of the program after the access may be long, or block. Therefore a thread whose task may stay
/// * isn't counted on for further jobs: another is started if need be, even if there are as many as there are
///   connections;
/// * wakes another thread for the access that gets its connection, unless it hands on the transaction of a shared
///   commit: then the task suspends at once;
/// * is one of a few: as many as Swift has.
struct Staying {
    private let task: TaskIdentity?
    /// The job with which the thread goes on.
    private var next: WorkerThreads.Job?
    /// The task leaves the thread once it has suspended.
    private var leaving: UnsafeContinuation<Void, Never>?

    /// Runs a job as one of Swift's threads would, and then those that the task takes back.
    ///
    /// - parameter staying: the run, for the other calls of the thread. The pointer is used while the job runs.
    static func run(_ first: WorkerThreads.Job, _ staying: UnsafeMutablePointer<Staying?>) {
        var next: WorkerThreads.Job? = first
        while let job = next {
            staying.pointee = Staying(task: TaskIdentity(job.job))
            job.job.runSynchronously(on: StayingExecutor.pool)
            next = staying.pointee?.next
            // No task runs here now: this one goes on elsewhere.
            staying.pointee?.leaving?.resume()
        }
        staying.pointee = nil
    }

    private init(task: TaskIdentity?) { self.task = task }

    /// Keeps a job, if it is the next step of the task: it changes executors, and runs no more.
    ///
    /// Jobs of other tasks may come while no task runs here, too: from `Task.immediate`, or from the `deinit` of the
    /// result of the task.
    mutating func takesBack(_ job: WorkerThreads.Job) -> Bool {
        guard job.mayStay, next == nil, let identity = TaskIdentity(job.job), identity == task,
            withUnsafeCurrentTask(body: { $0 == nil })
        else { return false }
        next = job
        return true
    }

    /// Resumes the task elsewhere once it has suspended. A `Task.yield()` need not suspend it.
    mutating func leave(_ task: UnsafeContinuation<Void, Never>) { leaving = task }
}

/// The library's threads, for accesses whose tasks may stay.
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

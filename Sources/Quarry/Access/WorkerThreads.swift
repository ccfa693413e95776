import QuarryCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A few threads of the library's, where asynchronous accesses run that may block: on the disk, or on another process's
/// lock.
///
/// Threads are started when there is work and none is free, up to as many as there are connections, and one. One that
/// has nothing to do looks for work for some microseconds, since a wake-up costs more than that, then sleeps, and ends
/// after a while.
final class WorkerThreads: TaskExecutor, @unchecked Sendable {
    // Sendable: the fields below are touched with the mutex held only; `pending` is atomic.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: Deque<Job> = []
    private var threadCount = 0
    private var sleepingCount = 0
    private var spinningCount = 0
    private var isShutDown = false

    /// A task's next step, and the executor that the task prefers: these threads, or a ticket that hands jobs to them.
    private struct Job {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
    }

    /// The number of jobs that no thread has taken.
    private let pending = Atomic<Int>(0)
    private let maximumThreadCount: Int

    private static var spinNanoseconds: UInt64 { 20_000 }
    private static var idleSeconds: Int { 10 }

    /// - parameter connectionCount: how many accesses run at the same time, at most.
    init(connectionCount: Int) {
        // One more, on which tasks go on that have given up waiting, while all connections are in use.
        maximumThreadCount = connectionCount + 1
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // Threads hold their executor: none is left.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), on: asUnownedTaskExecutor()) }

    /// - parameter executor: the one that the job's task prefers.
    func enqueue(_ job: UnownedJob, on executor: UnownedTaskExecutor) {
        pthread_mutex_lock(mutex)
        jobs.append(Job(job: job, executor: executor))
        let pendingCount = pending.wrappingAdd(1, ordering: .releasing).newValue
        // Those that spin will see it, and a thread of these that gives a connection back has nothing else to do then.
        // One that has been woken counts as sleeping until it runs: it takes one job only.
        let lookingCount = spinningCount + (isCurrentThread ? 1 : 0)
        let mustWake = pendingCount > lookingCount && sleepingCount > 0
        let mustStart = pendingCount > lookingCount + sleepingCount && threadCount < maximumThreadCount
        if mustStart { threadCount += 1 }
        if mustWake { pthread_cond_signal(condition) }
        pthread_mutex_unlock(mutex)
        if mustStart { startThread() }
    }

    private func startThread() {
        var thread = pthread_t(bitPattern: 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        if code != 0 {
            // No thread to be had: those that run do the work. If there is none, this one does.
            Unmanaged<WorkerThreads>.fromOpaque(context).release()
            pthread_mutex_lock(mutex)
            threadCount -= 1
            let isAlone = threadCount == 0
            pthread_mutex_unlock(mutex)
            if isAlone { while runNextJob() {} }
        }
    }

    /// Whose thread runs.
    private static let owner: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private var isCurrentThread: Bool {
        pthread_getspecific(Self.owner) == Unmanaged.passUnretained(self).toOpaque()
    }

    private func run() {
        pthread_setspecific(Self.owner, Unmanaged.passUnretained(self).toOpaque())
        while true {
            while runNextJob() {}
            if spin() { continue }
            guard sleep() else { return }
        }
    }

    /// Runs a job, if there is one.
    private func runNextJob() -> Bool {
        pthread_mutex_lock(mutex)
        guard let job = takeJob() else {
            pthread_mutex_unlock(mutex)
            return false
        }
        pthread_mutex_unlock(mutex)
        job.job.runSynchronously(on: job.executor)
        return true
    }

    private func takeJob() -> Job? {
        guard let job = jobs.popFirst() else { return nil }
        pending.wrappingSubtract(1, ordering: .relaxed)
        return job
    }

    /// Looks for work for some microseconds.
    private func spin() -> Bool {
        pthread_mutex_lock(mutex)
        // One is enough.
        guard spinningCount == 0 else {
            pthread_mutex_unlock(mutex)
            return false
        }
        spinningCount += 1
        pthread_mutex_unlock(mutex)
        let end = SystemClock.monotonicNanoseconds() + Self.spinNanoseconds
        var isFound = false
        repeat {
            isFound = pending.load(ordering: .acquiring) > 0
        } while !isFound && SystemClock.monotonicNanoseconds() < end
        pthread_mutex_lock(mutex)
        spinningCount -= 1
        isFound = pending.load(ordering: .relaxed) > 0
        pthread_mutex_unlock(mutex)
        return isFound
    }

    /// Sleeps until there is work.
    ///
    /// - returns: false if the thread has to end.
    private func sleep() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        time.tv_sec += Self.idleSeconds
        while jobs.isEmpty {
            sleepingCount += 1
            let code = isShutDown ? ETIMEDOUT : pthread_cond_timedwait(condition, mutex, &time)
            sleepingCount -= 1
            if code == ETIMEDOUT, jobs.isEmpty {
                threadCount -= 1
                return false
            }
        }
        return true
    }

    /// The number of threads that there are.
    var currentThreadCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return threadCount
    }

    /// Runs `body`, which may block, on these threads for a task. If it throws, they are needed no more.
    func opening<T: Sendable>(_ body: @Sendable () throws -> T) async throws -> T {
        do {
            return try await withTaskExecutorPreference(self, isolation: nil) {
                try Task.checkCancellation()
                return try body()
            }
        } catch {
            shutDown()
            throw error
        }
    }

    /// Lets threads end that have nothing to do.
    func shutDown() {
        pthread_mutex_lock(mutex)
        isShutDown = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}

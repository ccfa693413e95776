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
/// after a while. `WorkerCrew` decides.
final class WorkerThreads: TaskExecutor, @unchecked Sendable {
    // Sendable: the fields below are touched with the mutex held only; `pending` is atomic.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: Deque<Job> = []
    private var crew: WorkerCrew
    private var isShutDown = false

    /// A task's next step, and the executor that the task prefers: these threads, or a waiter that hands jobs to them.
    private struct Job {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
    }

    /// The number of jobs that no thread has taken.
    private let pending = Atomic<Int>(0)
    private static var spinNanoseconds: UInt64 { 20_000 }
    private static var idleSeconds: Int { 10 }

    /// - parameter connectionCount: how many accesses run at the same time, at most.
    init(connectionCount: Int) {
        // One more, on which tasks go on that have given up waiting, while all connections are in use.
        crew = WorkerCrew(maximumThreadCount: connectionCount + 1)
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
        let need = crew.need(pendingCount: pendingCount, isEndingJob: current?.pointee.isEndingJob ?? false)
        if need.mustWake { pthread_cond_signal(condition) }
        pthread_mutex_unlock(mutex)
        if need.mustStart { startThread() }
    }

    /// Wakes or starts a thread for a job that was left to one that won't take it soon.
    private func handOver() {
        let pendingCount = pending.load(ordering: .relaxed)
        guard pendingCount > 0 else { return }
        let need = crew.need(pendingCount: pendingCount, isEndingJob: false)
        if need.mustWake { pthread_cond_signal(condition) }
        guard need.mustStart else { return }
        pthread_mutex_unlock(mutex)
        startThread()
        pthread_mutex_lock(mutex)
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
            crew.threadCount -= 1
            let isAlone = crew.threadCount == 0
            pthread_mutex_unlock(mutex)
            if isAlone { while runNextJob() {} }
        }
    }

    /// The state of one of these threads.
    private struct ThreadState {
        let workers: Unmanaged<WorkerThreads>
        /// Whether it has nothing else to do after what it does now.
        var isEndingJob = false
    }

    /// Where a thread's state is.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var currentState: UnsafeMutablePointer<ThreadState>? {
        pthread_getspecific(key)?.assumingMemoryBound(to: ThreadState.self)
    }

    /// The state of the thread that runs, if it is one of these.
    private var current: UnsafeMutablePointer<ThreadState>? {
        guard let state = Self.currentState,
            state.pointee.workers.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
        else { return nil }
        return state
    }

    /// Runs the last work of a thread's job. The thread takes a job that this queues: no other is woken for it.
    ///
    /// Anywhere else, a thread that queues a job is in the midst of an access, which may be long.
    static func endingJob(_ body: () -> Void) {
        guard let state = currentState else { return body() }
        state.pointee.isEndingJob = true
        defer { state.pointee.isEndingJob = false }
        body()
    }

    /// Says that the thread that runs, if it is one of the library's, won't take a job soon.
    static func willBeBusy() {
        currentState?.pointee.workers._withUnsafeGuaranteedRef { workers in
            pthread_mutex_lock(workers.mutex)
            workers.handOver()
            pthread_mutex_unlock(workers.mutex)
        }
    }

    /// Runs a body that makes the thread sleep. If it is one of the library's, another may take its place meanwhile.
    static func blocking<T>(_ body: () throws -> T) rethrows -> T {
        guard let state = currentState else { return try body() }
        return try state.pointee.workers._withUnsafeGuaranteedRef { workers in
            pthread_mutex_lock(workers.mutex)
            workers.crew.blockedCount += 1
            workers.handOver()
            pthread_mutex_unlock(workers.mutex)
            defer {
                pthread_mutex_lock(workers.mutex)
                workers.crew.blockedCount -= 1
                pthread_mutex_unlock(workers.mutex)
            }
            return try body()
        }
    }

    private func run() {
        let state = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
        state.initialize(to: ThreadState(workers: .passUnretained(self)))
        pthread_setspecific(Self.key, state)
        defer {
            pthread_setspecific(Self.key, nil)
            state.deallocate()
        }
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
        guard crew.spinningCount == 0 else {
            pthread_mutex_unlock(mutex)
            return false
        }
        crew.spinningCount += 1
        pthread_mutex_unlock(mutex)
        let end = SystemClock.monotonicNanoseconds() + Self.spinNanoseconds
        var isFound = false
        repeat {
            isFound = pending.load(ordering: .acquiring) > 0
        } while !isFound && SystemClock.monotonicNanoseconds() < end
        pthread_mutex_lock(mutex)
        crew.spinningCount -= 1
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
            crew.sleepingCount += 1
            let code = isShutDown ? ETIMEDOUT : pthread_cond_timedwait(condition, mutex, &time)
            crew.sleepingCount -= 1
            if code == ETIMEDOUT, jobs.isEmpty {
                crew.threadCount -= 1
                return false
            }
        }
        return true
    }

    /// The number of threads that there are.
    var currentThreadCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return crew.threadCount
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

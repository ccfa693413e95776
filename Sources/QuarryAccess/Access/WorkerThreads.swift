import QuarryCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A few threads of the library, for asynchronous accesses that may block on the disk or on another process's lock.
///
/// A thread is started when there is work and no thread is free; there is at most one more than there are connections,
/// beside those that sleep inside an access and those whose tasks may stay.
/// A thread without work looks for some for a few microseconds, since a wake-up costs more than that; then it sleeps,
/// and ends after a while. `WorkerCrew` and `SpinTime` decide. The thread that fell asleep last is woken first.
///
/// After its access a task goes back to its own executor, or stays: see `Staying`.
package final class WorkerThreads: TaskExecutor {
    private struct State {
        var jobs: Deque<Job> = []
        var crew: WorkerCrew
        /// The thread that fell asleep last.
        var lastSleeper: UnsafeMutablePointer<ThreadState>?
        /// The states of threads that have ended. They are kept, since another thread may be about to wake one.
        var spareStates: UnsafeMutablePointer<ThreadState>?
        var spinTime = SpinTime()
        var isShutDown = false

        /// A thread wakes because its time has passed, or the threads are to end.
        mutating func removeSleeper(_ thread: UnsafeMutablePointer<ThreadState>) {
            thread.pointee.isSleeping = false
            crew.sleepingCount -= 1
            guard let last = lastSleeper, last != thread else {
                lastSleeper = thread.pointee.next
                return
            }
            var before = last
            while let next = before.pointee.next, next != thread { before = next }
            before.pointee.next = thread.pointee.next
        }
    }

    /// A task's next step, and the executor that the task prefers: these threads, or a waiter that passes jobs to them.
    struct Job {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
        /// Whether the task may stay on its thread after its access.
        let mayStay: Bool
    }

    private let state: ConditionLock<State>

    /// Decides which reads run elsewhere. One for all databases that have these threads: each of a thousand databases
    /// of a directory would give some long reads a place among Swift's threads before it knew better.
    let admission = Lock(ReadAdmission(maximumInlineCount: CooperativePool.width / 2))

    /// The number of jobs that no thread has taken, for threads that spin.
    private let pending = Atomic<Int>(0)
    private static var idleNanoseconds: UInt64 { 10_000_000_000 }

    // Made by the first access that needs it: opening a database allocates nothing for it.
    private let madeStaying = AtomicLazyReference<StayingExecutor>()

    /// These threads, for an access.
    ///
    /// - parameter mayStay: whether its task may stay on its thread afterwards.
    func executor(mayStay: Bool) -> any TaskExecutor {
        guard mayStay else { return self }
        return madeStaying.load() ?? madeStaying.storeIfNil(StayingExecutor(self))
    }

    /// - parameter connectionCount: the number of accesses that can run at the same time.
    package init(connectionCount: Int) {
        // One more, for tasks that give up waiting while all connections are in use.
        state = ConditionLock(
            State(crew: WorkerCrew(maximumThreadCount: connectionCount + 1, maximumStayCount: CooperativePool.width)))
    }

    package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), on: asUnownedTaskExecutor()) }

    /// - parameter executor: the executor that the job's task prefers.
    /// - parameter mayStay: whether the task may stay on its thread after its access.
    package func enqueue(_ job: UnownedJob, on executor: UnownedTaskExecutor, mayStay: Bool = false) {
        let thread = current
        let job = Job(job: job, executor: executor, mayStay: mayStay)
        if let thread, thread.pointee.staying.pointee?.takesBack(job) ?? false { return }
        let isEndingJob = thread?.pointee.isEndingJob ?? false
        let help = state.withLock { state in
            state.jobs.append(job)
            let pendingCount = pending.wrappingAdd(1, ordering: .releasing).newValue
            let help = takeHelp(&state, pendingCount: pendingCount, isEndingJob: isEndingJob)
            if help.sleeper != nil { state.spinTime.threadIsWoken(now: SystemClock.monotonicNanoseconds()) }
            // Executors are unowned: another thread may run the job, and release this object, before `call` ends.
            if !help.isEmpty { _ = Unmanaged.passUnretained(self).retain() }
            return help
        }
        guard !help.isEmpty else { return }
        call(help)
        Unmanaged.passUnretained(self).release()
    }

    /// The threads that waiting jobs need.
    private struct Help {
        /// The condition of the sleeping thread.
        var sleeper: UnsafeMutablePointer<pthread_cond_t>?
        var mustStart = false

        var isEmpty: Bool { sleeper == nil && !mustStart }
    }

    /// Decides which threads waiting jobs need. The caller has the lock, and calls them without it.
    private func takeHelp(_ state: inout State, pendingCount: Int, isEndingJob: Bool) -> Help {
        let need = state.crew.need(pendingCount: pendingCount, isEndingJob: isEndingJob)
        guard need.mustWake, let sleeper = state.lastSleeper else { return Help(mustStart: need.mustStart) }
        state.lastSleeper = sleeper.pointee.next
        sleeper.pointee.isSleeping = false
        return Help(sleeper: sleeper.pointee.condition, mustStart: need.mustStart)
    }

    /// Wakes or starts a thread, without the lock: a woken thread takes it first of all.
    private func call(_ help: Help) {
        if let sleeper = help.sleeper { pthread_cond_signal(sleeper) }
        if help.mustStart { startThread() }
    }

    /// Wakes or starts a thread for a job that was left to a thread which won't take it soon.
    ///
    /// - parameter isBlocked: whether that thread will sleep.
    private func handOver(isBlocked: Bool) {
        let help = state.withLock { state in
            if isBlocked { state.crew.blockedCount += 1 }
            let pendingCount = pending.load(ordering: .relaxed)
            return pendingCount > 0 ? takeHelp(&state, pendingCount: pendingCount, isEndingJob: false) : Help()
        }
        call(help)
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
            // The system has no thread left: the running threads do the work. If all of those run tasks that may stay,
            // this thread does it.
            Unmanaged<WorkerThreads>.fromOpaque(context).release()
            let isForeign = current == nil
            let isAlone = state.withLock { state in
                state.crew.threadCount -= 1
                return isForeign && state.crew.threadCount <= state.crew.stayCount
            }
            if isAlone { while runNextJob(nil) {} }
        }
    }

    /// The state of one of these threads.
    private struct ThreadState {
        let workers: Unmanaged<WorkerThreads>
        /// Whether the thread has nothing else to do after its current work.
        var isEndingJob = false
        /// Whether the thread is on the stack of sleepers.
        var isSleeping = false
        /// The thread that fell asleep before this one, or the next spare state.
        var next: UnsafeMutablePointer<ThreadState>?
        /// The condition for which this thread alone waits. Apart from the fields, which this thread uses while another
        /// wakes it.
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        /// The run of a task that may stay; nil if the thread runs another job, or none. Apart, because it changes
        /// while `Staying.run` has it.
        let staying = UnsafeMutablePointer<Staying?>.allocate(capacity: 1)

        init(_ workers: WorkerThreads) {
            self.workers = .passUnretained(workers)
            condition.initialize(to: pthread_cond_t())
            initializeCondition(condition)
            staying.initialize(to: nil)
        }

        func deallocate() {
            pthread_cond_destroy(condition)
            condition.deallocate()
            staying.deinitialize(count: 1)
            staying.deallocate()
        }
    }

    /// A state for a new thread. One of a thread that has ended is used again.
    private func makeThreadState() -> UnsafeMutablePointer<ThreadState> {
        let spare = state.withLock { state in
            let spare = state.spareStates
            state.spareStates = spare?.pointee.next
            return spare
        }
        if let spare { return spare }
        let thread = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
        thread.initialize(to: ThreadState(self))
        return thread
    }

    deinit {
        // No thread runs any more, and none is about to be woken.
        var spare = state.contents.pointee.spareStates
        while let thread = spare {
            spare = thread.pointee.next
            thread.pointee.deallocate()
            thread.deallocate()
        }
    }

    /// The key of a thread's state.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static var currentState: UnsafeMutablePointer<ThreadState>? {
        pthread_getspecific(key)?.assumingMemoryBound(to: ThreadState.self)
    }

    /// Whether the current thread belongs to the library.
    static var isCurrentThread: Bool { currentState != nil }

    /// The state of the current thread, if it is one of these.
    private var current: UnsafeMutablePointer<ThreadState>? {
        guard let state = Self.currentState,
            state.pointee.workers.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
        else { return nil }
        return state
    }

    /// Runs the last work of a thread's job. The thread takes a job that this work queues, and wakes no other thread
    /// for it.
    ///
    /// Anywhere else, a thread that queues a job is inside an access, which may be long; and if its task may stay, the
    /// code of the program comes next, which may be long too.
    ///
    /// - parameter suspends: whether the task suspends before that code comes.
    static func endingJob(suspends: Bool, _ body: () -> Void) {
        guard let state = currentState, suspends || state.pointee.staying.pointee == nil else { return body() }
        state.pointee.isEndingJob = true
        defer { state.pointee.isEndingJob = false }
        body()
    }

    /// Says that the current thread, if it belongs to the library, won't take a job soon.
    static func willBeBusy() {
        currentState?.pointee.workers._withUnsafeGuaranteedRef { $0.handOver(isBlocked: false) }
    }

    /// Runs a body that makes the thread sleep. If the thread belongs to the library, another may replace it meanwhile.
    package static func blocking<T>(_ body: () throws -> T) rethrows -> T {
        guard let state = currentState else { return try body() }
        // One whose task may stay is replaced already.
        let isReplaced = state.pointee.staying.pointee != nil
        return try state.pointee.workers._withUnsafeGuaranteedRef { workers in
            workers.handOver(isBlocked: !isReplaced)
            defer { if !isReplaced { workers.state.withLock { $0.crew.blockedCount -= 1 } } }
            return try body()
        }
    }

    private func run() {
        let thread = makeThreadState()
        pthread_setspecific(Self.key, thread)
        defer {
            pthread_setspecific(Self.key, nil)
            state.withLock { state in
                thread.pointee.next = state.spareStates
                state.spareStates = thread
            }
        }
        while true {
            while runNextJob(thread) {}
            if spin() { continue }
            guard sleep(thread) else { return }
        }
    }

    /// Runs a job, if there is one.
    ///
    /// - parameter thread: nil if the thread isn't one of these.
    private func runNextJob(_ thread: UnsafeMutablePointer<ThreadState>?) -> Bool {
        var mayStay = false
        let job = state.withLock { state in
            let job = takeJob(&state)
            mayStay = job?.mayStay == true && thread != nil && state.crew.mayStay(pendingCount: state.jobs.count)
            return job
        }
        guard let job else { return false }
        if mayStay, let thread {
            Staying.run(job, thread.pointee.staying)
            state.withLock { $0.crew.stayCount -= 1 }
        } else {
            job.job.runSynchronously(on: job.executor)
        }
        return true
    }

    /// Lets the current task go back to its own executor if it has stayed on a thread of the library.
    static func leave() async {
        guard let staying = currentState?.pointee.staying, staying.pointee != nil else { return }
        await withUnsafeContinuation { staying.pointee?.leave($0) }
    }

    private func takeJob(_ state: inout State) -> Job? {
        guard let job = state.jobs.popFirst() else { return nil }
        pending.wrappingSubtract(1, ordering: .relaxed)
        return job
    }

    /// Looks for work for some microseconds.
    private func spin() -> Bool {
        let now = SystemClock.monotonicNanoseconds()
        let end = state.withLock { state -> UInt64? in
            // One thread that spins is enough. With one processor, it would keep others from making work.
            guard state.crew.spinningCount == 0, CooperativePool.width > 1 else { return nil }
            state.crew.spinningCount += 1
            return state.spinTime.spinWillBegin(now: now)
        }
        guard let end else { return false }
        SystemClock.spin(until: end) { pending.load(ordering: .acquiring) == 0 }
        return state.withLock { state in
            state.crew.spinningCount -= 1
            let hasFoundJob = pending.load(ordering: .relaxed) > 0
            state.spinTime.spinDidEnd(hasFoundJob: hasFoundJob)
            return hasFoundJob
        }
    }

    /// Sleeps until there is work.
    ///
    /// - returns: false if the thread has to end.
    private func sleep(_ thread: UnsafeMutablePointer<ThreadState>) -> Bool {
        let deadline = SystemClock.monotonicNanoseconds() + Self.idleNanoseconds
        let contents = state.contents
        state.lock()
        defer { state.unlock() }
        guard contents.pointee.jobs.isEmpty else { return true }
        thread.pointee.isSleeping = true
        thread.pointee.next = contents.pointee.lastSleeper
        contents.pointee.lastSleeper = thread
        contents.pointee.crew.sleepingCount += 1
        while thread.pointee.isSleeping, !contents.pointee.isShutDown,
            state.wait(for: thread.pointee.condition, until: deadline)
        {}
        guard thread.pointee.isSleeping else {
            contents.pointee.crew.wokenCount -= 1
            return true
        }
        contents.pointee.removeSleeper(thread)
        guard contents.pointee.jobs.isEmpty else { return true }
        contents.pointee.crew.threadCount -= 1
        return false
    }

    /// The current number of threads.
    package var currentThreadCount: Int { state.withLock { $0.crew.threadCount } }

    /// The number of threads that sleep.
    var sleepingThreadCount: Int { state.withLock { $0.crew.sleepingCount } }

    /// Runs `body`, which may block, on these threads for a task. If it throws, the threads are no longer needed.
    package func opening<T: Sendable>(_ body: @Sendable () throws -> T) async throws -> T {
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

    /// Lets the threads end once they have no work.
    package func shutDown() {
        state.withLock { state in
            state.isShutDown = true
            var sleeper = state.lastSleeper
            while let thread = sleeper {
                pthread_cond_signal(thread.pointee.condition)
                sleeper = thread.pointee.next
            }
        }
    }
}

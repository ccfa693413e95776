/// Counts the threads that work, look for work and sleep, as a value. Decides whether a job needs another thread.
struct WorkerCrew: Equatable {
    /// The maximum number of threads, without those that are blocked or whose tasks may stay.
    let maximumThreadCount: Int
    /// The maximum number of threads whose tasks may stay.
    let maximumStayCount: Int

    var threadCount = 0
    var sleepingCount = 0
    /// The number of threads that have been woken, and don't run yet.
    var wokenCount = 0
    var spinningCount = 0
    /// The number of threads that wait for a connection during a job. Each may be replaced.
    var blockedCount = 0
    /// The number of threads that run a task which may stay. Each may be replaced: the program's code may be long.
    var stayCount = 0

    struct Need: Equatable {
        var mustWake = false
        var mustStart = false
    }

    init(maximumThreadCount: Int, maximumStayCount: Int = 0) {
        self.maximumThreadCount = maximumThreadCount
        self.maximumStayCount = maximumStayCount
    }

    /// Whether the task of a job may stay on its thread. If it may, it counts until its job has ended.
    ///
    /// - parameter pendingCount: the number of jobs that no thread has taken: the thread had better take those.
    mutating func mayStay(pendingCount: Int) -> Bool {
        guard pendingCount == 0, stayCount < maximumStayCount else { return false }
        stayCount += 1
        return true
    }

    /// Whether waiting jobs need a thread woken or started. The thread counts as woken or started from now on.
    ///
    /// - parameter pendingCount: the number of jobs that no thread has taken.
    /// - parameter isEndingJob: whether the asking thread has queued one of these jobs, and has nothing else to do
    ///   afterwards.
    mutating func need(pendingCount: Int, isEndingJob: Bool) -> Need {
        // Spinning threads see a job themselves. A woken thread takes one job.
        let lookingCount = spinningCount + wokenCount + (isEndingJob ? 1 : 0)
        let mustWake = pendingCount > lookingCount && sleepingCount > 0
        let mustStart =
            pendingCount > lookingCount + sleepingCount
            && threadCount < maximumThreadCount + blockedCount + stayCount
        if mustWake {
            sleepingCount -= 1
            wokenCount += 1
        }
        if mustStart { threadCount += 1 }
        return Need(mustWake: mustWake, mustStart: mustStart)
    }
}

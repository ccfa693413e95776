/// How many threads work, look for work and sleep: decides who takes a job, as a value.
struct WorkerCrew: Equatable {
    /// How many threads there may be.
    let maximumThreadCount: Int

    var threadCount = 0
    var sleepingCount = 0
    var spinningCount = 0
    /// How many threads wait for a connection, in the midst of a job: each may be replaced.
    var blockedCount = 0

    init(maximumThreadCount: Int) { self.maximumThreadCount = maximumThreadCount }

    /// What is to be done for jobs that wait. A thread that must be started counts from then on.
    ///
    /// - parameter pendingCount: how many jobs no thread has taken.
    /// - parameter isEndingJob: whether the thread that asks is one of these, and has nothing else to do then.
    mutating func need(pendingCount: Int, isEndingJob: Bool) -> (mustWake: Bool, mustStart: Bool) {
        // Those that spin will see a job. One that has been woken counts as sleeping until it runs: it takes one job
        // only.
        let lookingCount = spinningCount + (isEndingJob ? 1 : 0)
        let mustWake = pendingCount > lookingCount && sleepingCount > 0
        let mustStart =
            pendingCount > lookingCount + sleepingCount && threadCount < maximumThreadCount + blockedCount
        if mustStart { threadCount += 1 }
        return (mustWake, mustStart)
    }
}

import QuarryCore

// Carrying out the decisions of the state machine, without its lock.

extension ConnectionGroup {
    /// - parameter endsJob: as in `release`.
    /// - parameter suspends: whether the task suspends before the code of the program comes.
    func perform(_ actions: [Machine.Action], endsJob: Bool, suspends: Bool = false) {
        if endsJob { WorkerThreads.endingJob(suspends: suspends) { perform(actions) } } else { perform(actions) }
    }

    func perform(_ actions: [Machine.Action]) {
        var hasRefused = false
        for action in actions {
            switch action {
            case .grant(let waiter, let grant): waiter.resolve(.granted(grant))
            case .wake(let waiter): waiter.resolve(.retry)
            case .refuse(let waiter, let refusal):
                waiter.resolve(.failed(error(refusal)))
                hasRefused = true
            case .drop: break  // `takeDropped` has done it.
            }
        }
        if hasRefused { gate?.accessGaveUp() }
    }
}

// The requests and answers of the machine.

extension LeaseStateMachine {
    /// The object of a request.
    enum Request: Equatable {
        case connection
        case barrier
    }

    /// The kind of the waiting thread or task.
    enum WaiterKind: Equatable {
        /// A thread, which sleeps. It may overtake, and be overtaken.
        case thread
        /// A task that will use the connection on Swift's threads. It may overtake, and be overtaken.
        case inlineTask
        /// A task that will use the connection on the library's threads, or a thread that has just let others have it.
        /// It does neither.
        case offloadedTask
    }

    /// Whether a request has all connections, and what happens to them.
    enum Barrier: Equatable {
        case none
        /// It waits for another group, and lends its connections meanwhile.
        case lending
        /// It lends nothing, and may close the connections.
        case keeping
    }

    /// Whether no access has a connection, or waits for one.
    var isUnused: Bool { leasedCount == 0 && waiterCount == 0 && !hasBarrier }

    /// The answer to a served request.
    enum Grant: Equatable {
        /// The connection in a slot.
        case connection(Int)
        /// A slot without a connection: the access opens one.
        case open(Int)
        /// All connections.
        case all
    }

    enum Refusal: Equatable {
        case closed
        /// Closing has begun, and lets the accesses end that were requested earlier.
        case closing
        /// Closing has waited for the access as long as it may.
        case gracePeriodEnded
        case tooManyWaiters(Int)
    }

    enum Answer: Equatable {
        case granted(Grant)
        case wait(id: Int)
        case refused(Refusal)
    }

    /// An action for the caller, once the lock is released.
    enum Action {
        case grant(Waiter, Grant)
        /// The waiter may ask again with `retry`.
        case wake(Waiter)
        case refuse(Waiter, Refusal)
        /// The connection of a slot has to be dropped.
        case drop(Int)
    }
}

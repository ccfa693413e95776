import QuarryCore

extension ConnectionGroup {
    /// The limits of waiting: for how long an access of the program may wait, and how many may wait.
    package struct Limits {
        /// In seconds.
        var acquireTimeout: Double?
        var maximumWaiters: Int?
        var clock = MonotonicClock.system
    }

    func error(_ refusal: Machine.Refusal) -> DatabaseError {
        switch refusal {
        case .closed:
            DatabaseError.connectionIsClosed(name)
        case .closing:
            DatabaseError.connectionIsClosing(name)
        case .gracePeriodEnded:
            DatabaseError.misuse("Connection is closing: its grace period ended while the access waited for \(name)")
        case .tooManyWaiters(let count):
            DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "too many accesses wait for \(name): at most \(count) may (Configuration.maximumWaiters)")
        }
    }

    /// The error of a waiter that gives up.
    ///
    /// - parameter deadline: the deadline of its access.
    func timeoutError(_ request: Machine.Request, _ deadline: AccessDeadline?, now: UInt64) -> DatabaseError {
        let isOfAccess = deadline.map { $0.end <= now } ?? false
        let length = isOfAccess ? deadline?.text ?? "" : "\(limits.acquireTimeout ?? 0) seconds"
        let reason =
            switch request {
            case .connection: "timeout while waiting for \(name): none was free within \(length)"
            case .barrier:
                "timeout while waiting for all accesses to end: \(name) was in use for more than \(length)"
            }
        let setting = isOfAccess ? "the timeout of the access" : "Configuration.acquireTimeout"
        return DatabaseError(resultCode: .SQLITE_BUSY, message: "\(reason) (\(setting))")
    }
}

extension DatabaseError {
    /// - parameter name: the connection in messages.
    static func connectionIsClosing(_ name: String) -> DatabaseError {
        DatabaseError.misuse("Connection is closing").with(circumstances: ": \(name)")
    }
}

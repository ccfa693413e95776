import QuarryCore

extension ConnectionGroup {
    /// The limits of waiting: for how long an access of the program may wait, and how many may wait.
    struct Limits {
        /// In seconds.
        var acquireTimeout: Double?
        var maximumWaiters: Int?
    }

    func error(_ refusal: Machine.Refusal) -> DatabaseError {
        switch refusal {
        case .closed:
            DatabaseError.connectionIsClosed()
        case .tooManyWaiters(let count):
            DatabaseError(
                resultCode: .SQLITE_BUSY,
                message: "too many accesses wait for \(name): at most \(count) may (Configuration.maximumWaiters)")
        }
    }

    func timeoutError(_ request: Machine.Request) -> DatabaseError {
        let seconds = limits.acquireTimeout ?? 0
        let reason =
            switch request {
            case .connection: "timeout while waiting for \(name): none was free within \(seconds) seconds"
            case .barrier:
                "timeout while waiting for all accesses to end: \(name) was in use for more than \(seconds) seconds"
            }
        return DatabaseError(resultCode: .SQLITE_BUSY, message: "\(reason) (Configuration.acquireTimeout)")
    }
}

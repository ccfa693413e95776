extension Database {
    /// Decides whether to try again: called with the number of tries so far.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// What happens when another connection holds a lock that is needed.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.busyMode = .timeout(5) // seconds
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/busy_handler.html>.
    public enum BusyMode: Sendable {
        /// `SQLITE_BUSY` is thrown at once.
        case immediateError

        /// Waits up to a number of seconds, then `SQLITE_BUSY` is thrown. Cancelling the task ends the wait.
        case timeout(_ seconds: Double)

        /// Tries again as long as the callback answers true.
        case callback(BusyCallback)
    }
}

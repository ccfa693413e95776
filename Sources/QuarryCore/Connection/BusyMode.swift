extension Database {
    /// Decides whether to try again. Receives the number of tries so far.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The reaction to a lock that another connection holds.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.busyMode = .timeout(5) // seconds
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/busy_handler.html>.
    public enum BusyMode: Sendable {
        /// Throws `SQLITE_BUSY` immediately.
        case immediateError

        /// Waits for a number of seconds, then throws `SQLITE_BUSY`. Cancelling the task ends the wait.
        case timeout(_ seconds: Double)

        /// Tries again as long as the callback returns true.
        case callback(BusyCallback)
    }
}

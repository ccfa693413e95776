extension Database {
    /// A function that receives the messages of SQLite's error log.
    public typealias LogErrorFunction = @Sendable (ResultCode, String) -> Void

    /// Called with each message of SQLite's error log, on the thread that had the error; nil for no log.
    ///
    /// ```swift
    /// Database.logError = { code, message in logger.warning("SQLite: \(code) \(message)") }
    /// ```
    ///
    /// The log belongs to the process. It works unless another library has initialized SQLite before Quarry's first
    /// connection. The function must not use a database. See <https://www.sqlite.org/errlog.html>.
    public static var logError: LogErrorFunction? {
        get { ErrorLog.function.withLock { $0 } }
        set { ErrorLog.function.withLock { $0 = newValue } }
    }
}

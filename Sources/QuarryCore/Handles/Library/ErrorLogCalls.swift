import CSQLite

/// Listens to SQLite's error log.
enum ErrorLogCalls {
    /// Sends SQLite's error log to a function. The corresponding C function is `sqlite3_config`.
    ///
    /// - parameter function: takes a context, which is nil, a result code, and a message.
    static func install(
        _ function: @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?) -> Void
    ) {
        _ = csqlite_config_log(function, nil)
    }
}

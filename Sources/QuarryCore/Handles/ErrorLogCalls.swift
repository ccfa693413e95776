import CSQLite

/// Listens to SQLite's error log.
enum ErrorLogCalls {
    /// Sends SQLite's error log to `ErrorLog`. The corresponding C function is `sqlite3_config`.
    static func install() {
        _ = csqlite_config_log(
            { _, code, message in
                guard let message else { return }
                ErrorLog.log(code, String(cString: message))
            }, nil)
    }
}

import CSQLite

/// Loads extensions into a connection.
enum ExtensionCalls {
    /// Loads a shared library. Only the C function is enabled, and only for this call: the SQL function
    /// `load_extension()` stays disabled. The corresponding C functions are `sqlite3_load_extension` and
    /// `sqlite3_db_config`.
    ///
    /// - returns: SQLite's code, and its message if there was an error.
    static func load(
        _ connection: SQLiteConnection, path: String, entryPoint: String?
    ) -> (code: CInt, message: String?) {
        let option = CInt(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION)
        let code = csqlite_db_config_bool(connection, option, 1, nil)
        guard code == SQLITE_OK else { return (code, nil) }
        defer { _ = csqlite_db_config_bool(connection, option, 0, nil) }
        var message: UnsafeMutablePointer<CChar>?
        defer { sqlite3_free(message) }
        return (sqlite3_load_extension(connection, path, entryPoint, &message), message.map { String(cString: $0) })
    }
}

extension Database {
    /// Loads an extension of SQLite from a shared library.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.allowsLoadingExtensions = true
    /// config.prepareDatabase { db in try db.loadExtension(path: "/usr/lib/sqlite3/pcre.so") }
    /// ```
    ///
    /// An extension is native code: load only code you trust. The SQL function `load_extension()` stays disabled. See
    /// <https://www.sqlite.org/loadext.html>.
    ///
    /// - parameter path: the shared library; the suffix may be omitted.
    /// - parameter entryPoint: the name of its C function; nil for the name that SQLite derives from the file's name.
    /// - throws: `SQLITE_MISUSE` unless `Configuration.allowsLoadingExtensions` is set; `DatabaseError` with the
    ///   linker's message if the library is missing or can't be loaded.
    public func loadExtension(path: String, entryPoint: String? = nil) throws {
        try operationWillStart(writes: false)
        guard options.allowsLoadingExtensions else {
            throw DatabaseError.misuse(
                "could not load the extension \(path): Configuration.allowsLoadingExtensions is off")
        }
        guard !path.utf8.contains(0), entryPoint?.utf8.contains(0) != true else {
            throw DatabaseError.misuse("the path or entry point of an extension has a NUL: \(String(reflecting: path))")
        }
        let (code, message) = ExtensionCalls.load(pointer, path: path, entryPoint: entryPoint)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: "could not load the extension \(path): \(message ?? SQLiteLibrary.errorString(code))")
        }
    }
}

public import QuarryCore

// What a database and a connection are set to. Each is read by a method, for one database of the connection, and set by
// another where it can be set: https://www.sqlite.org/pragma.html

extension Database {
    /// How a database can be rolled back: <https://www.sqlite.org/pragma.html#pragma_journal_mode>.
    public enum JournalMode: String, Sendable {
        /// By a file that is deleted after each transaction.
        case delete
        /// By a file that is cut to nothing after each transaction.
        case truncate
        /// By a file that is kept.
        case persist
        /// By what is kept in memory: a crash may corrupt the file.
        case memory
        /// By write-ahead logging.
        case wal
        /// Not at all.
        case off
    }

    /// What becomes of pages that aren't used any more: <https://www.sqlite.org/pragma.html#pragma_auto_vacuum>.
    public enum AutoVacuumMode: Int, Sendable {
        /// They are kept until VACUUM.
        case none = 0
        /// They are given back at each commit.
        case full = 1
        /// They are given back by `incrementalVacuum`.
        case incremental = 2
    }

    // MARK: - The file

    /// The size of a page, in bytes.
    ///
    /// ```swift
    /// let bytes = try db.pageSize() * db.pageCount()
    /// ```
    /// ```sql
    /// PRAGMA "main".page_size
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func pageSize(of schemaName: String = "main") throws -> Int { try setting("page_size", schemaName) }

    /// The number of pages of the file.
    ///
    /// ```sql
    /// PRAGMA "main".page_count
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func pageCount(of schemaName: String = "main") throws -> Int { try setting("page_count", schemaName) }

    /// The number of pages that aren't used.
    ///
    /// ```sql
    /// PRAGMA "main".freelist_count
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func freePageCount(of schemaName: String = "main") throws -> Int {
        try setting("freelist_count", schemaName)
    }

    /// How the database can be rolled back.
    ///
    /// ```swift
    /// if try db.journalMode() == .wal { try db.checkpoint() }
    /// ```
    /// ```sql
    /// PRAGMA "main".journal_mode
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func journalMode(of schemaName: String = "main") throws -> JournalMode {
        let mode: String = try setting("journal_mode", schemaName)
        return try known(JournalMode(rawValue: mode.lowercased()), "journal mode", mode)
    }

    /// Changes how the database can be rolled back.
    ///
    /// ```sql
    /// PRAGMA "main".journal_mode = WAL
    /// ```
    ///
    /// A pool stays in WAL mode.
    ///
    /// - parameter mode: the journal.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError` if the database can't have that mode, for example WAL in memory; inside a transaction;
    ///   `SQLITE_BUSY` while others use the file; `SQLITE_READONLY` where nothing can be written.
    public func setJournalMode(_ mode: JournalMode, of schemaName: String = "main") throws {
        try checkCanWrite("journal_mode", schemaName)
        let applied: String? = try set("journal_mode", schemaName, mode.rawValue.uppercased())
        guard let applied, applied != mode.rawValue else { return }
        throw DatabaseError(message: "database \(schemaName) stays in journal mode \(applied)")
    }

    /// What becomes of pages that aren't used any more.
    ///
    /// ```sql
    /// PRAGMA "main".auto_vacuum
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func autoVacuumMode(of schemaName: String = "main") throws -> AutoVacuumMode {
        let mode: Int = try setting("auto_vacuum", schemaName)
        return try known(AutoVacuumMode(rawValue: mode), "auto-vacuum mode", mode)
    }

    /// Changes what becomes of pages that aren't used any more.
    ///
    /// ```swift
    /// try db.setAutoVacuumMode(.incremental)
    /// try db.execute(sql: "VACUUM")
    /// ```
    /// ```sql
    /// PRAGMA "main".auto_vacuum = 2
    /// ```
    ///
    /// A database that has tables changes from and to `none` with the next VACUUM by this connection.
    ///
    /// - parameter mode: what becomes of the pages.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` where nothing can be written.
    public func setAutoVacuumMode(_ mode: AutoVacuumMode, of schemaName: String = "main") throws {
        try checkCanWrite("auto_vacuum", schemaName)
        let _: Int? = try set("auto_vacuum", schemaName, "\(mode.rawValue)")
    }

    /// A number for the application's use, often that of its schema. 0 at first.
    ///
    /// ```sql
    /// PRAGMA "main".user_version
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func userVersion(of schemaName: String = "main") throws -> Int32 { try setting("user_version", schemaName) }

    /// Changes the number for the application's use, in the current transaction.
    ///
    /// ```sql
    /// PRAGMA "main".user_version = 5
    /// ```
    ///
    /// - parameter version: the number.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` where nothing can be written.
    public func setUserVersion(_ version: Int32, of schemaName: String = "main") throws {
        let _: Int? = try set("user_version", schemaName, "\(version)")
    }

    /// A number that tells what kind of file it is. 0 at first.
    ///
    /// ```sql
    /// PRAGMA "main".application_id
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func applicationID(of schemaName: String = "main") throws -> Int32 {
        try setting("application_id", schemaName)
    }

    /// Changes the number that tells what kind of file it is, in the current transaction.
    ///
    /// ```sql
    /// PRAGMA "main".application_id = 252006673
    /// ```
    ///
    /// - parameter id: the number.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` where nothing can be written.
    public func setApplicationID(_ id: Int32, of schemaName: String = "main") throws {
        let _: Int? = try set("application_id", schemaName, "\(id)")
    }

    // MARK: - The connection

    /// How often SQLite waits for the disk.
    ///
    /// ```sql
    /// PRAGMA "main".synchronous
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func synchronousMode(of schemaName: String = "main") throws -> Configuration.SynchronousMode {
        let modes: [Configuration.SynchronousMode] = [.off, .normal, .full, .extra]
        let mode: Int = try setting("synchronous", schemaName)
        return try known(modes.indices.contains(mode) ? modes[mode] : nil, "synchronous mode", mode)
    }

    /// Changes how often SQLite waits for the disk, for this connection. `Configuration.synchronous` is for all.
    ///
    /// ```sql
    /// PRAGMA "main".synchronous = FULL
    /// ```
    ///
    /// - parameter mode: how often.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError` inside a transaction: "Safety level may not be changed inside a transaction".
    public func setSynchronousMode(
        _ mode: Configuration.SynchronousMode, of schemaName: String = "main"
    ) throws {
        let _: Int? = try set("synchronous", schemaName, mode.rawValue)
    }

    /// Bytes of pages that this connection keeps in memory.
    ///
    /// ```sql
    /// PRAGMA "main".cache_size
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func cacheSize(of schemaName: String = "main") throws -> Int {
        // A negative number counts kibibytes, a positive one pages.
        let size: Int = try setting("cache_size", schemaName)
        return size < 0 ? -size * 1024 : try size * pageSize(of: schemaName)
    }

    /// Changes how many bytes of pages this connection keeps in memory. `Configuration.cacheSize` is for all.
    ///
    /// ```sql
    /// PRAGMA "main".cache_size = -2000
    /// ```
    ///
    /// - parameter size: the number of bytes, of which SQLite takes whole kibibytes.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_MISUSE` for a number below zero, or above what SQLite takes.
    public func setCacheSize(_ size: Int, of schemaName: String = "main") throws {
        guard 0...(1024 * Int(Int32.max)) ~= size else { throw misuse("a cache of \(size) bytes") }
        let _: Int? = try set("cache_size", schemaName, "-\(max(1, size / 1024))")
    }

    /// Bytes of the file that are mapped into memory at most; 0 for a database that has no file.
    ///
    /// ```sql
    /// PRAGMA "main".mmap_size
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    public func mmapSize(of schemaName: String = "main") throws -> Int {
        try Int.fetchOne(makeStatement(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).mmap_size")) ?? 0
    }

    /// Changes how many bytes of the file are mapped into memory, for this connection. `Configuration.mmapSize` is for
    /// all.
    ///
    /// ```sql
    /// PRAGMA "main".mmap_size = 268435456
    /// ```
    ///
    /// SQLite may take a smaller number: that of `mmapSize(of:)`.
    ///
    /// - parameter size: the number of bytes; 0 for none.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_MISUSE` for a number below zero.
    public func setMmapSize(_ size: Int, of schemaName: String = "main") throws {
        guard size >= 0 else { throw misuse("a memory map of \(size) bytes") }
        let _: Int? = try set("mmap_size", schemaName, "\(size)")
    }

    // MARK: - Statements

    private func setting<T: DatabaseValueConvertible>(_ name: String, _ schemaName: String) throws -> T {
        let statement = try makeStatement(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).\(name)")
        guard let value = try T.fetchOne(statement) else {
            throw DatabaseError(message: "database \(schemaName) has no \(name)")
        }
        return value
    }

    private func set<T: DatabaseValueConvertible>(
        _ name: String, _ schemaName: String, _ value: String
    ) throws -> T? {
        try T.fetchOne(makeStatement(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).\(name) = \(value)"))
    }

    /// SQLite accepts some settings that it can't apply.
    private func checkCanWrite(_ name: String, _ schemaName: String) throws {
        try checkAccess()
        guard isReadOnly else { return }
        throw DatabaseError(
            resultCode: .SQLITE_READONLY,
            message: "attempt to write a readonly database: \(name) of \(schemaName)")
    }

    private func known<T>(_ mode: T?, _ kind: String, _ value: some Any) throws -> T {
        guard let mode else { throw DatabaseError(message: "unknown \(kind): \(value)") }
        return mode
    }

    private func misuse(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message)
    }
}

public import QuarryCore

// Settings of databases and connections. A method reads each setting for one database of the connection, and another
// one sets it if possible: https://www.sqlite.org/pragma.html

extension Database {
    /// The kind of rollback journal: <https://www.sqlite.org/pragma.html#pragma_journal_mode>.
    public enum JournalMode: String, Sendable {
        /// A file that is deleted after each transaction.
        case delete
        /// A file that is truncated after each transaction.
        case truncate
        /// A file that is kept.
        case persist
        /// A journal in memory: a crash may corrupt the file.
        case memory
        /// Write-ahead logging.
        case wal
        /// No journal, and no rollback.
        case off
    }

    /// The treatment of unused pages: <https://www.sqlite.org/pragma.html#pragma_auto_vacuum>.
    public enum AutoVacuumMode: Int, Sendable {
        /// Unused pages stay in the file until VACUUM.
        case none = 0
        /// Each commit removes unused pages from the file.
        case full = 1
        /// `incrementalVacuum` removes unused pages from the file.
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
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func pageCount(of schemaName: String = "main") throws -> Int { try setting("page_count", schemaName) }

    /// The number of unused pages.
    ///
    /// ```sql
    /// PRAGMA "main".freelist_count
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func freePageCount(of schemaName: String = "main") throws -> Int {
        try setting("freelist_count", schemaName)
    }

    /// The journal mode of a database.
    ///
    /// ```swift
    /// if try db.journalMode() == .wal { try db.checkpoint() }
    /// ```
    /// ```sql
    /// PRAGMA "main".journal_mode
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func journalMode(of schemaName: String = "main") throws -> JournalMode {
        let mode: String = try setting("journal_mode", schemaName)
        return try known(JournalMode(rawValue: mode.lowercased()), "journal mode", mode)
    }

    /// Changes the journal mode of a database.
    ///
    /// ```sql
    /// PRAGMA "main".journal_mode = WAL
    /// ```
    ///
    /// A pool stays in WAL mode.
    ///
    /// - parameter mode: the journal mode.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError` if the database can't have that mode, for example WAL in memory; inside a transaction;
    ///   `SQLITE_BUSY` while other connections use the file; `SQLITE_READONLY` on a connection that can't write.
    public func setJournalMode(_ mode: JournalMode, of schemaName: String = "main") throws {
        try checkCanWrite("journal_mode", schemaName)
        let applied: String? = try set("journal_mode", schemaName, mode.rawValue.uppercased())
        guard let applied, applied != mode.rawValue else { return }
        throw DatabaseError(message: "database \(schemaName) stays in journal mode \(applied)")
    }

    /// The treatment of unused pages.
    ///
    /// ```sql
    /// PRAGMA "main".auto_vacuum
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func autoVacuumMode(of schemaName: String = "main") throws -> AutoVacuumMode {
        let mode: Int = try setting("auto_vacuum", schemaName)
        return try known(AutoVacuumMode(rawValue: mode), "auto-vacuum mode", mode)
    }

    /// Changes the treatment of unused pages.
    ///
    /// ```swift
    /// try db.setAutoVacuumMode(.incremental)
    /// try db.execute(sql: "VACUUM")
    /// ```
    /// ```sql
    /// PRAGMA "main".auto_vacuum = 2
    /// ```
    ///
    /// If the database has tables, a change to or from `none` takes effect with the next VACUUM by this connection.
    ///
    /// - parameter mode: the treatment of unused pages.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` on a connection that can't write.
    public func setAutoVacuumMode(_ mode: AutoVacuumMode, of schemaName: String = "main") throws {
        try checkCanWrite("auto_vacuum", schemaName)
        let _: Int? = try set("auto_vacuum", schemaName, "\(mode.rawValue)")
    }

    /// A number for the application's use, often the version of its schema; initially 0.
    ///
    /// ```sql
    /// PRAGMA "main".user_version
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func userVersion(of schemaName: String = "main") throws -> Int32 { try setting("user_version", schemaName) }

    /// Changes the number for the application's use, in the current transaction.
    ///
    /// ```sql
    /// PRAGMA "main".user_version = 5
    /// ```
    ///
    /// - parameter version: the number.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` on a connection that can't write.
    public func setUserVersion(_ version: Int32, of schemaName: String = "main") throws {
        let _: Int? = try set("user_version", schemaName, "\(version)")
    }

    /// A number that identifies the kind of the file; initially 0.
    ///
    /// ```sql
    /// PRAGMA "main".application_id
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func applicationID(of schemaName: String = "main") throws -> Int32 {
        try setting("application_id", schemaName)
    }

    /// Changes the number that identifies the kind of the file, in the current transaction.
    ///
    /// ```sql
    /// PRAGMA "main".application_id = 252006673
    /// ```
    ///
    /// - parameter id: the number.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_READONLY` on a connection that can't write.
    public func setApplicationID(_ id: Int32, of schemaName: String = "main") throws {
        let _: Int? = try set("application_id", schemaName, "\(id)")
    }

    // MARK: - The connection

    /// The synchronous mode: how often SQLite waits for the disk.
    ///
    /// ```sql
    /// PRAGMA "main".synchronous
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func synchronousMode(of schemaName: String = "main") throws -> Configuration.SynchronousMode {
        let modes: [Configuration.SynchronousMode] = [.off, .normal, .full, .extra]
        let mode: Int = try setting("synchronous", schemaName)
        return try known(modes.indices.contains(mode) ? modes[mode] : nil, "synchronous mode", mode)
    }

    /// Changes the synchronous mode of this connection. `Configuration.synchronous` sets it for all connections.
    ///
    /// ```sql
    /// PRAGMA "main".synchronous = FULL
    /// ```
    ///
    /// - parameter mode: the synchronous mode.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError` inside a transaction: "Safety level may not be changed inside a transaction".
    public func setSynchronousMode(
        _ mode: Configuration.SynchronousMode, of schemaName: String = "main"
    ) throws {
        let _: Int? = try set("synchronous", schemaName, mode.rawValue)
    }

    /// The size of this connection's page cache, in bytes.
    ///
    /// ```sql
    /// PRAGMA "main".cache_size
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func cacheSize(of schemaName: String = "main") throws -> Int {
        // A negative number is in kibibytes, a positive one in pages.
        let size: Int = try setting("cache_size", schemaName)
        return size < 0 ? -size * 1024 : try size * pageSize(of: schemaName)
    }

    /// Changes the size of this connection's page cache. `Configuration.cacheSize` sets it for all connections.
    ///
    /// ```sql
    /// PRAGMA "main".cache_size = -2000
    /// ```
    ///
    /// - parameter size: the number of bytes, which SQLite rounds down to whole kibibytes.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_MISUSE` for a negative number, or one above SQLite's limit.
    public func setCacheSize(_ size: Int, of schemaName: String = "main") throws {
        guard 0...(1024 * Int(Int32.max)) ~= size else {
            throw DatabaseError.misuse("a cache can't have \(size) bytes")
        }
        let _: Int? = try set("cache_size", schemaName, "-\(max(1, size / 1024))")
    }

    /// The maximum number of bytes of the file that are mapped into memory; 0 for a database without a file.
    ///
    /// ```sql
    /// PRAGMA "main".mmap_size
    /// ```
    ///
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `DatabaseError`: `unknown database "archive"`.
    public func mmapSize(of schemaName: String = "main") throws -> Int {
        try Int.fetchOne(makeStatement(sql: "PRAGMA \(schemaName.quotedDatabaseIdentifier).mmap_size")) ?? 0
    }

    /// Changes the number of bytes of the file that this connection maps into memory. `Configuration.mmapSize` sets it
    /// for all connections.
    ///
    /// ```sql
    /// PRAGMA "main".mmap_size = 268435456
    /// ```
    ///
    /// SQLite may use a smaller number, which `mmapSize(of:)` returns.
    ///
    /// - parameter size: the number of bytes; 0 for none.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database.
    /// - throws: `SQLITE_MISUSE` for a negative number.
    public func setMmapSize(_ size: Int, of schemaName: String = "main") throws {
        guard size >= 0 else { throw DatabaseError.misuse("a memory map can't have \(size) bytes") }
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

    /// Throws on a connection that can't write: SQLite accepts some settings that it can't apply.
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
}

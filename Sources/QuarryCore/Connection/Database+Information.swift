extension Database {
    // Outside an access these are 0 or empty, because another thread may use or close the connection.

    /// The rowid of the last inserted row: <https://www.sqlite.org/c3ref/last_insert_rowid.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    /// let id = db.lastInsertedRowID
    /// ```
    public var lastInsertedRowID: Int64 { lifetime.isOwned ? ConnectionCalls.lastInsertedRowID(pointer) : 0 }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed: <https://www.sqlite.org/c3ref/changes.html>.
    ///
    /// ```swift
    /// try db.execute(sql: "DELETE FROM player WHERE score = 0")
    /// print("\(db.changesCount) players are gone")
    /// ```
    public var changesCount: Int { lifetime.isOwned ? currentChanges : 0 }

    /// The number of rows changed since the connection was opened: <https://www.sqlite.org/c3ref/total_changes.html>.
    public var totalChangesCount: Int { lifetime.isOwned ? currentTotalChanges : 0 }

    /// `changesCount`, for the thread that has the connection.
    var currentChanges: Int { route?.changes.last ?? ConnectionCalls.changes(pointer) }

    /// `totalChangesCount`, for the thread that has the connection.
    var currentTotalChanges: Int { route?.changes.total ?? ConnectionCalls.totalChanges(pointer) }

    /// The code of the last error: <https://www.sqlite.org/c3ref/errcode.html>.
    public var lastErrorCode: ResultCode { lifetime.isOwned ? ConnectionCalls.errorCode(pointer) : .SQLITE_MISUSE }

    /// The message of the last error.
    public var lastErrorMessage: String? { lifetime.isOwned ? ConnectionCalls.errorMessage(pointer) : nil }

    /// SQLite's version as a number: 3040001 for 3.40.1.
    public static var sqliteLibVersionNumber: CInt { SQLiteLibrary.versionNumber }

    /// The maximum number of arguments of a statement: <https://www.sqlite.org/limits.html#max_variable_number>.
    public var maximumStatementArgumentCount: Int { limit(.variableNumber) }

    /// The number that SQLite changes with each change of the schema.
    ///
    /// ```swift
    /// let version = try db.schemaVersion()
    /// ```
    /// ```sql
    /// PRAGMA schema_version
    /// ```
    ///
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func schemaVersion() throws -> Int32 {
        let statement = try controlStatement(.schemaVersion)
        return try Int32.fetchOne(statement) ?? 0
    }
}

extension Database: SQLContext {}

extension SQL {
    /// The text, and the arguments of its parameters.
    ///
    /// - throws: `DatabaseError` if a part can't be written for this connection.
    public func build(_ db: Database) throws -> (sql: String, arguments: StatementArguments) {
        try build(in: db)
    }
}

extension Database {
    /// The name of a collation.
    public typealias CollationName = SQLCollationName
}

extension Database {
    /// The counts of the connection. May be read from any thread.
    package var counts: ConnectionCounts { lifetime.counters.counts }

    /// Lets the end of the current access, or of the next one, read SQLite's numbers. May be called from any thread.
    package func askForStatus() { lifetime.counters.askForStatus() }

    /// Reads the numbers of the page cache. The caller prevents every access to the connection.
    package func readCacheStatus() {
        if !lifetime.isClosed { lifetime.counters.readCacheStatus(of: pointer) }
    }
}

extension Database {
    /// The object of a class that a layer above keeps with the connection, or nil. The caller has the connection.
    ///
    /// ```swift
    /// let reader = db.attachment(SchemaReader.self)
    /// ```
    package func attachment<Object: ConnectionAttachment>(_ type: Object.Type) -> Object? { attachments.object(type) }

    /// Keeps an object with the connection, in place of another of its class. The caller has the connection.
    package func attach(_ object: some ConnectionAttachment) { attachments.set(object) }
}

extension Database {
    /// A limit of a connection: <https://www.sqlite.org/c3ref/c_limit_attached.html>.
    public struct Limit: RawRepresentable, Hashable, Sendable {
        /// The number SQLite uses for this limit.
        public let rawValue: CInt

        /// The limit with that number.
        public init(rawValue: CInt) { self.rawValue = rawValue }

        /// Bytes of a string, blob or row (`SQLITE_LIMIT_LENGTH`).
        public static let length = Limit(rawValue: 0)
        /// Bytes of a statement's SQL (`SQLITE_LIMIT_SQL_LENGTH`).
        public static let sqlLength = Limit(rawValue: 1)
        /// Columns of a table, index, result or SET clause (`SQLITE_LIMIT_COLUMN`).
        public static let column = Limit(rawValue: 2)
        /// The depth of an expression (`SQLITE_LIMIT_EXPR_DEPTH`).
        public static let expressionDepth = Limit(rawValue: 3)
        /// Terms of a compound SELECT (`SQLITE_LIMIT_COMPOUND_SELECT`).
        public static let compoundSelect = Limit(rawValue: 4)
        /// Instructions of a prepared statement (`SQLITE_LIMIT_VDBE_OP`).
        public static let virtualMachineInstructions = Limit(rawValue: 5)
        /// Arguments of a function (`SQLITE_LIMIT_FUNCTION_ARG`).
        public static let functionArgument = Limit(rawValue: 6)
        /// Attached databases (`SQLITE_LIMIT_ATTACHED`).
        public static let attached = Limit(rawValue: 7)
        /// Bytes of a LIKE or GLOB pattern (`SQLITE_LIMIT_LIKE_PATTERN_LENGTH`).
        public static let likePatternLength = Limit(rawValue: 8)
        /// The highest number of a parameter (`SQLITE_LIMIT_VARIABLE_NUMBER`).
        public static let variableNumber = Limit(rawValue: 9)
        /// The depth of recursion of triggers (`SQLITE_LIMIT_TRIGGER_DEPTH`).
        public static let triggerDepth = Limit(rawValue: 10)
        /// Auxiliary threads of a statement (`SQLITE_LIMIT_WORKER_THREADS`).
        public static let workerThreads = Limit(rawValue: 11)
    }

    /// The current value of a limit. The corresponding C function is `sqlite3_limit`.
    ///
    /// ```swift
    /// db.limit(.variableNumber) // 250000 on Debian
    /// ```
    public func limit(_ limit: Limit) -> Int {
        lifetime.isOwned ? Int(ConnectionCalls.limit(pointer, limit.rawValue, -1)) : 0
    }

    /// Lowers or raises a limit, up to the maximum of the SQLite build.
    ///
    /// ```swift
    /// config.prepareDatabase { db in try db.setLimit(.sqlLength, to: 100_000) }
    /// ```
    ///
    /// - returns: the previous value.
    /// - throws: `SQLITE_MISUSE` outside an access, for a negative value, or for a limit that SQLite doesn't have.
    @discardableResult
    public func setLimit(_ limit: Limit, to value: Int) throws -> Int {
        try checkAccess()
        guard let value = CInt(exactly: value), value >= 0 else {
            throw DatabaseError.misuse("a limit is a number from 0 to \(CInt.max), not \(value)")
        }
        let old = ConnectionCalls.limit(pointer, limit.rawValue, value)
        guard old >= 0 else { throw DatabaseError.misuse("SQLite has no limit with the number \(limit.rawValue)") }
        return Int(old)
    }
}

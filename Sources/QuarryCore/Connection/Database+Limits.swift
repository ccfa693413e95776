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

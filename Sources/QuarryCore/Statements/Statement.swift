/// A prepared statement.
///
/// ```swift
/// try dbQueue.write { db in
///     let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
///     for name in names {
///         try statement.execute(arguments: [name])
///     }
/// }
/// ```
///
/// A statement runs only inside an access to its database; elsewhere it throws `SQLITE_MISUSE`. It doesn't keep its
/// `Database` alive. Two cursors can't run on one statement at the same time: a new execution ends the previous one,
/// whose cursor then throws.
///
/// See <https://www.sqlite.org/c3ref/stmt.html>.
public final class Statement {
    @usableFromInline
    let handle: StatementHandle

    /// SQLite's statement.
    @inlinable
    public var sqliteStatement: SQLiteStatement { handle.pointer }

    /// The SQL, without surrounding white space and semicolons.
    public let sql: String

    package let kind: StatementKind

    /// Whether running the statement can't change the database. The corresponding C function is
    /// `sqlite3_stmt_readonly`.
    public let isReadonly: Bool

    /// The connection, which stays open at least as long as its statements.
    @usableFromInline
    let lifetime: ConnectionLifetime

    let parameterCount: Int

    /// The names of the parameters without their prefix; nil for `?`.
    private(set) lazy var parameterNames: [String?] = (0..<parameterCount).map {
        handle.parameterName($0 + 1)
    }

    /// Whether the statement runs, and the number of the execution.
    @usableFromInline
    @exclusivity(unchecked)
    var activity = StatementActivity()

    /// Whether an execution has begun and not ended.
    package var isExecuting: Bool {
        // A function, because other modules check each read of a field for overlapping accesses.
        @inline(never) get { activity.isExecuting }
    }

    /// The arguments of the next executions, and whether SQLite has them.
    @exclusivity(unchecked)
    var bound: BoundArguments

    @exclusivity(unchecked)
    var currentLayout: RowLayout?

    @exclusivity(unchecked)
    var repreparationCount: CInt = 0

    /// The columns, as the last adapter presents them.
    @exclusivity(unchecked)
    var lastAdaptation: Adaptation?

    /// The error of a value that was read and that SQLite had no memory to convert, until it is thrown.
    @usableFromInline
    @exclusivity(unchecked)
    var lostValue: LostValue?

    /// The row that reads the columns of an execution. It is kept for the next execution.
    @exclusivity(unchecked)
    var row: Row?

    /// The execution's row, as an adapter presents it.
    @exclusivity(unchecked)
    var adaptedRow: Row?

    /// Whether `row` belongs to the current execution.
    @exclusivity(unchecked)
    var isRowAttached = false

    /// The running statement whose execution began before this one's.
    @exclusivity(unchecked)
    var olderActive: Statement?

    /// The value of `Database.schemaStamp` when the columns were last known to match the schema.
    @exclusivity(unchecked)
    var schemaStamp: Int

    /// The columns that the statement will have when it runs again; nil if they are the prepared ones.
    @exclusivity(unchecked)
    var comingLayout: (layout: RowLayout, repreparationCount: CInt)?

    /// - parameter isReadonly: whether it can't change the database; nil if SQLite knows.
    init(
        _ handle: consuming StatementHandle, sql: Substring, lifetime: ConnectionLifetime, schemaStamp: Int,
        isReadonly: Bool? = nil
    ) {
        self.isReadonly = isReadonly ?? handle.isReadOnly
        parameterCount = handle.parameterCount
        self.handle = handle
        self.schemaStamp = schemaStamp
        let text = sql.utf8.skippingSpaceAndComments.droppingTrailingSpace
        self.sql = String(Substring(text))
        kind = StatementKind(sql: text)
        self.lifetime = lifetime
        bound = BoundArguments(parameterCount: parameterCount)
    }

    /// The tables that the statement reads and changes, once they were asked for, and, at that time, the value of
    /// `Database.schemaStamp` and the number of times that SQLite had prepared the statement again.
    @exclusivity(unchecked)
    var accesses: (value: StatementAccesses, stamp: Int, repreparations: CInt)?

    /// The tables that SQLite has reported at the preparation, and the value of `Database.schemaStamp` then.
    @exclusivity(unchecked)
    var accessReport: (report: AccessRecorder.Report, stamp: Int)?

    /// The value of `HookSlots.expiryCount` when the statement was prepared without the preupdate hook; -1 if it was
    /// prepared with the hook.
    @exclusivity(unchecked)
    var expiryAtPreparation = 0

    /// The object that a layer above keeps with the statement's rows.
    @usableFromInline
    @exclusivity(unchecked)
    var attachment: AnyObject?

    deinit {
        bound.integers.deallocate()
    }

    // MARK: - Execution

    /// Runs the statement to the end, and ignores its rows.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
    /// try statement.execute(arguments: [1000, 1])
    /// ```
    ///
    /// - parameter arguments: the arguments; nil to use those set before.
    /// - throws: `DatabaseError`; `CancellationError` in a cancelled task.
    public func execute(arguments: StatementArguments? = nil) throws {
        if let arguments {
            if arguments.isPositional, arguments.values.count == parameterCount {
                // The usual case: the arguments are the values already, and are bound in place.
                bound.give(arguments)
                return try bindAndRun(arguments.values, startExecution(.call))
            }
            try setArguments(arguments)
        }
        let database = try startExecution(.call)
        if bound.isBound { return try run(database) }
        try bindAndRun(valuesOrStop(database), database)
    }

    /// Runs a statement without parameters on its own connection.
    func execute(in database: Database) throws {
        guard lifetime.isOwned else { return try execute() }
        try startExecution(in: database, .call)
        try run(database)
    }

    @inline(__always)
    private func bindAndRun(_ values: [DatabaseValue], _ database: Database) throws {
        try BindingArena.withArena(for: values) { arena in
            for index in values.indices {
                let code = arena.bind(values[index], to: sqliteStatement, at: CInt(index + 1))
                if code != 0 {
                    stopExecution(database)
                    throw bindingError(code, values[index], index)
                }
            }
            // Values that SQLite only borrows must not stay bound. A function that the statement calls may set other
            // arguments, so nothing is noted after the run.
            if !arena.lends { bound.didBind() }
            defer { if arena.lends { handle.clearBindings() } }
            try run(database)
        }
    }

    private func valuesOrStop(_ database: Database) throws(DatabaseError) -> [DatabaseValue] {
        do {
            return try checkedValues()
        } catch {
            stopExecution(database)
            throw error
        }
    }
}

extension Statement: CustomStringConvertible {
    /// The SQL.
    public var description: String { sql }
}

@available(*, unavailable)
extension Statement: Sendable {}

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
/// `Database` alive. Several cursors can't run on one statement at once: a new execution ends the one before, whose
/// cursor then throws.
///
/// See <https://www.sqlite.org/c3ref/stmt.html>.
public final class Statement {
    /// SQLite's statement.
    public let sqliteStatement: SQLiteStatement

    /// The SQL, without white space and semicolons around it.
    public let sql: String

    package let kind: StatementKind

    /// Whether running it can't change the database. The corresponding C function is `sqlite3_stmt_readonly`.
    public let isReadonly: Bool

    /// The connection, which stays open at least as long as its statements.
    @usableFromInline
    let lifetime: ConnectionLifetime

    let parameterCount: Int

    /// The names of the parameters without their prefix, nil for `?`.
    private(set) lazy var parameterNames: [String?] = (0..<parameterCount).map {
        StatementCalls.parameterName(sqliteStatement, $0 + 1)
    }

    /// Counts executions: a cursor of an earlier one finds that it is over.
    @usableFromInline
    @exclusivity(unchecked)
    var executionID = 0

    @exclusivity(unchecked)
    private var isUnderWay = false

    /// Whether an execution has begun that isn't over.
    package var isExecuting: Bool {
        // Called: other modules look for overlapping accesses to a field they read, each time.
        @inline(never) get { isUnderWay }
    }

    @exclusivity(unchecked)
    private var isTracked = false

    /// Whether SQLite is in a step of the statement: a function in Swift that it calls must not touch it.
    @usableFromInline
    @exclusivity(unchecked)
    var isStepping = false

    /// Whether `boundValues` are bound in SQLite.
    @exclusivity(unchecked)
    var isBound = false

    @exclusivity(unchecked)
    private var argumentsStorage = StatementArguments()

    /// The arguments, where the last ones were integers alone: then `argumentsStorage` is out of date.
    @exclusivity(unchecked)
    var integerArguments = IntegerArguments()

    /// Whether the last arguments were integers alone.
    private var hasIntegerArguments: Bool { integerArguments.kind != .none }

    /// A value for each parameter; nil until the arguments are known to fit.
    @exclusivity(unchecked)
    var boundValues: [DatabaseValue]?

    @exclusivity(unchecked)
    var currentLayout: RowLayout?

    @exclusivity(unchecked)
    var repreparationCount: CInt = 0

    /// What the last adapter made of the columns.
    @exclusivity(unchecked)
    var lastAdaptation: Adaptation?

    /// Set where SQLite had no memory for a value that was read, and nobody has stepped on to hear of it.
    @usableFromInline
    @exclusivity(unchecked)
    var lostValue: LostValue?

    /// The row that reads the columns of an execution, which keeps it for the next one.
    @exclusivity(unchecked)
    var row: Row?

    /// What an adapter makes of the execution's row.
    @exclusivity(unchecked)
    var adaptedRow: Row?

    /// Whether `row` belongs to the execution that runs.
    @exclusivity(unchecked)
    var isRowAttached = false

    /// The statement whose execution began before this one's, and still runs.
    @exclusivity(unchecked)
    var olderActive: Statement?

    /// `Database.schemaStamp` when the columns were last known to be those of the schema.
    @exclusivity(unchecked)
    var schemaStamp: Int

    /// The columns that the statement will have when it runs again; nil where they are those it was prepared with.
    @exclusivity(unchecked)
    var comingLayout: (layout: RowLayout, repreparationCount: CInt)?

    init(_ handle: consuming StatementHandle, sql: Substring, lifetime: ConnectionLifetime, schemaStamp: Int) {
        let pointer = handle.release()
        self.schemaStamp = schemaStamp
        sqliteStatement = pointer
        let text = sql.utf8.skippingSpaceAndComments.droppingTrailingSpace
        self.sql = String(Substring(text))
        kind = StatementKind(sql: text)
        self.lifetime = lifetime
        isReadonly = StatementCalls.isReadOnly(pointer)
        parameterCount = StatementCalls.parameterCount(pointer)
        if parameterCount == 0 {
            boundValues = []
            isBound = true
        }
    }

    /// What a layer above keeps to decode records from the rows.
    @usableFromInline
    @exclusivity(unchecked)
    var decodingState: AnyObject?

    deinit {
        integerArguments.deallocate()
        lifetime.finalize(sqliteStatement)
    }

    // MARK: - Arguments

    /// The arguments of the next executions.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player WHERE id = ?")
    /// statement.arguments = [1]
    /// let name = try String.fetchOne(statement)
    /// ```
    ///
    /// Setting arguments that don't fit the statement doesn't throw: its execution does. Use `setArguments` to know at
    /// once.
    public var arguments: StatementArguments {
        get { hasIntegerArguments ? integerArguments.arguments(of: self) : argumentsStorage }
        set {
            argumentsStorage = newValue
            integerArguments.kind = .none
            boundValues = nil
            isBound = false
        }
    }

    /// Throws `SQLITE_MISUSE` unless the arguments give each parameter its value, and none is left over.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT ?, ?")
    /// try statement.validateArguments([1]) // wrong number of statement arguments: 1
    /// ```
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try values(of: arguments)
    }

    /// Sets the arguments of the next executions.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
    /// for name in ["Arthur", "Barbara"] {
    ///     try statement.setArguments([name])
    ///     try statement.execute()
    /// }
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` unless they give each parameter its value, and none is left over.
    public func setArguments(_ arguments: StatementArguments) throws {
        if arguments.isPositional, arguments.values.count == parameterCount {
            // The usual case: the arguments are the values.
            self.arguments = arguments
            return
        }
        setValues(try values(of: arguments), of: arguments)
    }

    private func values(of arguments: StatementArguments) throws(DatabaseError) -> [DatabaseValue] {
        // The usual case: all positional.
        if arguments.isPositional, arguments.values.count == parameterCount { return arguments.values }
        var cursor = ArgumentCursor(arguments)
        let values = try cursor.values(for: self)
        try cursor.finish(sql: sql)
        return values
    }

    func setValues(_ values: [DatabaseValue], of arguments: StatementArguments) {
        argumentsStorage = arguments
        integerArguments.kind = .none
        boundValues = values
        isBound = false
    }

    /// Forgets the arguments, and what SQLite copied of them.
    func clearArguments() {
        guard parameterCount > 0 else { return }
        StatementCalls.clearBindings(sqliteStatement)
        arguments = StatementArguments()
    }

    /// Runs to the end, and keeps no arguments: those of an execution that failed aren't kept either.
    func executeAndForget(_ arguments: StatementArguments) throws {
        defer { clearArguments() }
        try execute(arguments: arguments)
    }

    /// The next execution binds its parameters without the statement knowing them.
    func forgetArguments() {
        if !argumentsStorage.isEmpty { argumentsStorage = StatementArguments() }
        integerArguments.kind = .none
        boundValues = nil
        isBound = false
    }

    /// Binds copies that last for any number of steps.
    private func bindCopies() throws(DatabaseError) {
        if hasValuesAsArguments {
            try argumentsStorage.values.withUnsafeBufferPointer { values throws(DatabaseError) in
                try bindCopies(of: values)
            }
        } else {
            try checkedValues().withUnsafeBufferPointer { values throws(DatabaseError) in try bindCopies(of: values) }
        }
        isBound = true
    }

    @inline(__always)
    private func bindCopies(of values: UnsafeBufferPointer<DatabaseValue>) throws(DatabaseError) {
        for index in values.indices {
            let code =
                if case .int64(let integer) = values[index].content {
                    StatementBindings.bind(integer, to: sqliteStatement, at: CInt(index + 1))
                } else {
                    StatementBindings.bind(values[index], to: sqliteStatement, at: CInt(index + 1))
                }
            if code != 0 { throw bindingError(code, values[index], index) }
        }
    }

    /// Whether the arguments are the values, one for each parameter.
    @inline(__always)
    private var hasValuesAsArguments: Bool {
        boundValues == nil && !hasIntegerArguments && argumentsStorage.isPositional
            && argumentsStorage.values.count == parameterCount
    }

    /// The values of the arguments, which are checked if they have not been.
    private func checkedValues() throws(DatabaseError) -> [DatabaseValue] {
        if let boundValues { return boundValues }
        if hasValuesAsArguments { return argumentsStorage.values }
        let values = try values(of: arguments)
        boundValues = values
        return values
    }

    @inline(never)
    func bindingError(_ code: CInt, _ value: DatabaseValue, _ index: Int) -> DatabaseError {
        isBound = false
        let parameter = parameterNames[index].map { ":\($0)" } ?? "\(index + 1)"
        let message =
            if case .unrepresentable(let value) = value.content {
                // A number or a date, which an error may show.
                "could not bind \(value) to parameter \(parameter): \(value.reason)"
            } else {
                "could not bind parameter \(parameter): \(SQLiteLibrary.errorString(code))"
            }
        return DatabaseError(
            resultCode: ResultCode(rawValue: code), message: message, sql: sql, arguments: arguments,
            publicStatementArguments: lifetime.database?.options.publicStatementArguments ?? false)
    }

    // MARK: - Execution

    /// Runs to the end, whatever rows there are.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "UPDATE player SET score = ? WHERE id = ?")
    /// try statement.execute(arguments: [1000, 1])
    /// ```
    ///
    /// - parameter arguments: the arguments; nil for those that were set before.
    /// - throws: `DatabaseError`; `CancellationError` in a task that is cancelled.
    public func execute(arguments: StatementArguments? = nil) throws {
        if let arguments {
            if arguments.isPositional, arguments.values.count == parameterCount {
                // The usual case: the arguments are the values, and are bound from where they are.
                argumentsStorage = arguments
                integerArguments.kind = .none
                boundValues = nil
                isBound = false
                return try bindAndRun(arguments.values, startExecution(isTracked: false))
            }
            try setArguments(arguments)
        }
        let database = try startExecution(isTracked: false)
        if isBound { return try run(database) }
        try bindAndRun(valuesOrStop(database), database)
    }

    /// Runs a statement without parameters on its own connection.
    func execute(in database: Database) throws {
        guard lifetime.isOwned else { return try execute() }
        try startExecution(in: database, isTracked: false)
        try run(database)
    }

    @inline(__always)
    private func bindAndRun(_ boundValues: [DatabaseValue], _ database: Database) throws {
        try BindingArena.withArena(for: boundValues) { arena in
            for index in boundValues.indices {
                let code = arena.bind(boundValues[index], to: sqliteStatement, at: CInt(index + 1))
                if code != 0 {
                    stopExecution(database)
                    throw bindingError(code, boundValues[index], index)
                }
            }
            // What SQLite only borrowed must not stay bound.
            defer { if arena.lends { StatementCalls.clearBindings(sqliteStatement) } else { isBound = true } }
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

    func run(_ database: Database) throws {
        var code: CInt
        isStepping = true
        database.runDepth += 1
        repeat { code = StatementCalls.step(sqliteStatement) } while code == ResultCode.SQLITE_ROW.rawValue
        database.runDepth -= 1
        isStepping = false
        try endExecution(code, database)
    }

    /// Begins an execution whose steps a cursor takes.
    ///
    /// - returns: the execution's number.
    @usableFromInline
    func beginExecution() throws -> Int {
        try lifetime.withAccessedDatabase { database in
            try startExecution(in: database, isTracked: true)
            guard !isBound else { return }
            do {
                try bindCopies()
            } catch {
                stopExecution(database)
                throw error
            }
        }
        return executionID
    }

    /// - parameter isTracked: whether the execution may outlast this call: the end of the access ends it then.
    @inline(__always)
    func startExecution(isTracked: Bool) throws -> Database {
        let database = try lifetime.accessedDatabase()
        try startExecution(in: database, isTracked: isTracked)
        return database
    }

    @inline(__always)
    func startExecution(in database: Database, isTracked: Bool) throws {
        if isUnderWay {
            if isStepping { throw DatabaseError.misuse("A statement can't be run inside itself.", sql: sql) }
            stopExecution(database)
        }
        try database.statementWillStart(self)
        executionID &+= 1
        isUnderWay = true
        self.isTracked = isTracked
        if isTracked { database.activeStatements.append(self) }
    }

    /// Ends an execution before its last row.
    ///
    /// What a statement with RETURNING changes is committed, or refused, when it ends: an error that nobody waits for
    /// any more is the access's.
    func stopExecution(_ database: Database) {
        guard isUnderWay, !isStepping else { return }
        if isReadonly {
            leaveExecution(database)
            let code = StatementCalls.reset(sqliteStatement)
            if code != 0 { readDidFail(code, database) }
        } else {
            stopChange(database)
        }
    }

    @inline(never)
    private func stopChange(_ database: Database) {
        let hasStepped = StatementCalls.isBusy(sqliteStatement)
        leaveExecution(database)
        let code = StatementCalls.reset(sqliteStatement)
        guard hasStepped else { return }
        let succeeded = code == ResultCode.SQLITE_OK.rawValue
        if !succeeded, database.accessError == nil { database.accessError = database.error(of: self, code) }
        database.statementDidEnd(self, succeeded: succeeded)
    }

    /// Ends the execution that a cursor leaves, unless another has begun, or the access is over.
    @usableFromInline
    func abandonExecution(_ id: Int) {
        guard isUnderWay, id == executionID, lifetime.isOwned else { return }
        try? lifetime.withAccessedDatabase { database in stopExecution(database) }
    }

    /// Ends an execution after a step that gave no row.
    ///
    /// - throws: the error of that step.
    func endExecution(_ code: CInt) throws {
        try lifetime.withAccessedDatabase { database in try endExecution(code, database) }
    }

    private func endExecution(_ code: CInt, _ database: Database) throws {
        if code == ResultCode.SQLITE_DONE.rawValue {
            leaveExecution(database)
            StatementCalls.reset(sqliteStatement)
            database.statementDidEnd(self, succeeded: true)
        } else {
            let error = database.error(of: self, code)
            leaveExecution(database)
            StatementCalls.reset(sqliteStatement)
            database.statementCache.remove(self)
            database.statementDidEnd(self, succeeded: false)
            throw error
        }
    }

    private func leaveExecution(_ database: Database) {
        isUnderWay = false
        executionID &+= 1
        detachRow()
        if isTracked { database.activeStatements.remove(self) }
    }
}

extension Statement: CustomStringConvertible {
    /// The SQL.
    public var description: String { sql }
}

@available(*, unavailable)
extension Statement: Sendable {}

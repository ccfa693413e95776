/// A statement that runs, step by step, and the row that its columns are read from.
///
/// It resets the statement when it ends. All fetch verbs and cursors use it.
@usableFromInline
struct Execution: ~Copyable {
    @usableFromInline
    let statement: Statement

    @usableFromInline
    let sqliteStatement: SQLiteStatement

    /// The row that decoders read: the statement's, or what an adapter makes of it.
    @usableFromInline
    var row: Row

    @usableFromInline
    let adapterBox: AdapterBox?

    /// The statement's number for this execution; or `unbegun` until the thread has been checked; `buffered`; `over`
    /// after the last row; or `failed`.
    @usableFromInline
    var id: Int

    /// The statement's number for this execution.
    @usableFromInline
    let begunID: Int

    @usableFromInline
    var hasStepped = false

    static var over: Int { -1 }
    private static var unbegun: Int { -2 }
    private static var failed: Int { -3 }
    /// All rows are read before the first is returned.
    static var buffered: Int { -4 }

    /// Whether an error of the database has ended it.
    var hasFailed: Bool { id == Self.failed }

    /// Begins, with the arguments bound, but takes no step.
    ///
    /// - parameter outlivesCall: whether the steps follow after this call. Then another thread may take them, so the
    ///   first step checks the thread: checking at each step would slow loops over rows. And the names of the columns
    ///   may be requested before the first step.
    @usableFromInline
    init(_ statement: Statement, _ box: AdapterBox?, outlivesCall: Bool = false) throws {
        let id = try statement.beginExecution()
        let row = statement.attachRow()
        if outlivesCall { row.refreshLayout(statement) }
        self.row = try box.map { try statement.adaptNewRow(by: $0.adapter, id) } ?? row
        let buffering = box?.buffering(outlivesCall: outlivesCall)
        self.id = buffering != nil ? Self.buffered : outlivesCall ? Self.unbegun : id
        begunID = id
        sqliteStatement = statement.sqliteStatement
        adapterBox = buffering ?? box
        self.statement = statement
    }

    // Inlinable, because the optimizer of Swift 6.3.1 stops where inlinable code destroys a value whose deinit isn't.
    @inlinable
    deinit {
        statement.abandonExecution(begunID)
    }

    /// Steps to the next row; false after the last.
    @inlinable
    @inline(__always)
    mutating func advance() throws -> Bool {
        if id == statement.executionID {
            statement.isStepping = true
            let code = StatementCalls.step(sqliteStatement)
            statement.isStepping = false
            if code == 100, hasStepped { return true }
            return try advanceUnusually(code)
        }
        return try advanceOffRoad()
    }

    /// The value of the row.
    ///
    /// The execution keeps its row meanwhile, as its only owner.
    @inlinable
    @inline(__always)
    func detached<Value: RowDecodable>() throws -> Value {
        try Unmanaged.passUnretained(row)._withUnsafeGuaranteedRef { try Value.detached(from: $0) }
    }

    /// The first row, the end, or an error.
    @usableFromInline
    @inline(never)
    mutating func advanceUnusually(_ code: CInt) throws -> Bool {
        if code == ResultCode.SQLITE_ROW.rawValue {
            hasStepped = true
            try learnColumns()
            return true
        }
        id = Self.failed
        // The columns of a result without rows are known after the step too. Most callers ask for them only with a row.
        if !hasStepped, row.knowsColumns, code == ResultCode.SQLITE_DONE.rawValue { try learnColumns() }
        try statement.endExecution(code)
        id = Self.over
        return false
    }

    /// SQLite prepares a statement again after a schema change in its first step.
    @inline(__always)
    private mutating func learnColumns() throws {
        if let adapterBox {
            if statement.refreshRow() { row = try statement.adaptRow(by: adapterBox.adapter) }
        } else {
            row.refreshLayout(statement)
        }
    }

    /// The names of the columns; before the first step, the names that this step will find.
    var columnNames: [String] {
        let isToStep = !hasStepped && adapterBox == nil && begunID == statement.executionID
        return isToStep ? statement.columnNames : row.layout.names
    }

    @usableFromInline
    @inline(never)
    mutating func advanceOffRoad() throws -> Bool {
        if id == Self.over || id == Self.failed { return false }
        if id == Self.buffered, let adapterBox, let supplement = adapterBox.supplement {
            return try advanceBuffered(adapterBox, supplement)
        }
        if id == Self.unbegun, try statement.isAccessed(inExecution: begunID) {
            id = begunID
            return try advance()
        }
        id = Self.failed
        throw statement.staleExecutionError()
    }
}

extension Statement {
    /// Whether the execution with that number is still running.
    ///
    /// - throws: `SQLITE_MISUSE` if the current thread doesn't have the connection.
    @inline(__always)
    fileprivate func isAccessed(inExecution id: Int) throws(DatabaseError) -> Bool {
        guard id == executionID else { return false }
        try lifetime.checkAccess()
        return true
    }

    /// The row of the execution: the previous execution's row, unless it is kept elsewhere.
    func attachRow() -> Row {
        isRowAttached = true
        if isKnownUniquelyReferenced(&row), let row {
            row.attach(self)
            return row
        }
        let row = Row(self)
        self.row = row
        return row
    }

    /// The execution's row, seen through an adapter.
    func adaptRow(by adapter: any RowAdapter) throws -> Row {
        guard let row else { return Row() }
        let adaptedRow = try row.adapted(by: adapter, self)
        self.adaptedRow = adaptedRow
        return adaptedRow
    }

    /// As `adaptRow(by:)`, for an execution that begins; ends the execution if the adapter throws.
    @inline(never)
    fileprivate func adaptNewRow(by adapter: any RowAdapter, _ id: Int) throws -> Row {
        _ = refreshRow()
        do {
            return try adaptRow(by: adapter)
        } catch {
            abandonExecution(id)
            throw error
        }
    }

    /// Lets the execution's row learn the columns.
    ///
    /// - returns: whether they have changed.
    func refreshRow() -> Bool { row?.refreshLayout(self) ?? false }

    /// Ends the use of the execution's row.
    @inline(__always)
    func detachRow() {
        guard isRowAttached else { return }
        isRowAttached = false
        // The adapted row reads the other row, so it is detached first.
        if let adaptedRow = adaptedRow.take() { adaptedRow.detach() }
        row?.detach()
    }
}

extension Statement {
    /// The error for a cursor whose execution has ended.
    @usableFromInline
    @inline(never)
    func staleExecutionError() -> DatabaseError {
        do {
            let database = try lifetime.accessedDatabase()
            // The execution began in a transaction that has been rolled back.
            if database.transaction.isAborted(isAutocommit: ConnectionCalls.isAutocommit(database.pointer)) {
                return database.abortedTransactionError(sql: sql)
            }
        } catch {
            return error
        }
        return .misuse("The cursor is over: its statement has been run again, or its access has ended.", sql: sql)
    }
}

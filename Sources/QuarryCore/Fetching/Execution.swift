/// A running statement, which is stepped from row to row, and the row that its columns are read from.
///
/// The execution resets the statement when it ends. All fetch verbs and cursors use it.
@usableFromInline
struct Execution: ~Copyable {
    @usableFromInline
    let statement: Statement

    @usableFromInline
    let sqliteStatement: SQLiteStatement

    /// The row that decoders read: the statement's row, or an adapter's view of it.
    @usableFromInline
    var row: Row

    @usableFromInline
    let adapterBox: AdapterBox?

    @usableFromInline
    var state: State

    /// The statement's number for this execution.
    @usableFromInline
    let begunID: Int

    @usableFromInline
    var hasStepped = false

    /// Whether a database error has ended the execution.
    var hasFailed: Bool { state == .failed }

    /// Begins the execution with bound arguments, but takes no step.
    ///
    /// - parameter outlivesCall: whether steps follow after this call. Then another thread may take them, so the first
    ///   step checks the thread: checking at each step would slow loops over rows. The names of the columns may also be
    ///   requested before the first step.
    @usableFromInline
    init(_ statement: Statement, _ box: AdapterBox?, outlivesCall: Bool = false) throws {
        let id = try statement.beginExecution()
        let row = statement.attachRow()
        if outlivesCall { row.refreshLayout(statement) }
        self.row = try box.map { try statement.adaptNewRow(by: $0.adapter, id) } ?? row
        let buffering = box?.buffering(outlivesCall: outlivesCall)
        state = buffering != nil ? .buffered : outlivesCall ? .unbegun : .stepping(id)
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
        if state == .stepping(statement.activity.executionID) {
            statement.activity.willStep(.cursor)
            let code = statement.handle.step()
            statement.activity.didStep(.cursor)
            if code == StatementHandle.row, hasStepped { return true }
            return try advanceUnusually(code)
        }
        return try advanceOffRoad()
    }

    /// The value of the row.
    ///
    /// The execution is the row's only owner while the value is decoded.
    @inlinable
    @inline(__always)
    func detached<Value: RowDecodable>() throws -> Value {
        try Unmanaged.passUnretained(row)._withUnsafeGuaranteedRef { try Value.detached(from: $0) }
    }

    /// Takes the first step.
    @usableFromInline
    @inline(never)
    mutating func advanceUnusually(_ code: CInt) throws -> Bool {
        if code == StatementHandle.row {
            hasStepped = true
            try learnColumns()
            return true
        }
        state = .failed
        // The step also reveals the columns of a result without rows. Most callers request columns only with a row.
        if !hasStepped, row.knowsColumns, code == StatementHandle.done { try learnColumns() }
        try statement.endExecution(code)
        state = .ended
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
        let isToStep = !hasStepped && adapterBox == nil && begunID == statement.activity.executionID
        return isToStep ? statement.columnNames : row.layout.names
    }

    @usableFromInline
    @inline(never)
    mutating func advanceOffRoad() throws -> Bool {
        if state == .ended || state == .failed { return false }
        if state == .buffered, let adapterBox, let supplement = adapterBox.supplement {
            return try advanceBuffered(adapterBox, supplement)
        }
        if state == .unbegun, try statement.isAccessed(inExecution: begunID) {
            state = .stepping(begunID)
            return try advance()
        }
        state = .failed
        throw statement.staleExecutionError()
    }
}

extension Statement {
    /// Whether the execution with that number is still running.
    ///
    /// - throws: `SQLITE_MISUSE` if the current thread doesn't have the connection.
    @inline(__always)
    fileprivate func isAccessed(inExecution id: Int) throws(DatabaseError) -> Bool {
        guard id == activity.executionID else { return false }
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
            if database.openTransaction.state.isAborted(isAutocommit: ConnectionCalls.isAutocommit(database.pointer)) {
                return database.abortedTransactionError(sql: sql)
            }
        } catch {
            return error
        }
        return .misuse("The cursor has ended: its statement has been run again, or its access has ended.", sql: sql)
    }
}

/// A statement that runs, step by step, and the row that its columns are read from.
///
/// It resets the statement when it ends. All fetch verbs and cursors stand on it.
@usableFromInline
struct Execution: ~Copyable {
    @usableFromInline
    let statement: Statement

    @usableFromInline
    let sqliteStatement: SQLiteStatement

    /// The row that decoders read: the statement's, or what an adapter makes of it.
    @usableFromInline
    var row: Row

    /// The statement's row, where an adapter makes another one of it.
    @usableFromInline
    let adaptedRow: Row?

    @usableFromInline
    let adapterBox: AdapterBox?

    /// The statement's number of this execution; `unbegun` until a thread was seen to be the right one; `buffered`; or
    /// `over`.
    @usableFromInline
    var id: Int

    /// The statement's number of this execution.
    @usableFromInline
    let begunID: Int

    @usableFromInline
    var hasStepped = false

    static var over: Int { -1 }
    private static var unbegun: Int { -2 }
    /// All rows are read before the first is given.
    static var buffered: Int { -3 }

    /// Begins, with the arguments bound, but takes no step.
    ///
    /// - parameter outlivesCall: whether another thread may come to take the steps: the first one looks then. To look
    ///   at each step would be felt in loops over rows.
    @usableFromInline
    init(_ request: consuming PreparedRequest, outlivesCall: Bool = false) throws {
        let statement = request.statement
        let id = try statement.beginExecution()
        var row = statement.takeRow()
        var adaptedRow: Row?
        var adapterBox = request.adapterBox
        var isBuffered = false
        if let box = adapterBox {
            if let supplement = box.supplement {
                isBuffered = true
                adapterBox = AdapterBox(box.adapter, supplement, outlivesCall: outlivesCall)
            }
            adaptedRow = row
            do {
                row = try row.adapted(by: box.adapter, statement)
            } catch {
                statement.abandonExecution(id)
                throw error
            }
        }
        statement.executionRow = row
        statement.executionAdaptedRow = adaptedRow
        self.statement = statement
        sqliteStatement = statement.sqliteStatement
        self.row = row
        self.adaptedRow = adaptedRow
        self.adapterBox = adapterBox
        self.id = isBuffered ? Self.buffered : outlivesCall ? Self.unbegun : id
        begunID = id
    }

    // Inlinable, because the optimizer of Swift 6.3.1 stops where inlinable code destroys a value whose deinit isn't.
    @inlinable
    deinit {
        Self.end(statement, row, adaptedRow, begunID)
    }

    @usableFromInline
    @inline(never)
    static func end(_ statement: Statement, _ row: Row, _ adaptedRow: Row?, _ id: Int) {
        statement.abandonExecution(id)
        guard let adaptedRow else { return statement.giveBack(row) }
        row.detach()
        statement.giveBack(adaptedRow)
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

    /// The first row, the end, or an error.
    @usableFromInline
    @inline(never)
    mutating func advanceUnusually(_ code: CInt) throws -> Bool {
        if code == ResultCode.SQLITE_ROW.rawValue {
            hasStepped = true
            // The first step is the one in which SQLite prepares a statement again after a change of the schema.
            if let adaptedRow, let adapterBox {
                if adaptedRow.refreshLayout(statement) {
                    row = try adaptedRow.adapted(by: adapterBox.adapter, statement)
                    statement.executionRow = row
                }
            } else {
                _ = row.refreshLayout(statement)
            }
            return true
        }
        id = Self.over
        let database = try statement.lifetime.accessedDatabase()
        try statement.endExecution(code, database)
        return false
    }

    @usableFromInline
    @inline(never)
    mutating func advanceOffRoad() throws -> Bool {
        if id == Self.over { return false }
        if id == Self.buffered, let adapterBox, let supplement = adapterBox.supplement {
            return try advanceBuffered(adapterBox, supplement)
        }
        if id == Self.unbegun, begunID == statement.executionID {
            _ = try statement.lifetime.accessedDatabase()
            id = begunID
            return try advance()
        }
        id = Self.over
        row.detach()
        adaptedRow?.detach()
        throw statement.staleExecutionError()
    }
}

extension Statement {
    /// The row of an execution: that of the last one, unless somebody keeps it.
    func takeRow() -> Row {
        guard spareRow != nil else { return Row(self) }
        guard isKnownUniquelyReferenced(&spareRow), let row = spareRow.take() else {
            spareRow = nil
            return Row(self)
        }
        row.attach(self)
        return row
    }

    /// Keeps the row of an execution that is over for the next.
    func giveBack(_ row: Row) {
        // Without its statement: they would keep each other.
        row.detach()
        if lifetime.isOwned { spareRow = row }
    }
}

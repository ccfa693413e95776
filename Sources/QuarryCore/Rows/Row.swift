/// A row of a result.
///
/// ```swift
/// let rows = try Row.fetchCursor(db, sql: "SELECT id, name, score FROM player")
/// while let row = try rows.next() {
///     let id: Int64 = row[0]
///     let name: String = row["name"]
///     let score: Int? = row["score"]
/// }
/// ```
///
/// Columns are found by index, name (ignoring case; the leftmost column wins) or column expression. Subscripts that
/// return a non-optional end the process if the value can't be converted; `decode` throws instead.
///
/// A cursor returns the same `Row` at each step, with other values: use `copy()` to keep one. `fetchAll` and `fetchOne`
/// return copies.
public final class Row {
    /// The source of a row's values.
    @usableFromInline
    enum Source {
        /// The current row of a running statement.
        case statement(RunningStatement)
        /// The row's own values.
        case block(RowBlock)
        /// Another row, seen through an adapter.
        case adapted(AdaptedRowSource)
        /// The row of a cursor that has ended.
        case expired
    }

    /// A running statement. Its connection keeps it alive: when the execution ends, the row expires.
    @usableFromInline
    struct RunningStatement {
        @usableFromInline let reference: Unmanaged<Statement>

        init(_ statement: Statement) { reference = .passUnretained(statement) }

        var statement: Statement { reference.takeUnretainedValue() }

        var sqliteStatement: SQLiteStatement { reference._withUnsafeGuaranteedRef { $0.sqliteStatement } }
    }

    /// The statement whose current row this is, if the columns are adjacent in it; nil for other rows.
    @usableFromInline
    @exclusivity(unchecked)
    final var sqliteStatement: SQLiteStatement?

    @usableFromInline
    @exclusivity(unchecked)
    private(set) final var source: Source

    @usableFromInline
    @exclusivity(unchecked)
    final var layout: RowLayout

    @usableFromInline
    @exclusivity(unchecked)
    final var memo = NameMemo()

    // 16 bits fit next to the memo's 32 bits: a result may have many rows. SQLite's rows have at most 32767 columns:
    // https://www.sqlite.org/limits.html

    /// The index in the statement of the leftmost column.
    @usableFromInline
    @exclusivity(unchecked)
    final var columnOffset: Int16

    @usableFromInline
    @exclusivity(unchecked)
    final var columnCount: Int16

    private init(source: Source, layout: RowLayout, sqliteStatement: SQLiteStatement?, columnOffset: Int16 = 0) {
        self.source = source
        self.layout = layout
        self.columnCount = Int16(truncatingIfNeeded: layout.names.count)
        self.sqliteStatement = sqliteStatement
        self.columnOffset = columnOffset
    }

    /// The number of columns.
    @inlinable
    public var count: Int { Int(columnCount) }

    // MARK: - Rows of cursors

    /// The row of a cursor on a statement. `refreshLayout` sets its layout.
    convenience init(_ statement: Statement) {
        self.init(
            source: .statement(RunningStatement(statement)), layout: .unread, sqliteStatement: statement.sqliteStatement
        )
    }

    /// Reuses the row for another execution of its statement.
    func attach(_ statement: Statement) {
        memo.rewind()
        source = .statement(RunningStatement(statement))
        sqliteStatement = statement.sqliteStatement
    }

    /// Whether the row knows the statement's columns.
    var knowsColumns: Bool { layout !== RowLayout.unread }

    private func setLayout(_ layout: RowLayout) {
        guard layout !== self.layout else { return }
        self.layout = layout
        columnCount = Int16(truncatingIfNeeded: layout.names.count)
        memo = NameMemo()
    }

    /// Learns the statement's columns, unless it knows them: SQLite may have prepared the statement again.
    ///
    /// - returns: whether they have changed.
    @discardableResult
    func refreshLayout(_ statement: Statement) -> Bool {
        if statement.hasLayout(layout) || statement.layout === layout { return false }
        setLayout(statement.layout)
        return true
    }

    /// Ends the use of a cursor's row. Rows that see it through an adapter must be detached first.
    func detach() {
        sqliteStatement = nil
        switch source {
        case .adapted(let adapted): adapted.detachScopes()
        case .statement: source = .expired
        case .block, .expired: break
        }
    }

    /// Whether the row belongs to a cursor that has ended.
    var isExpired: Bool {
        switch source {
        case .expired: true
        case .adapted(let adapted): adapted.base.isExpired
        case .statement, .block: false
        }
    }

    // MARK: - Rows with their own values

    /// A row without columns.
    public convenience init() {
        self.init(columns: [])
    }

    package convenience init(columns: [(String, DatabaseValue)]) {
        self.init(
            block: RowBlock.copy(columns.map(\.1)), layout: RowLayout(names: columns.map(\.0)))
    }

    convenience init(block: RowBlock, layout: RowLayout) {
        self.init(source: .block(block), layout: layout, sqliteStatement: nil)
    }

    /// A row seen through an adapter.
    ///
    /// - parameter readsStatement: whether adjacent columns are read straight from the base's statement. Then
    ///   `detach()` must be called before the base is detached.
    convenience init(adapted: AdaptedRowSource, readsStatement: Bool = false) {
        let firstColumn = readsStatement ? adapted.adaptation.firstColumn : nil
        self.init(
            source: .adapted(adapted), layout: adapted.adaptation.layout,
            sqliteStatement: firstColumn == nil ? nil : adapted.base.sqliteStatement,
            columnOffset: Int16(truncatingIfNeeded: firstColumn ?? 0))
    }

    /// The source of a row that is seen through an adapter.
    var adaptedSource: AdaptedRowSource? {
        if case .adapted(let adapted) = source { adapted } else { nil }
    }

    /// A row that outlives the cursor: a copy of a cursor's row, or this row if it is already such a copy.
    ///
    /// ```swift
    /// var rows: [Row] = []
    /// let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player")
    /// while let row = try cursor.next() { rows.append(row.copy()) }
    /// ```
    public func copy() -> Row {
        switch source {
        case .statement(let running):
            return Row(block: RowBlock.copy(running.sqliteStatement, count: count), layout: layout)
        case .block, .expired:
            return self
        case .adapted(let adapted):
            return adapted.isCurrent ? adapted.copy() : self
        }
    }

    // MARK: - Attachment

    /// The object that a layer above keeps with the row.
    package var attachment: AnyObject? {
        switch source {
        case .statement(let running): running.statement.attachment
        case .adapted(let adapted): adapted.currentAttachment
        case .block, .expired: nil
        }
    }

    /// Takes the object that a layer above keeps with the row, for all rows of a cursor, until `keepAttachment`: the
    /// layer's code may release the row's cursor meanwhile. A row that outlives its cursor keeps none.
    ///
    /// - parameter type: a final class. An object of another class is released.
    /// - returns: the object, nil if there is none or another caller has taken it; and the statement's number for the
    ///   execution that this row belongs to, 0 for a row that has no execution.
    @inlinable
    @inline(__always)
    package final func takeAttachment<Object: AnyObject>(
        _ type: Object.Type
    ) -> (object: Unmanaged<Object>?, executionID: Int) {
        guard case .statement(let running) = source else { return (takeAttachmentOfAnotherRow(type), 0) }
        return running.reference._withUnsafeGuaranteedRef {
            ($0.attachment.take().flatMap { Self.proven($0, type) }, $0.activity.executionID)
        }
    }

    @usableFromInline
    @inline(never)
    final func takeAttachmentOfAnotherRow<Object: AnyObject>(_ type: Object.Type) -> Unmanaged<Object>? {
        guard case .adapted(let adapted) = source else { return nil }
        return adapted.takeAttachment().flatMap { Self.proven($0, type) }
    }

    @inlinable
    @inline(__always)
    static func proven<Object: AnyObject>(_ object: AnyObject, _ type: Object.Type) -> Unmanaged<Object>? {
        guard ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type) else { return nil }
        return .passRetained(unsafeDowncast(object, to: type))
    }

    /// Replaces the object that a layer above keeps with the row.
    ///
    /// - parameter object: released when the row no longer keeps it.
    @inlinable
    @inline(__always)
    package final func keepAttachment<Object: AnyObject>(_ object: Unmanaged<Object>) {
        guard case .statement(let running) = source else {
            return keepAttachmentOfAnotherRow(object.takeRetainedValue())
        }
        running.reference._withUnsafeGuaranteedRef { $0.attachment = object.takeRetainedValue() }
    }

    @usableFromInline
    @inline(never)
    final func keepAttachmentOfAnotherRow(_ object: AnyObject) {
        // A row with values of its own is decoded once.
        if case .adapted(let adapted) = source { adapted.keepAttachment(object) }
    }

    // MARK: - Values

    /// The identity of the columns: rows with the same object have the same columns, as long as the object is kept.
    @inlinable
    package final var columnsIdentity: AnyObject {
        @inline(__always) get { layout }
    }

    /// Whether the row has these columns: `columnsIdentity` of this row, or of another row of its result.
    @inlinable
    @inline(__always)
    package final func hasColumns(_ identity: AnyObject) -> Bool { layout === identity }

    /// The names of the columns.
    package var names: [String] { layout.names }

    /// The name of a column; the index must be in the row.
    package func columnName(atUncheckedIndex index: Int) -> String { layout.names[index] }

    /// The error of decoding a part of the row.
    ///
    /// - parameter problem: a description of the problem.
    /// - parameter columnIndex: the column, if the error concerns one.
    package func decodingError(_ problem: String, columnIndex: Int? = nil) -> RowDecodingError {
        RowDecodingError(
            problem, place(columnName: columnIndex.map { layout.names[$0] }, columnIndex: columnIndex))
    }

    /// A value as errors show it: with its content only if the connection makes arguments public.
    package func shown(_ value: DatabaseValue) -> String { showsValues ? value.description : value.storageClass }

    /// Whether errors may show the row's values.
    package var showsValues: Bool { unadapted.layout.showsValues }

    /// The value of a column; the index must be in the row.
    package func value(atUncheckedIndex index: Int) -> DatabaseValue {
        switch source {
        case .statement(let running): StatementColumns.value(running.sqliteStatement, CInt(index))
        case .block(let block): block.value(index)
        case .adapted(let adapted): adapted.value(index)
        case .expired: trap("\(expiredError)")
        }
    }

    /// The index of the leftmost column with that name, ignoring case.
    @inlinable
    @inline(__always)
    package final func columnIndex(_ name: String) -> Int? {
        if sqliteStatement != nil {
            if let place = memo.expectedPlace(name) { return Int(memo.entries[place].column) }
            return memoizedIndex(name)
        }
        return layoutIndex(name)
    }

    @usableFromInline
    @inline(never)
    final func memoizedIndex(_ name: String) -> Int? {
        if let place = memo.place(name, spelled: false) { return Int(memo.entries[place].column) }
        guard let index = layout.index(of: name) else { return nil }
        _ = memo.append(name, column: index)
        return index
    }

    @usableFromInline
    @inline(never)
    final func layoutIndex(_ name: String) -> Int? { layout.index(of: name) }

    /// The value of a column of a row with its own values; nil for other rows, and for an index outside the row.
    @usableFromInline
    final func ownedValue(atIndex index: Int) -> DatabaseValue? {
        guard case .block(let block) = source, index >= 0, index < count else { return nil }
        return block.value(index)
    }

    /// Converts without an intermediate `DatabaseValue`, if possible; nil leaves the conversion to `decodeSlowly`.
    @inlinable
    @inline(__always)
    final func fastDecode<Value: DatabaseValueConvertible>(_ type: Value.Type, _ index: Int) -> Value? {
        guard let sqliteStatement else { return ownedDecode(type, index) }
        guard index >= 0, index < Int(columnCount) else { return nil }
        return Value.fromStatement(
            sqliteStatement, atUncheckedIndex: CInt(truncatingIfNeeded: index) &+ CInt(columnOffset))
    }

    /// The statement that a column is read from, and the column's index there; nil if the row isn't read from a
    /// statement.
    ///
    /// - parameter index: the column, which must be in the row.
    @inlinable
    @inline(__always)
    package final func statementColumn(atUncheckedIndex index: CInt) -> (statement: SQLiteStatement, index: CInt)? {
        guard let sqliteStatement else { return nil }
        return (sqliteStatement, index &+ CInt(columnOffset))
    }

    /// `fastDecode` for a row with its own values. Inlinable in order to be specialised: a generic conversion costs
    /// many times more.
    @inlinable
    @inline(never)
    final func ownedDecode<Value: DatabaseValueConvertible>(_ type: Value.Type, _ index: Int) -> Value? {
        // The condition is known at compile time in a specialisation.
        if type == Int.self, let integer = ownedInteger(atIndex: index) {
            return Int(truncatingIfNeeded: integer) as? Value
        }
        return ownedValue(atIndex: index).flatMap { Value.fromDatabaseValue($0) }
    }

    /// The integer of a column of a row with its own values; nil for other rows and other types.
    @usableFromInline
    final func ownedInteger(atIndex index: Int) -> Int64? {
        guard case .block(let block) = source, index >= 0, index < count else { return nil }
        return block.integer(index)
    }
}

// Rows aren't Sendable. No unavailable conformance says so: with one, the compiler would take the synchronous form of
// an asynchronous access that returns a row among other values, and that form blocks the thread.

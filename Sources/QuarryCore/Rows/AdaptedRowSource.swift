/// A projection, resolved for the rows of an execution, which share it.
final class RowAdaptation: Sendable {
    /// For each column, its index in the base row.
    let columns: [Int]

    /// The index of the first column in the base row, if the other columns follow it there in order.
    let firstColumn: Int?

    let layout: RowLayout

    /// In the order of their names.
    let scopes: [(name: String, adaptation: RowAdaptation)]

    convenience init(_ projection: RowProjection, columnCount: Int) throws(DatabaseError) {
        var columns: [Int] = []
        columns.reserveCapacity(projection.columns.count)
        var scopes: [(name: String, adaptation: RowAdaptation)] = []
        for column in projection.columns {
            try column.check(columnCount: columnCount)
            columns.append(column.index)
        }
        for (name, scope) in projection.scopes.sorted(by: { $0.key < $1.key }) {
            scopes.append((name, try RowAdaptation(scope, columnCount: columnCount)))
        }
        self.init(columns: columns, layout: RowLayout(names: projection.columns.map(\.name)), scopes: scopes)
    }

    private init(columns: [Int], layout: RowLayout, scopes: [(name: String, adaptation: RowAdaptation)]) {
        self.columns = columns
        self.layout = layout
        self.scopes = scopes
        let start = columns.first ?? 0
        firstColumn = columns.enumerated().allSatisfy { $1 == start + $0 } ? start : nil
    }

    var withoutScopes: RowAdaptation {
        scopes.isEmpty ? self : RowAdaptation(columns: columns, layout: layout, scopes: [])
    }
}

/// The source of a row that is seen through an adapter: another row, and the columns to show of it.
@usableFromInline
final class AdaptedRowSource {
    /// The row with all columns: that of a statement, or a copy of it.
    let base: Row

    let adaptation: RowAdaptation

    /// The scopes of a cursor's row, which stay the same from step to step as the row does; empty until one is
    /// requested.
    private var scopeRows: [Row?] = []

    @exclusivity(unchecked)
    private var attachment: AnyObject?

    /// Whether the row is the current row of a cursor, and a copy.
    private var isCurrentCopy = false

    /// The row's attachment. A row that outlives its cursor keeps none: several threads may decode it.
    var currentAttachment: AnyObject? { isCurrent ? attachment : nil }

    func takeAttachment() -> AnyObject? { isCurrent ? attachment.take() : nil }

    func keepAttachment(_ object: AnyObject) {
        if isCurrent { attachment = object }
    }

    /// Whether the row is the current row of a cursor, or a scope of it. Other rows never change.
    var isCurrent: Bool { isCurrentCopy || base.sqliteStatement != nil }

    /// The lists of rows that the row has, and the number of the row in them.
    var lists: (source: any RowLists, index: Int)?

    init(base: Row, adaptation: RowAdaptation) {
        self.base = base
        self.adaptation = adaptation
    }

    func value(_ index: Int) -> DatabaseValue { base.value(atUncheckedIndex: adaptation.columns[index]) }

    func copy() -> Row {
        let copy = AdaptedRowSource(base: base.copy(), adaptation: adaptation)
        copy.lists = lists
        return Row(adapted: copy)
    }

    /// Makes the row the current row of a cursor.
    func becomeCurrent(_ attachment: AnyObject?) {
        isCurrentCopy = true
        self.attachment = attachment
    }

    /// Marks the row as left by its cursor: from now on the row only outlives the cursor.
    ///
    /// - returns: the attachment, for the cursor's next row.
    func resignCurrent() -> AnyObject? {
        isCurrentCopy = false
        return attachment.take()
    }

    func scope(at index: Int) -> Row {
        if index < scopeRows.count, let row = scopeRows[index] { return row }
        let (name, scope) = adaptation.scopes[index]
        let source = AdaptedRowSource(base: base, adaptation: scope)
        if let lists { source.lists = lists.source.lists(inScope: name).map { ($0, lists.index) } }
        // A row that outlives its cursor may be read by several threads, so it must not change.
        guard base.sqliteStatement != nil else { return Row(adapted: source) }
        let row = Row(adapted: source, readsStatement: true)
        if scopeRows.isEmpty { scopeRows = Array(repeating: nil, count: adaptation.scopes.count) }
        scopeRows[index] = row
        return row
    }

    /// Ends the use of the statement by the rows of the scopes.
    func detachScopes() {
        for row in scopeRows { row?.detach() }
    }
}

extension Row {
    /// A row that shows a cursor's row through an adapter, and changes with it.
    ///
    /// The adapted row must be detached before this row.
    ///
    /// - throws: the adapter's error, with the SQL of the statement.
    func adapted(by adapter: any RowAdapter, _ statement: Statement) throws -> Row {
        do {
            let adaptation = try statement.adaptation(of: layout, by: adapter)
            return Row(adapted: AdaptedRowSource(base: self, adaptation: adaptation), readsStatement: true)
        } catch let error as DatabaseError where error.sql == nil {
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: error.message, sql: statement.sql)
        }
    }
}

extension Statement {
    /// The adapted columns of the statement, for later executions with the same adapter.
    struct Adaptation {
        let adapter: ScopeAdapter.Content
        let layout: RowLayout
        let adaptation: RowAdaptation
    }

    fileprivate func adaptation(of layout: RowLayout, by adapter: any RowAdapter) throws -> RowAdaptation {
        let content = (adapter as? ScopeAdapter)?.content
        if let content, let lastAdaptation, lastAdaptation.adapter === content, lastAdaptation.layout === layout {
            return lastAdaptation.adaptation
        }
        let projection = try adapter.projection(of: layout.names)
        let adaptation = try RowAdaptation(projection, columnCount: layout.names.count)
        if let content {
            lastAdaptation = Adaptation(adapter: content, layout: layout, adaptation: adaptation)
        }
        return adaptation
    }
}

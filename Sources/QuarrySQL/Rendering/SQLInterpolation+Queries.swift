public import QuarryCore

// Further interpolations of SQL: `\(Column("score") + 1)`, `\(Player.self)`, `\(request)`.

extension SQLInterpolation {
    /// `\(Column("score") + 1)`: an expression.
    public mutating func appendInterpolation(_ expression: some SQLSpecificExpressible) {
        elements.append(.fragment(ExpressionFragment(expression: expression.sqlExpression)))
    }

    /// `\(Column("score"))`: a column, qualified by its table if the query has several tables.
    public mutating func appendInterpolation(_ column: some ColumnExpression) {
        elements.append(.fragment(ExpressionFragment(expression: column.sqlExpression)))
    }

    /// `score = \(request)`: a request, in parentheses. The parentheses are omitted if they are already written, as in
    /// `IN (\(request))`, or if a statement begins: `WITH \(definitionFor: cte) \(request)`.
    public mutating func appendInterpolation(_ request: some SQLSubqueryable) {
        let query = request.sqlSubquery
        elements.append(.fragment(SubqueryFragment(query: query, isInParentheses: isBeforeStatement)))
    }

    /// `\(value)`: an expression, or a value.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expression: some SQLExpressible) {
        elements.append(.fragment(ExpressionFragment(expression: expression.sqlExpression)))
    }

    /// `IN \([Column("a"), Column("b")])`: expressions in parentheses; an empty list if there are none.
    @_disfavoredOverload
    public mutating func appendInterpolation<S: Sequence>(_ expressions: S) where S.Element: SQLSpecificExpressible {
        append(list: expressions.map(\.sqlExpression))
    }

    /// `IN \([1, Column("b")])`: expressions in parentheses; an empty list if there are none.
    @_disfavoredOverload
    public mutating func appendInterpolation<S: Sequence>(_ expressions: S) where S.Element == any SQLExpressible {
        append(list: expressions.map(\.sqlExpression))
    }

    private mutating func append(list expressions: [SQLExpression]) {
        if expressions.isEmpty { return appendInterpolation(sql: "(SELECT NULL WHERE NULL)") }
        appendInterpolation(sql: "(")
        for (index, expression) in expressions.enumerated() {
            if index > 0 { appendInterpolation(sql: ", ") }
            elements.append(.fragment(ExpressionFragment(expression: expression)))
        }
        appendInterpolation(sql: ")")
    }

    /// `\(.allColumns)`: all columns of the table.
    public mutating func appendInterpolation(_ selection: AllColumns) {
        elements.append(.fragment(SelectionFragment(selection: selection.sqlSelection)))
    }

    /// `\(.allColumns(excluding: ["info"]))`: the other columns of the table.
    public mutating func appendInterpolation(_ selection: AllColumnsExcluding) {
        elements.append(.fragment(SelectionFragment(selection: selection.sqlSelection)))
    }

    /// `COLLATE \(.localizedCompare)`: the name of a collation.
    public mutating func appendInterpolation(_ collation: DatabaseCollation) {
        appendInterpolation(identifier: collation.name)
    }

    /// `\(selection)`: columns to select.
    public mutating func appendInterpolation(_ selection: SQLSelection) {
        elements.append(.fragment(SelectionFragment(selection: selection)))
    }

    /// `\(selection)`: columns to select, of a type known at run time.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ selection: some SQLSelectable) {
        appendInterpolation(selection.sqlSelection)
    }

    /// `\(ordering)`: a term of an order, of a type known at run time.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ ordering: some SQLOrderingTerm) {
        appendInterpolation(ordering.sqlOrdering)
    }

    /// `\(Column("score").desc)`: a term of an order.
    public mutating func appendInterpolation(_ ordering: SQLOrdering) {
        elements.append(.fragment(OrderingFragment(ordering: ordering)))
    }

    /// `\(Player.self)`: the name of a type's table.
    public mutating func appendInterpolation<T: TableRecord>(_ table: T.Type) {
        appendInterpolation(identifier: table.databaseTableName)
    }

    /// `\(tableOf: player)`: the name of a record's table.
    public mutating func appendInterpolation(tableOf record: any TableRecord) {
        appendInterpolation(identifier: type(of: record).databaseTableName)
    }

    /// `\(Table<Player>("player"))`: the name of a table.
    public mutating func appendInterpolation<T>(_ table: Table<T>) {
        appendInterpolation(identifier: table.tableName)
    }

    /// `\(cte)`: the name of a table that WITH defines.
    public mutating func appendInterpolation<T>(_ cte: CommonTableExpression<T>) {
        appendInterpolation(identifier: cte.tableName)
    }

    /// `WITH \(definitionFor: cte)`: the definition of a table, `"name" AS (SELECT …)`.
    public mutating func appendInterpolation<T>(definitionFor cte: CommonTableExpression<T>) {
        elements.append(.fragment(TableFragment(table: cte.table)))
    }

    /// `\(columnsOf: Player.self)`: the columns that requests for a type select, `"player".*`.
    ///
    /// - parameter tableAlias: the name of the table in the SQL; nil for its own name.
    public mutating func appendInterpolation<T: TableRecord>(columnsOf recordType: T.Type, tableAlias: String? = nil) {
        var query = SelectQuery(table: recordType.databaseTableName)
        query.identities = [TableIdentity(name: tableAlias ?? recordType.databaseTableName)]
        query.selection = recordType.selection
        elements.append(.fragment(ColumnsFragment(query: query)))
    }

    /// `\(CodingKeys.name)`: a key as a column.
    public mutating func appendInterpolation(_ key: some CodingKey & ColumnExpression) {
        elements.append(.fragment(ExpressionFragment(expression: key.sqlExpression)))
    }
}

extension SQL {
    /// An expression as SQL.
    ///
    /// ```swift
    /// let conditions = [SQL(Column("score") > 10), SQL(sql: "name LIKE 'A%'")]
    /// Player.filter(literal: conditions.joined(separator: " OR "))
    /// ```
    public init(_ expression: some SQLSpecificExpressible) {
        self.init(elements: [.fragment(ExpressionFragment(expression: expression.sqlExpression))])
    }

    /// A request as SQL: `SELECT …`.
    package init(_ query: SQLSubquery) {
        self.init(elements: [.fragment(SubqueryFragment(query: query, isInParentheses: true))])
    }

    /// A term of an order as SQL.
    package init(_ ordering: SQLOrdering) {
        self.init(elements: [.fragment(OrderingFragment(ordering: ordering))])
    }
}

private struct ExpressionFragment: QueryFragment {
    let expression: SQLExpression

    var nestingDepth: Int { expression.depth }

    func write(to writer: inout QueryWriter) throws {
        // The surrounding SQL may be ORDER BY or GROUP BY. A value is a parameter there.
        guard expression.kind != nil, try expression.mayBeNumber(writer.schema) else {
            return try writer.write(expression)
        }
        writer.write("(")
        try writer.write(term: expression)
        writer.write(")")
    }
}

private struct SubqueryFragment: QueryFragment {
    let query: SQLSubquery
    let isInParentheses: Bool

    var nestingDepth: Int { query.depth }

    func write(to writer: inout QueryWriter) throws {
        guard isInParentheses else { return try writer.write(inParentheses: query, selectsName: true) }
        try writer.write(query)
    }
}

private struct SelectionFragment: QueryFragment {
    let selection: SQLSelection

    var nestingDepth: Int { selection.depth }

    func write(to writer: inout QueryWriter) throws { try writer.write(selection) }
}

private struct OrderingFragment: QueryFragment {
    let ordering: SQLOrdering

    var nestingDepth: Int { ordering.depth }

    func write(to writer: inout QueryWriter) throws { try writer.write([ordering]) }
}

private struct TableFragment: QueryFragment {
    let table: SelectQuery.NamedTable

    var nestingDepth: Int { table.query.depth }

    var definesTable: Bool { true }

    func write(to writer: inout QueryWriter) throws { try writer.write(definition: table) }
}

private struct ColumnsFragment: QueryFragment {
    let query: SelectQuery

    var nestingDepth: Int { query.depth }

    func write(to writer: inout QueryWriter) throws {
        try writer.withTables(of: query, avoidingOuterNames: false) { try $0.writeSelections() }
    }
}

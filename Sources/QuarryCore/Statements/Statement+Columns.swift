extension Statement {
    /// The number of columns of its rows; 0 if it has none.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").columnCount // 2
    /// ```
    public var columnCount: Int {
        // Statements without columns never get some.
        let count = StatementCalls.columnCount(sqliteStatement)
        return count == 0 ? 0 : presentLayout(asksForOthers: true).names.count
    }

    /// The names of the columns, as SQLite gives them. They are those of the schema that is there now: a statement that
    /// was made before a change of the schema is prepared again when it runs.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").columnNames // ["id", "name"]
    /// ```
    public var columnNames: [String] { presentLayout(asksForOthers: true).names }

    /// The same for callers that have read the schema just now: what other connections have changed is known.
    package var knownColumnNames: [String] { presentLayout(asksForOthers: false).names }

    /// The index of the leftmost column of that name, whatever the case; nil if there is none.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").index(ofColumn: "NAME") // 1
    /// ```
    public func index(ofColumn name: String) -> Int? { presentLayout(asksForOthers: true).index(of: name) }

    /// The columns of the row that the statement stands on; those that it will have, where it has not taken a step.
    ///
    /// - parameter asksForOthers: whether to ask SQLite if other connections have changed the schema.
    private func presentLayout(asksForOthers: Bool) -> RowLayout {
        guard !StatementCalls.isBusy(sqliteStatement), lifetime.isOwned, let database = lifetime.database else {
            return layout
        }
        // Where that fails, the statement fails when it runs.
        if asksForOthers { try? database.noteForeignSchemaChanges() }
        return layoutOfSchema(database)
    }

    @inline(never)
    private func layoutOfSchema(_ database: Database) -> RowLayout {
        let count = StatementCalls.repreparationCount(sqliteStatement)
        if schemaStamp != database.schemaStamp {
            schemaStamp = database.schemaStamp
            let names = try? database.columnNames(ofFirst: sql)
            comingLayout = names.map { (RowLayout(names: $0, showsValues: layout.showsValues), count) }
        }
        if let comingLayout, comingLayout.repreparationCount == count { return comingLayout.layout }
        return layout
    }

    /// Whether `layout` is that one.
    func hasLayout(_ layout: RowLayout) -> Bool {
        currentLayout === layout && repreparationCount == StatementCalls.repreparationCount(sqliteStatement)
    }

    /// The names of the columns; made again when SQLite has prepared the statement again.
    var layout: RowLayout {
        let count = StatementCalls.repreparationCount(sqliteStatement)
        if let currentLayout, repreparationCount == count { return currentLayout }
        repreparationCount = count
        let layout = RowLayout(
            names: StatementCalls.columnNames(sqliteStatement),
            showsValues: lifetime.database?.options.publicStatementArguments ?? false)
        currentLayout = layout
        return layout
    }

    /// How often SQLite has prepared it again, because the schema had changed.
    package var repreparations: CInt { StatementCalls.repreparationCount(sqliteStatement) }
}

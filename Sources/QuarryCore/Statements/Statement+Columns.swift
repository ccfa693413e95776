extension Statement {
    /// The number of columns in the statement's rows; 0 for a statement without columns.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").columnCount // 2
    /// ```
    public var columnCount: Int {
        // A statement without columns never gains any.
        let count = handle.columnCount
        return count == 0 ? 0 : presentLayout(asksForOthers: true).names.count
    }

    /// The names of the columns, as SQLite reports them for the current schema. A statement prepared before a change of
    /// the schema is prepared again when it runs.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").columnNames // ["id", "name"]
    /// ```
    public var columnNames: [String] { presentLayout(asksForOthers: true).names }

    /// As `columnNames`, for callers that have just read the schema: the changes of other connections are known.
    package var knownColumnNames: [String] { presentLayout(asksForOthers: false).names }

    /// The index of the leftmost column with that name, ignoring case; nil if there is none.
    ///
    /// ```swift
    /// try db.makeStatement(sql: "SELECT id, name FROM player").index(ofColumn: "NAME") // 1
    /// ```
    public func index(ofColumn name: String) -> Int? { presentLayout(asksForOthers: true).index(of: name) }

    /// The columns of the statement's current row. Before the first step, the columns that the rows will have.
    ///
    /// - parameter asksForOthers: whether to check if other connections have changed the schema.
    private func presentLayout(asksForOthers: Bool) -> RowLayout {
        guard !handle.isBusy, lifetime.isOwned, let database = lifetime.database else {
            return layout
        }
        // If the check fails, the statement fails when it runs.
        if asksForOthers { try? database.noteForeignSchemaChanges() }
        return layoutOfSchema(database)
    }

    @inline(never)
    private func layoutOfSchema(_ database: Database) -> RowLayout {
        let count = handle.repreparationCount
        if schemaStamp != database.schemaStamp {
            schemaStamp = database.schemaStamp
            let names = try? database.columnNames(ofFirst: sql)
            comingLayout = names.map { (RowLayout(names: $0, showsValues: layout.showsValues), count) }
        }
        if let comingLayout, comingLayout.repreparationCount == count { return comingLayout.layout }
        return layout
    }

    /// Whether `layout` is still this statement's layout.
    func hasLayout(_ layout: RowLayout) -> Bool {
        currentLayout === layout && repreparationCount == handle.repreparationCount
    }

    /// The names of the columns. They are read again after SQLite has prepared the statement again.
    var layout: RowLayout {
        let count = handle.repreparationCount
        if let currentLayout, repreparationCount == count { return currentLayout }
        repreparationCount = count
        let layout = RowLayout(
            names: handle.columnNames,
            showsValues: lifetime.database?.options.publicStatementArguments ?? false)
        currentLayout = layout
        return layout
    }

    /// The number of times SQLite has prepared the statement again because the schema had changed.
    package var repreparations: CInt { handle.repreparationCount }
}

public import QuarryCore

// Requests for the rows of full-text tables.

extension FilteredRequest where Self: TableRequest {
    /// The rows of a full-text table that match a pattern; none for nil.
    ///
    /// ```swift
    /// let pattern = FTS5Pattern(matchingAllTokensIn: "SQLite library")
    /// let documents = try Document.all().matching(pattern).order(FTS5.rank).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "document" WHERE "document" MATCH 'sqlite library' ORDER BY "rank"
    /// ```
    public func matching(_ pattern: FTS5Pattern?) -> Self { matching(rawPattern: pattern?.rawPattern) }

    /// The rows of a full-text table that match a pattern; none for nil.
    ///
    /// ```sql
    /// SELECT * FROM "document" WHERE "document" MATCH 'sqlite library'
    /// ```
    public func matching(_ pattern: FTS3Pattern?) -> Self { matching(rawPattern: pattern?.rawPattern) }

    private func matching(rawPattern: String?) -> Self {
        guard let rawPattern else { return filter(SQLExpression.nothing) }
        return filter(SQLExpression.match(.fullTextTable(databaseTableName), rawPattern.sqlExpression))
    }
}

extension TableRecord {
    /// The rows of a full-text table that match a pattern; none for nil.
    ///
    /// ```swift
    /// let documents = try Document.matching(FTS5Pattern(matchingAnyTokenIn: "SQLite")).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "document" WHERE "document" MATCH 'sqlite'
    /// ```
    public static func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<Self> { all().matching(pattern) }

    /// The rows of a full-text table that match a pattern; none for nil.
    public static func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<Self> { all().matching(pattern) }
}

extension Table {
    /// The rows of a full-text table that match a pattern; none for nil.
    ///
    /// ```swift
    /// let rows = try Table("document").matching(FTS5Pattern(matchingAnyTokenIn: "SQLite")).fetchAll(db)
    /// ```
    public func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<RowDecoder> { all().matching(pattern) }

    /// The rows of a full-text table that match a pattern; none for nil.
    public func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<RowDecoder> { all().matching(pattern) }
}

extension ColumnExpression {
    /// Whether the column of a full-text table matches a pattern.
    ///
    /// ```swift
    /// Document.filter(Column("title").match(FTS5Pattern(matchingAnyTokenIn: "SQLite")!))
    /// ```
    /// ```sql
    /// SELECT * FROM "document" WHERE "title" MATCH 'sqlite'
    /// ```
    public func match(_ pattern: FTS5Pattern) -> SQLExpression {
        .match(sqlExpression, pattern.rawPattern.sqlExpression)
    }

    /// Whether the column of a full-text table matches a pattern; for nil, it doesn't.
    ///
    /// ```sql
    /// SELECT * FROM "document" WHERE "title" MATCH 'sqlite'
    /// ```
    public func match(_ pattern: FTS3Pattern?) -> SQLExpression {
        .match(sqlExpression, pattern?.rawPattern.sqlExpression ?? .null)
    }
}

extension SQLExpression {
    /// `"document" MATCH 'sqlite'`
    fileprivate static func match(_ value: SQLExpression, _ pattern: SQLExpression) -> SQLExpression {
        .node(.pattern(value, .match, pattern, escape: nil, isNegated: false))
    }
}

// MARK: - Rows of an indexed table

extension QueryInterfaceRequest {
    /// The rows whose text matches a pattern in the full-text table that indexes them, best match first; none for nil.
    ///
    /// ```swift
    /// let pattern = FTS5Pattern(matchingAllPrefixesIn: "moby d")
    /// let books = try Book.filter { $0.year > 1800 }.matching(pattern, in: "book_ft").limit(20).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "book".* FROM "book"
    /// JOIN (SELECT "rowid", "rank" FROM "book_ft" WHERE "book_ft" MATCH 'moby* d*' LIMIT -1) "book_ft"
    ///   ON "book_ft"."rowid" = "book"."id"
    /// WHERE "book"."year" > 1800 ORDER BY "book_ft"."rank" LIMIT 20
    /// ```
    ///
    /// The full-text table has the rowids of this request's table, as one that is synchronized with it does. The order
    /// replaces an earlier one, and a later one replaces it. `LIMIT -1` lets SQLite run the search once: without
    /// statistics, it might run it again for each row of the table
    /// (<https://www.sqlite.org/optoverview.html#flattening>).
    ///
    /// A request throws `SQLITE_MISUSE` if its table has no rowid.
    ///
    /// - parameter table: the name of the full-text table.
    /// - parameter weights: the weights of the full-text table's columns; 1 for further columns.
    public func matching(_ pattern: FTS5Pattern?, in table: String, weights: [Double] = []) -> Self {
        guard let pattern else { return filter(SQLExpression.nothing) }
        let identity = TableIdentity()
        var search = SelectQuery(table: table)
        let rank =
            weights.isEmpty
            ? SQLSelection(content: .expression(FTS5.rank.sqlExpression))
            : SQLSelection(content: .named(FTS5.bm25(of: table, weights: weights), FTS5.rank.name))
        search.selection = [SQLSelection(content: .expression(Column.rowID.sqlExpression)), rank]
        search.filter = .match(.fullTextTable(table), pattern.rawPattern.sqlExpression)
        search.limit = SelectQuery.Limit(count: -1)
        var matches = SelectQuery(.query(SQLSubquery(content: .query(search))))
        matches.clauses.derivedTable = table
        matches.identities = [identity]
        let join = Join(
            key: "\(table) MATCH", kind: .inner, condition: .rowID(indexedBy: table), query: matches, isSelected: false)
        return changing { query in
            query.clauses.joins.append(join)
            query.order([SQLOrdering(content: .expression(.node(.aliasedColumn(FTS5.rank.name, identity))))])
        }
    }
}

extension Join.Condition {
    /// The condition that a row of a full-text table, on the right, has the rowid of the row on the left.
    fileprivate static func rowID(indexedBy index: String) -> Join.Condition {
        .columns { left, _, schema in
            guard let rowID = try schema.rowIDName(of: left) else {
                throw DatabaseError.misuse(
                    "matching(_:in: \"\(index)\") finds rows by their rowid, which \(left) doesn't have: use an "
                        + "association from the full-text table, belongsTo(_:using: ForeignKey([…], to: […]))")
            }
            return [(left: rowID, right: Column.rowID.name)]
        }
    }
}

extension TableRecord {
    /// The rows whose text matches a pattern in the full-text table that indexes them, best match first; none for nil.
    ///
    /// ```swift
    /// let pattern = FTS5Pattern(matchingPhrase: "moby dick")
    /// let books = try Book.matching(pattern, in: "book_ft").fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "book".* FROM "book"
    /// JOIN (SELECT "rowid", "rank" FROM "book_ft" WHERE "book_ft" MATCH '"moby dick"' LIMIT -1) "book_ft"
    ///   ON "book_ft"."rowid" = "book"."id"
    /// ORDER BY "book_ft"."rank"
    /// ```
    ///
    /// - parameter table: the name of the full-text table, which has the rowids of this table.
    /// - parameter weights: the weights of the full-text table's columns; 1 for further columns.
    public static func matching(
        _ pattern: FTS5Pattern?, in table: String, weights: [Double] = []
    ) -> QueryInterfaceRequest<Self> {
        all().matching(pattern, in: table, weights: weights)
    }
}

extension Table {
    /// The rows whose text matches a pattern in the full-text table that indexes them, best match first; none for nil.
    ///
    /// ```swift
    /// let rows = try Table("book").matching(FTS5Pattern(matchingPhrase: "moby dick"), in: "book_ft").fetchAll(db)
    /// ```
    ///
    /// - parameter table: the name of the full-text table, which has the rowids of this table.
    /// - parameter weights: the weights of the full-text table's columns; 1 for further columns.
    public func matching(
        _ pattern: FTS5Pattern?, in table: String, weights: [Double] = []
    ) -> QueryInterfaceRequest<RowDecoder> {
        all().matching(pattern, in: table, weights: weights)
    }
}

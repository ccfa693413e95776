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

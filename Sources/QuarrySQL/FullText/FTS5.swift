public import QuarryCore

/// The module of FTS5 tables, for full-text search.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = .porter()
///     t.column("title")
///     t.column("body")
/// }
///
/// let pattern = FTS5Pattern(matchingAllTokensIn: "sqlite library")
/// let documents = try Document.matching(pattern).order(FTS5.rank).fetchAll(db)
/// ```
/// ```sql
/// CREATE VIRTUAL TABLE "document" USING fts5(title, body, tokenize='''porter''')
/// SELECT * FROM "document" WHERE "document" MATCH 'sqlite library' ORDER BY "rank"
/// ```
///
/// See <https://www.sqlite.org/fts5.html>.
public struct FTS5: Sendable {
    /// The treatment of accents.
    public enum Diacritics: Sendable {
        /// Accents are kept: `é` isn't `e`.
        case keep
        /// Accents are removed, except from letters with several accents.
        case removeLegacy
        /// Accents are removed.
        case remove
    }

    /// The module's name in SQL.
    public let moduleName = "fts5"

    /// The module.
    public init() {}
}

// MARK: - Functions

extension FTS5 {
    /// The column that sorts rows by relevance, the best first:
    /// <https://www.sqlite.org/fts5.html#sorting_by_auxiliary_function_results>.
    ///
    /// ```swift
    /// Document.matching(pattern).order(FTS5.rank)
    /// ```
    public static let rank = Column.rank

    /// The relevance of a row; the lower the better: `BM25("document", 10.0, 5.0)`.
    ///
    /// ```swift
    /// Document.matching(pattern).order(FTS5.bm25(of: "document", weights: [10, 5]))
    /// ```
    ///
    /// See <https://www.sqlite.org/fts5.html#the_bm25_function>.
    ///
    /// - parameter table: the name of the full-text table.
    /// - parameter weights: the weights of the columns; 1 for further columns.
    public static func bm25(of table: String, weights: [Double] = []) -> SQLExpression {
        .function("BM25", [.fullTextTable(table)] + weights.map(\.sqlExpression))
    }

    /// The text of a column, with marks around the phrases found: `HIGHLIGHT("document", 0, '<b>', '</b>')`.
    ///
    /// ```swift
    /// Document.matching(pattern)
    ///     .select(FTS5.highlight(Column("title"), of: "document", open: "<b>", close: "</b>"))
    /// ```
    ///
    /// See <https://www.sqlite.org/fts5.html#the_highlight_function>.
    ///
    /// - parameter column: a column of the full-text table.
    /// - parameter table: the name of the full-text table.
    /// - parameter open: the text before each phrase.
    /// - parameter close: the text after each phrase.
    public static func highlight(
        _ column: some ColumnExpression, of table: String, open: String, close: String
    ) -> SQLExpression {
        .function(
            "HIGHLIGHT",
            [
                .fullTextTable(table), .columnNumber(column.name, of: table), open.sqlExpression, close.sqlExpression,
            ])
    }

    /// A part of the text with phrases of the query: `SNIPPET("document", 1, '<b>', '</b>', '…', 15)`.
    ///
    /// See <https://www.sqlite.org/fts5.html#the_snippet_function>.
    ///
    /// - parameter column: the column whose text is shown; nil for the one that matches best.
    /// - parameter table: the name of the full-text table.
    /// - parameter open: the text before each phrase.
    /// - parameter close: the text after each phrase.
    /// - parameter ellipsis: the text in place of omitted text.
    /// - parameter tokenCount: the number of words shown, from 1 to 64.
    public static func snippet(
        _ column: (any ColumnExpression)? = nil, of table: String, open: String, close: String,
        ellipsis: String = "…", tokenCount: Int = 15
    ) -> SQLExpression {
        .function(
            "SNIPPET",
            [
                .fullTextTable(table),
                column.map { .columnNumber($0.name, of: table) } ?? SQLExpression(content: .value((-1).databaseValue)),
                open.sqlExpression, close.sqlExpression, ellipsis.sqlExpression, tokenCount.sqlExpression,
            ])
    }

    /// A call of an auxiliary function: `hits("document")`.
    ///
    /// ```swift
    /// Document.matching(pattern).select(FTS5.call("hits", of: "document"))
    /// ```
    ///
    /// - parameter name: the name of the function, such as an `FTS5Function`'s.
    /// - parameter table: the name of the full-text table.
    /// - parameter arguments: the arguments after the table.
    public static func call(
        _ name: String, of table: String, _ arguments: any SQLExpressible...
    ) -> SQLExpression {
        .function(name.moduleName, [.fullTextTable(table)] + arguments.map(\.sqlExpression))
    }
}

extension Column {
    /// The column of FTS5 tables that sorts rows by relevance, the best first: `"rank"`.
    ///
    /// ```swift
    /// Document.matching(pattern).order(Column.rank)
    /// ```
    ///
    /// See <https://www.sqlite.org/fts5.html#sorting_by_auxiliary_function_results>.
    public static let rank = Column("rank")
}

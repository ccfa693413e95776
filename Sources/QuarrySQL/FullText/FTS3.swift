public import QuarryCore

/// The module of FTS3 tables, for full-text search.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS3()) { t in
///     t.column("content")
///     t.tokenizer = .porter
/// }
/// ```
/// ```sql
/// CREATE VIRTUAL TABLE "document" USING fts3(content, tokenize=porter)
/// ```
///
/// Prefer FTS5 for new tables. See <https://www.sqlite.org/fts3.html>.
public struct FTS3: FTS3Functions, Sendable {
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
    public let moduleName = "fts3"

    /// The module.
    public init() {}
}

/// A tokenizer of FTS3 and FTS4, and its options: <https://www.sqlite.org/fts3.html#tokenizer>.
public struct FTS3TokenizerDescriptor: Sendable {
    package let name: String
    package let arguments: [String]

    package init(_ name: String, _ arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Words of ASCII letters and digits, without their case. Characters outside ASCII belong to words.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// As `simple`, with English words reduced to their stems.
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Words of Unicode letters and digits, without their case.
    ///
    /// ```swift
    /// t.tokenizer = .unicode61(tokenCharacters: ["-"])
    /// ```
    /// ```sql
    /// tokenize=unicode61 "tokenchars=-"
    /// ```
    ///
    /// - parameter diacritics: the treatment of accents.
    /// - parameter separators: characters that end words.
    /// - parameter tokenCharacters: characters that belong to words.
    public static func unicode61(
        diacritics: FTS3.Diacritics = .removeLegacy, separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS3TokenizerDescriptor {
        var arguments: [String] = []
        switch diacritics {
        case .removeLegacy: break
        case .keep: arguments.append("remove_diacritics=0")
        case .remove: arguments.append("remove_diacritics=2")
        }
        if !separators.isEmpty { arguments.append("separators=" + String(separators.sorted())) }
        if !tokenCharacters.isEmpty { arguments.append("tokenchars=" + String(tokenCharacters.sorted())) }
        return FTS3TokenizerDescriptor("unicode61", arguments)
    }

    /// `unicode61 "tokenchars=-"`
    var sql: String { ([name] + arguments.map(\.quotedDatabaseIdentifier)).joined(separator: " ") }
}

/// The definition of an FTS3 table.
public final class FTS3TableDefinition {
    /// The tokenizer; nil for `simple`.
    public var tokenizer: FTS3TokenizerDescriptor?

    private var columns: [String] = []

    package init() {}

    /// Adds a column.
    public func column(_ name: String) { columns.append(name) }

    /// The arguments of the module.
    package var arguments: [String] {
        columns.map(\.moduleName) + (tokenizer.map { ["tokenize=\($0.sql)"] } ?? [])
    }
}

extension String {
    /// A name among the arguments of a module, in quotes if needed.
    var moduleName: String {
        let isWord =
            !isEmpty && !utf8.contains { !(48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 || $0 == 95) }
            && !(48...57 ~= utf8.first ?? 48) && !isSameName(as: "tokenize")
        return isWord ? self : quotedDatabaseIdentifier
    }
}

/// The functions of FTS3 and FTS4 that compute a value from a row found by a full-text query:
/// <https://www.sqlite.org/fts3.html#snippet>.
public protocol FTS3Functions {}

extension FTS3Functions {
    /// A part of the text with words of the query: `SNIPPET("document", '<b>', '</b>', '…', -1, 15)`.
    ///
    /// ```swift
    /// Document.matching(pattern).select(FTS4.snippet(of: "document", open: "<b>", close: "</b>"))
    /// ```
    ///
    /// - parameter table: the name of the full-text table.
    /// - parameter column: the column whose text is shown; nil for the one that matches best.
    /// - parameter open: the text before each word found.
    /// - parameter close: the text after each word found.
    /// - parameter ellipsis: the text in place of omitted text.
    /// - parameter tokenCount: the approximate number of words shown, up to 64.
    public static func snippet(
        of table: String, column: (any ColumnExpression)? = nil, open: String, close: String, ellipsis: String = "…",
        tokenCount: Int = 15
    ) -> SQLExpression {
        .function(
            "SNIPPET",
            [
                .fullTextTable(table), open.sqlExpression, close.sqlExpression, ellipsis.sqlExpression,
                column.map { .columnNumber($0.name, of: table) } ?? SQLExpression(content: .value((-1).databaseValue)),
                tokenCount.sqlExpression,
            ])
    }

    /// The positions of the query's words, as a text of numbers: `OFFSETS("document")`.
    ///
    /// See <https://www.sqlite.org/fts3.html#offsets>.
    ///
    /// - parameter table: the name of the full-text table.
    public static func offsets(of table: String) -> SQLExpression { .function("OFFSETS", [.fullTextTable(table)]) }

    /// Numbers about the row, as a blob of 32-bit integers: `MATCHINFO("document", 'pcx')`.
    ///
    /// See <https://www.sqlite.org/fts3.html#matchinfo>.
    ///
    /// - parameter table: the name of the full-text table.
    /// - parameter format: a letter for each kind of number.
    public static func matchinfo(of table: String, format: String = "pcx") -> SQLExpression {
        .function("MATCHINFO", [.fullTextTable(table), format.sqlExpression])
    }
}

extension SQLExpression {
    /// The hidden column with a full-text table's name, which represents the table.
    static func fullTextTable(_ name: String) -> SQLExpression { SQLExpression(content: .column(name)) }

    /// The number of a column among those of its table, from 0.
    static func columnNumber(_ column: String, of table: String) -> SQLExpression {
        .node(.columnNumber(column, table: table))
    }
}

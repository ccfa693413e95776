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
/// FTS5 is better in all but age. See <https://www.sqlite.org/fts3.html>.
public struct FTS3: FTS3Functions, Sendable {
    /// What becomes of the accents of letters.
    public enum Diacritics: Sendable {
        /// They count: `é` isn't `e`.
        case keep
        /// They are removed, except where a letter has several.
        case removeLegacy
        /// They are removed.
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

    /// Words of ASCII letters and digits, whatever their case. All that isn't ASCII belongs to words.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// As `simple`, and English words without their endings.
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Words of letters and digits of Unicode, whatever their case.
    ///
    /// ```swift
    /// t.tokenizer = .unicode61(tokenCharacters: ["-"])
    /// ```
    /// ```sql
    /// tokenize=unicode61 "tokenchars=-"
    /// ```
    ///
    /// - parameter diacritics: what becomes of accents.
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
    /// How texts become words; nil for `simple`.
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
    /// A name among the arguments of a module: in quotes where it is no word.
    var moduleName: String {
        let isWord =
            !isEmpty && !utf8.contains { !(48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 || $0 == 95) }
            && !(48...57 ~= utf8.first ?? 48) && !isSameName(as: "tokenize")
        return isWord ? self : quotedDatabaseIdentifier
    }
}

/// What FTS3 and FTS4 compute from a row that a full-text query has found:
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
    /// - parameter column: the column whose text is shown; nil for that which fits best.
    /// - parameter open: stands before each word that was found.
    /// - parameter close: stands behind it.
    /// - parameter ellipsis: stands where text is left out.
    /// - parameter tokenCount: about how many words are shown, up to 64.
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

    /// Where the words of the query stand, as a text of numbers: `OFFSETS("document")`.
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
    /// - parameter format: which numbers, a letter for each kind.
    public static func matchinfo(of table: String, format: String = "pcx") -> SQLExpression {
        .function("MATCHINFO", [.fullTextTable(table), format.sqlExpression])
    }
}

extension SQLExpression {
    /// The hidden column that stands for a full-text table: it has the table's name.
    static func fullTextTable(_ name: String) -> SQLExpression { SQLExpression(content: .column(name)) }

    /// The number of a column among those of its table, from 0.
    static func columnNumber(_ column: String, of table: String) -> SQLExpression {
        .node(.columnNumber(column, table: table))
    }
}

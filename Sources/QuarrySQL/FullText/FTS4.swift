import QuarryCore

/// The module of FTS4 tables, for full-text search.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS4()) { t in
///     t.tokenizer = .unicode61()
///     t.column("content")
///     t.column("uuid").notIndexed()
/// }
/// ```
/// ```sql
/// CREATE VIRTUAL TABLE "document" USING fts4(content, uuid, notindexed=uuid, tokenize=unicode61)
/// ```
///
/// See <https://www.sqlite.org/fts3.html>.
public struct FTS4: FTS3Functions, Sendable {
    /// The module's name in SQL.
    public let moduleName = "fts4"

    /// The module.
    public init() {}
}

/// The definition of an FTS4 table: <https://www.sqlite.org/fts3.html#fts4_options>.
public final class FTS4TableDefinition {
    /// The tokenizer; nil for `simple`.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// The table with the texts, so that they aren't stored twice; empty to store no texts.
    ///
    /// See <https://www.sqlite.org/fts3.html#_external_content_fts4_tables_>.
    public var content: String? {
        get { contentTable.name }
        set { contentTable = FullTextContent(name: newValue) }
    }

    /// The function that compresses texts.
    public var compress: String?

    /// The function that restores the texts that `compress` has compressed.
    public var uncompress: String?

    /// `fts3` to store fewer facts about each row.
    public var matchinfo: String?

    /// The lengths of prefixes that have their own index, which makes prefix searches fast.
    public var prefixes: Set<Int>?

    package let configuration: VirtualTableConfiguration
    package private(set) var contentTable = FullTextContent()
    private var columns: [FTS4ColumnDefinition] = []

    package init(configuration: VirtualTableConfiguration) { self.configuration = configuration }

    /// Adds a column.
    @discardableResult
    public func column(_ name: String) -> FTS4ColumnDefinition {
        let column = FTS4ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Indexes the texts of a table, and keeps the full-text table up to date by triggers.
    ///
    /// ```swift
    /// try db.create(virtualTable: "book_ft", using: FTS4()) { t in
    ///     t.synchronize(withTable: "book")
    ///     t.column("title")
    /// }
    /// ```
    ///
    /// The columns are columns of that table, which needs a rowid. Drop the triggers before the full-text table:
    /// `dropFTS4SynchronizationTriggers(forTable:)`.
    public func synchronize(withTable tableName: String) {
        contentTable = FullTextContent(name: tableName, isSynchronized: true)
    }

    /// The columns with texts.
    package var columnNames: [String] { columns.filter { !$0.isLanguageID }.map(\.name) }

    /// The arguments of the module.
    package var arguments: [String] {
        var arguments = columnNames.map(\.moduleName)
        for column in columns where column.isNotIndexed && !column.isLanguageID {
            arguments.append("notindexed=\(column.name.moduleName)")
        }
        for column in columns where column.isLanguageID {
            arguments.append("languageid=\(column.name.quotedDatabaseIdentifier)")
        }
        if let tokenizer { arguments.append("tokenize=\(tokenizer.sql)") }
        if let content { arguments.append("content=\(content.quotedDatabaseIdentifier)") }
        if let compress { arguments.append("compress=\(compress.quotedDatabaseIdentifier)") }
        if let uncompress { arguments.append("uncompress=\(uncompress.quotedDatabaseIdentifier)") }
        if let matchinfo { arguments.append("matchinfo=\(matchinfo.quotedDatabaseIdentifier)") }
        if let prefixes, !prefixes.isEmpty {
            arguments.append("prefix=\"\(prefixes.sorted().map(String.init).joined(separator: ","))\"")
        }
        return arguments
    }
}

/// A column of an FTS4 table.
public final class FTS4ColumnDefinition {
    fileprivate let name: String
    fileprivate var isNotIndexed = false
    fileprivate var isLanguageID = false

    fileprivate init(name: String) { self.name = name }

    /// Stores the column without indexing it: <https://www.sqlite.org/fts3.html#the_notindexed_option>.
    @discardableResult
    public func notIndexed() -> Self {
        isNotIndexed = true
        return self
    }

    /// Makes the column the number of the text's language: <https://www.sqlite.org/fts3.html#the_languageid_option>.
    @discardableResult
    public func asLanguageId() -> Self {
        isLanguageID = true
        return self
    }
}

/// The place of a full-text table's texts.
package struct FullTextContent: Sendable {
    /// The table with the texts; nil for the full-text table itself, empty for none.
    package var name: String?
    /// Whether triggers of that table keep the full-text table up to date.
    package var isSynchronized = false
}

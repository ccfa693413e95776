import QuarryCore

/// The definition of an FTS5 table: <https://www.sqlite.org/fts5.html#fts5_table_creation_and_initialization>.
public final class FTS5TableDefinition {
    /// The tokenizer; nil for `unicode61`.
    public var tokenizer: FTS5TokenizerDescriptor?

    /// The table with the texts, so that they aren't stored twice; empty to store no texts.
    ///
    /// See <https://www.sqlite.org/fts5.html#external_content_and_contentless_tables>.
    public var content: String? {
        get { contentTable.name }
        set { contentTable = FullTextContent(name: newValue) }
    }

    /// The column of the content table that is its rowid; nil for `rowid`.
    public var contentRowID: String? {
        get { chosenContentRowID }
        set {
            chosenContentRowID = newValue
            contentTable.isSynchronized = false
        }
    }

    /// The lengths of prefixes that have their own index, which makes prefix searches fast.
    public var prefixes: Set<Int>?

    /// 0 to not store the number of words of each text: <https://www.sqlite.org/fts5.html#the_columnsize_option>.
    public var columnSize: Int?

    /// `column` or `none` to store fewer facts about the positions of words:
    /// <https://www.sqlite.org/fts5.html#the_detail_option>.
    public var detail: String?

    package let configuration: VirtualTableConfiguration
    package private(set) var contentTable = FullTextContent()
    private var chosenContentRowID: String?
    private var columns: [FTS5ColumnDefinition] = []

    package init(configuration: VirtualTableConfiguration) { self.configuration = configuration }

    /// Adds a column.
    @discardableResult
    public func column(_ name: String) -> FTS5ColumnDefinition {
        let column = FTS5ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// Indexes the texts of a table, and keeps the full-text table up to date by triggers.
    ///
    /// ```swift
    /// try db.create(virtualTable: "book_ft", using: FTS5()) { t in
    ///     t.synchronize(withTable: "book")
    ///     t.column("title")
    /// }
    /// ```
    ///
    /// The columns are columns of that table, which needs a rowid. Drop the triggers before the full-text table:
    /// `dropFTS5SynchronizationTriggers(forTable:)`.
    public func synchronize(withTable tableName: String) {
        chosenContentRowID = nil
        contentTable = FullTextContent(name: tableName, isSynchronized: true)
    }

    /// The columns.
    package var columnNames: [String] { columns.map(\.name) }

    /// The arguments of the module.
    ///
    /// - parameter synchronizedRowID: the rowid column of the table that the full-text table is synchronized with; nil
    ///   for a hidden rowid.
    package func arguments(synchronizedRowID: String? = nil) throws -> [String] {
        guard !columns.isEmpty else {
            throw DatabaseError.misuse("an FTS5 table has at least one column")
        }
        var arguments = columns.map { $0.name.moduleName + ($0.isIndexed ? "" : " UNINDEXED") }
        if let tokenizer {
            guard !tokenizer.components.isEmpty else {
                throw DatabaseError.misuse("a tokenizer has no name")
            }
            if let text = tokenizer.components.first(where: { $0.utf8.contains(0) }) {
                throw DatabaseError.misuse(
                    "the arguments of a tokenizer have a NUL character: \(String(reflecting: text))")
            }
            arguments.append("tokenize=\(tokenizer.sql.sqlLiteral)")
        }
        if let content { arguments.append("content=\(content.sqlLiteral)") }
        if let rowID = contentTable.isSynchronized ? synchronizedRowID : contentRowID {
            arguments.append("content_rowid=\(rowID.sqlLiteral)")
        }
        if let prefixes, !prefixes.isEmpty {
            arguments.append("prefix='\(prefixes.sorted().map(String.init).joined(separator: " "))'")
        }
        if let columnSize { arguments.append("columnSize=\(columnSize)") }
        if let detail { arguments.append("detail=\(detail.moduleName)") }
        return arguments
    }
}

/// A column of an FTS5 table.
public final class FTS5ColumnDefinition {
    fileprivate let name: String
    fileprivate var isIndexed = true

    fileprivate init(name: String) { self.name = name }

    /// Stores the column without indexing it: <https://www.sqlite.org/fts5.html#the_unindexed_column_option>.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }
}

public import QuarryCore

/// Columns that a query can select: columns, expressions, all columns of a table.
///
/// ```swift
/// Player.select(Column("name"), (Column("score") + 1).forKey("next"))
/// ```
/// ```sql
/// SELECT "name", "score" + 1 AS "next" FROM "player"
/// ```
public protocol SQLSelectable {
    /// The selection.
    var sqlSelection: SQLSelection { get }
}

/// One or more result columns: <https://www.sqlite.org/syntax/result-column.html>.
public struct SQLSelection: Sendable, SQLSelectable {
    package indirect enum Content: Sendable {
        /// `*`
        case allColumns
        /// `"a", "b"`: all columns except some.
        case allColumnsExcluding([String])
        /// `x`
        case expression(SQLExpression)
        /// `x AS "name"`
        case named(SQLExpression, String)
        /// Raw SQL, with any number of columns.
        case sql(SQL)
        /// The columns of the primary key.
        case primaryKey
        /// A function of the schema, for columns that are only known once a schema is available.
        case deferred(@Sendable (any QuerySchema) throws -> [SQLSelection])
        /// A selection from one of several tables.
        case of(TableIdentity, SQLSelection)
    }

    package let content: Content

    package init(content: Content) {
        self.content = content
    }

    /// The selection itself.
    public var sqlSelection: SQLSelection { self }
}

/// All columns of a table: `*`.
///
/// ```swift
/// struct Player: TableRecord {
///     static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
/// }
/// ```
/// ```sql
/// SELECT *, "rowid" FROM "player"
/// ```
public struct AllColumns: SQLSelectable, Sendable {
    /// All columns.
    public init() {}

    /// All columns.
    public var sqlSelection: SQLSelection { SQLSelection(content: .allColumns) }
}

/// All columns of a table except some.
public struct AllColumnsExcluding: SQLSelectable, Sendable {
    private let names: [String]

    /// All columns except those with the given names, ignoring case.
    public init(_ excludedColumns: some Collection<String>) { names = Array(excludedColumns) }

    /// The columns, written by name once the table is known.
    public var sqlSelection: SQLSelection { SQLSelection(content: .allColumnsExcluding(names)) }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == AllColumnsExcluding {
    /// All columns except some.
    ///
    /// ```swift
    /// Player.select(.allColumns(excluding: ["avatar"]))
    /// ```
    /// ```sql
    /// SELECT "id", "name", "score" FROM "player"
    /// ```
    public static func allColumns(excluding excludedColumns: some Collection<String>) -> Self {
        AllColumnsExcluding(excludedColumns)
    }

    /// All columns except some.
    public static func allColumns(excluding excludedColumns: some Collection<any ColumnExpression>) -> Self {
        AllColumnsExcluding(excludedColumns.map(\.name))
    }
}

extension SQLSelectable where Self == Column {
    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

extension SQLOrderingTerm where Self == Column {
    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

extension SQLExpressible where Self == Column {
    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

extension SQLSpecificExpressible where Self == Column {
    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

extension SQLSpecificExpressible {
    /// The expression under a name: `"score" + 1 AS "next"`.
    public func forKey(_ key: String) -> SQLSelection { SQLSelection(content: .named(sqlExpression, key)) }

    /// The expression under a name.
    public func forKey(_ key: some CodingKey) -> SQLSelection { forKey(key.stringValue) }
}

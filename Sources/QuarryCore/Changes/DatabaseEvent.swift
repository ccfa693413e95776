/// A change of a row, as a `TransactionObserver` receives it.
public struct DatabaseEvent: Hashable, Sendable {
    /// The kind of a change. The raw values are SQLite's numbers: <https://www.sqlite.org/c3ref/c_alter_table.html>.
    public enum Kind: CInt, Sendable {
        /// A row that has come.
        case insert = 18
        /// A row that has gone.
        case delete = 9
        /// A row that has other values.
        case update = 23
    }

    /// The kind of the change.
    public let kind: Kind

    /// `main`, `temp`, or the name of an attached database.
    public let databaseName: String

    /// The table.
    public let tableName: String

    /// The row. For a table WITHOUT ROWID it is 0.
    public let rowID: Int64

    package init(kind: Kind, databaseName: String, tableName: String, rowID: Int64) {
        self.kind = kind
        self.databaseName = databaseName
        self.tableName = tableName
        self.rowID = rowID
    }

    /// The event itself: events are values, and may be kept.
    public func copy() -> DatabaseEvent { self }
}

/// A kind of changes that a statement makes.
///
/// ```swift
/// func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
///     switch eventKind {
///     case .insert(let table), .delete(let table): table == "player"
///     case .update(let table, let columns): table == "player" && columns.contains("score")
///     }
/// }
/// ```
public enum DatabaseEventKind: Hashable, Sendable {
    /// Rows come.
    case insert(tableName: String)
    /// Rows go.
    case delete(tableName: String)
    /// Columns of rows get other values.
    case update(tableName: String, columnNames: Set<String>)

    /// The table.
    public var tableName: String {
        switch self {
        case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
        }
    }
}

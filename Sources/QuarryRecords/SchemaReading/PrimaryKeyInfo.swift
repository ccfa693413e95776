/// The primary key of a table, as returned by `Database.primaryKey(_:in:)`.
///
/// ```swift
/// // CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)
/// try db.primaryKey("player").columns     // ["id"]
/// try db.primaryKey("player").rowIDColumn // "id"
///
/// // CREATE TABLE country (code TEXT PRIMARY KEY)
/// try db.primaryKey("country").columns    // ["code"]
///
/// // CREATE TABLE log (message TEXT)
/// try db.primaryKey("log").columns        // ["rowid"]
/// ```
public struct PrimaryKeyInfo: Hashable, Sendable {
    /// The columns, in the order of the key. For a hidden rowid, a name of the rowid.
    public let columns: [String]

    /// The rowid column; nil if there is none: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public let rowIDColumn: String?

    /// Whether the key is the rowid, hidden or not.
    public let isRowID: Bool

    /// Whether rows have a rowid: rows of WITHOUT ROWID tables and of views have none.
    public let tableHasRowID: Bool

    init(columns: [String], isRowID: Bool, rowIDColumn: String? = nil, tableHasRowID: Bool = true) {
        self.columns = columns
        self.isRowID = isRowID
        self.rowIDColumn = rowIDColumn
        self.tableHasRowID = tableHasRowID
    }
}

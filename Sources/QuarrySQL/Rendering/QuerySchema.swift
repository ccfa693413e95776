package import QuarryCore

/// What the rendering of a query asks about tables: all that it knows besides the query.
///
/// A connection is one (`Database+QuerySchema.swift`); a test takes a dictionary.
package protocol QuerySchema: SQLContext {
    /// The primary key of a table, or the name of its rowid.
    ///
    /// - throws: `DatabaseError` if there is no such table, or it is a view without a key.
    func keyColumns(of table: String) throws -> [String]

    /// A column, or the rowid, that differs from row to row.
    func rowColumn(of table: String) throws -> String?

    /// Whether it is a view whose rows no column tells apart.
    func isViewWithoutKey(_ table: String) throws -> Bool

    /// The columns of a table or view, as `SELECT *` gives them.
    func columnNames(of table: String) throws -> [String]

    /// The columns of a table that together are unique: its primary key, and its unique indexes that aren't partial.
    func uniqueKeys(of table: String) throws -> [[String]]

    /// Which columns of a table refer to which columns of others.
    func references(from table: String) throws -> [TableReference]
}

/// A foreign key of a table.
package struct TableReference: Sendable {
    package var destination: String
    package var columns: [(origin: String, destination: String)]

    package init(destination: String, columns: [(origin: String, destination: String)]) {
        self.destination = destination
        self.columns = columns
    }
}

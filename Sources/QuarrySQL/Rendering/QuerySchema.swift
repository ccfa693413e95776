package import QuarryCore

/// The facts about tables that rendering a query requires.
///
/// A connection conforms (`Database+QuerySchema.swift`); tests pass a dictionary.
package protocol QuerySchema: SQLContext {
    /// The primary key of a table, or the name of its rowid.
    ///
    /// - throws: `DatabaseError` if the table doesn't exist, or is a view without a key.
    func keyColumns(of table: String) throws -> [String]

    /// Whether rows may have NULL in a column of their primary key:
    /// <https://www.sqlite.org/lang_createtable.html#the_primary_key>.
    func keyMayBeNull(of table: String) throws -> Bool

    /// A column, or the rowid, that is never NULL and has a different value in each row; the first column of the key if
    /// only the whole key has a different value in each row. nil if SQL can't name the rowid, and the key may be NULL.
    func rowColumn(of table: String) throws -> String?

    /// A column, or another name, by which SQL names the rowid; nil if there is none.
    func rowIDName(of table: String) throws -> String?

    /// Whether the table is a view without a column that identifies its rows.
    func isViewWithoutKey(_ table: String) throws -> Bool

    /// The columns of a table or view, in the order of `SELECT *`.
    func columnNames(of table: String) throws -> [String]

    /// Whether rows may have NULL in a column; true for what isn't a column of the table.
    func columnMayBeNull(_ column: String, of table: String) throws -> Bool

    /// The sets of columns that are unique together: the primary key, and the unique indexes that aren't partial.
    func uniqueKeys(of table: String) throws -> [[String]]

    /// The foreign keys of a table: its columns, and the columns that they reference.
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

/// The rowid of a table: <https://www.sqlite.org/lang_createtable.html#rowid>.
package enum RowID {
    /// The names by which SQL reads it, unless a column has them.
    package static let names = ["rowid", "_rowid_", "oid"]
}

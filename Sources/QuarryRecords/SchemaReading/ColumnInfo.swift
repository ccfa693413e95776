public import QuarryCore
public import QuarrySQL

/// A column of a table or view, as returned by `Database.columns(in:in:)`.
///
/// See <https://www.sqlite.org/pragma.html#pragma_table_xinfo>.
public struct ColumnInfo: Hashable, Sendable {
    /// The time when a generated column is computed: <https://www.sqlite.org/gencol.html>.
    public enum Generation: Hashable, Sendable {
        /// When it is read.
        case virtual
        /// When its row is written.
        case stored
    }

    /// The name.
    public let name: String

    /// The declared type; empty if there is none.
    public let type: String

    /// Whether the column was declared NOT NULL.
    public let isNotNull: Bool

    /// The default value in SQL: `0`, `'text'`, `CURRENT_TIMESTAMP`; nil if there is none.
    public let defaultValueSQL: String?

    /// The position in the primary key, from 1; 0 for other columns.
    public let primaryKeyIndex: Int

    /// The time when a generated column is computed; nil for other columns.
    public let generation: Generation?

    /// The type for table definitions; nil if there is none.
    public var columnType: Database.ColumnType? { type.isEmpty ? nil : Database.ColumnType(rawValue: type) }
}

extension ColumnInfo {
    /// A column from a row of `table_info` or `table_xinfo`.
    ///
    /// ```swift
    /// let columns = try ColumnInfo.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo('player')") // [ColumnInfo]
    /// ```
    ///
    /// `table_info` omits generated columns, and doesn't mark a column as generated.
    ///
    /// - throws: `RowDecodingError` for a row with other columns.
    public init(row: borrowing Row) throws {
        name = try row.decode(forColumn: "name")
        type = try row.decode(forColumn: "type")
        isNotNull = try row.decode(forColumn: "notnull")
        defaultValueSQL = try row.decode(forColumn: "dflt_value")
        primaryKeyIndex = try row.decode(forColumn: "pk")
        let hidden: Int? = row["hidden"]
        generation =
            switch hidden {
            case 2: .virtual
            case 3: .stored
            default: nil
            }
    }
}

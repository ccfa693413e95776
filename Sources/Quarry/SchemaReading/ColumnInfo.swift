public import QuarryCore
public import QuarrySQL

/// A column of a table or view, as `Database.columns(in:in:)` tells it.
///
/// See <https://www.sqlite.org/pragma.html#pragma_table_xinfo>.
public struct ColumnInfo: Hashable, Sendable {
    /// When a generated column is computed: <https://www.sqlite.org/gencol.html>.
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

    /// Whether it was declared NOT NULL.
    public let isNotNull: Bool

    /// The default value in SQL: `0`, `'text'`, `CURRENT_TIMESTAMP`; nil if there is none.
    public let defaultValueSQL: String?

    /// The position in the primary key, from 1; 0 for other columns.
    public let primaryKeyIndex: Int

    /// When a generated column is computed; nil for those that are stored as they are given.
    public let generation: Generation?

    init(_ row: Row, hidden: Int) {
        name = row["name"]
        type = row["type"]
        isNotNull = row["notnull"]
        defaultValueSQL = row["dflt_value"]
        primaryKeyIndex = row["pk"]
        generation =
            switch hidden {
            case 2: .virtual
            case 3: .stored
            default: nil
            }
    }

    /// The type as table definitions take it; nil if there is none.
    public var columnType: Database.ColumnType? { type.isEmpty ? nil : Database.ColumnType(rawValue: type) }
}

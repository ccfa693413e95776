/// The declared type of a column.
///
/// ```swift
/// t.column("name", .text)
/// t.column("area", Database.ColumnType(rawValue: "POLYGON"))
/// ```
///
/// SQLite accepts any name, and stores any value in any column, unless the table is STRICT. The type determines the
/// column's affinity. See <https://www.sqlite.org/datatype3.html#type_affinity>.
public struct SQLColumnType: RawRepresentable, Hashable, Sendable {
    /// The type in SQL.
    public let rawValue: String

    /// The type with that SQL.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `TEXT`
    public static let text = SQLColumnType(rawValue: "TEXT")
    /// `INTEGER`
    public static let integer = SQLColumnType(rawValue: "INTEGER")
    /// `DOUBLE`: a real.
    public static let double = SQLColumnType(rawValue: "DOUBLE")
    /// `REAL`
    public static let real = SQLColumnType(rawValue: "REAL")
    /// `NUMERIC`: integers, reals, and text that is neither.
    public static let numeric = SQLColumnType(rawValue: "NUMERIC")
    /// `BOOLEAN`: 0 or 1.
    public static let boolean = SQLColumnType(rawValue: "BOOLEAN")
    /// `BLOB`
    public static let blob = SQLColumnType(rawValue: "BLOB")
    /// `DATE`
    public static let date = SQLColumnType(rawValue: "DATE")
    /// `DATETIME`
    public static let datetime = SQLColumnType(rawValue: "DATETIME")
    /// `ANY`: in a STRICT table, a column that stores all values unchanged.
    public static let any = SQLColumnType(rawValue: "ANY")
    /// `TEXT`, for JSON.
    public static let jsonText = SQLColumnType(rawValue: "TEXT")
    /// `BLOB`, for JSON in SQLite's binary form.
    public static let jsonb = SQLColumnType(rawValue: "BLOB")
}

/// The action on referencing rows when the referenced row is deleted, or its key changes:
/// <https://www.sqlite.org/foreignkeys.html#fk_actions>.
public enum SQLForeignKeyAction: String, Sendable {
    /// Deletes or updates the referencing rows.
    case cascade = "CASCADE"
    /// Refuses the change, even if the constraint is deferred.
    case restrict = "RESTRICT"
    /// Sets their columns to NULL.
    case setNull = "SET NULL"
    /// Sets their columns to the default values.
    case setDefault = "SET DEFAULT"
}

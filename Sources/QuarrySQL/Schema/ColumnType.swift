public import QuarryCore

extension Database {
    /// The declared type of a column.
    ///
    /// ```swift
    /// t.column("name", .text)
    /// t.column("area", Database.ColumnType(rawValue: "POLYGON"))
    /// ```
    ///
    /// SQLite takes any name, and stores any value in any column, unless the table is STRICT: the type gives the column
    /// its affinity. See <https://www.sqlite.org/datatype3.html#type_affinity>.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        /// The type in SQL.
        public let rawValue: String

        /// The type with that SQL.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `TEXT`
        public static let text = ColumnType(rawValue: "TEXT")
        /// `INTEGER`
        public static let integer = ColumnType(rawValue: "INTEGER")
        /// `DOUBLE`: a real.
        public static let double = ColumnType(rawValue: "DOUBLE")
        /// `REAL`
        public static let real = ColumnType(rawValue: "REAL")
        /// `NUMERIC`: integers, reals, and text that is neither.
        public static let numeric = ColumnType(rawValue: "NUMERIC")
        /// `BOOLEAN`: 0 or 1.
        public static let boolean = ColumnType(rawValue: "BOOLEAN")
        /// `BLOB`
        public static let blob = ColumnType(rawValue: "BLOB")
        /// `DATE`
        public static let date = ColumnType(rawValue: "DATE")
        /// `DATETIME`
        public static let datetime = ColumnType(rawValue: "DATETIME")
        /// `ANY`: in a STRICT table, a column that takes values as they are.
        public static let any = ColumnType(rawValue: "ANY")
        /// `TEXT`, for JSON.
        public static let jsonText = ColumnType(rawValue: "TEXT")
        /// `BLOB`, for JSON in SQLite's binary form.
        public static let jsonb = ColumnType(rawValue: "BLOB")
    }

    /// The type that a value is cast to: `cast(Column("score"), as: .real)`.
    public typealias StorageClass = ColumnType

    /// What happens to the child rows when a parent row goes, or its key changes:
    /// <https://www.sqlite.org/foreignkeys.html#fk_actions>.
    public enum ForeignKeyAction: String, Sendable {
        /// They go, or change, too.
        case cascade = "CASCADE"
        /// The change is refused, even where the constraint is deferred.
        case restrict = "RESTRICT"
        /// Their columns become NULL.
        case setNull = "SET NULL"
        /// Their columns get their defaults.
        case setDefault = "SET DEFAULT"
    }
}

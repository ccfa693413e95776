public import QuarryCore
public import QuarrySQL

// The names that `Database` gives to types of the query interface.

extension Database {
    /// The declared type of a column: `.text`.
    public typealias ColumnType = SQLColumnType

    /// The type that a value is cast to: `cast(Column("score"), as: .real)`.
    public typealias StorageClass = SQLColumnType

    /// The action when a change violates a constraint: `.ignore`.
    public typealias ConflictResolution = SQLConflictResolution

    /// The action on referencing rows when the referenced row is deleted or its key changes: `.cascade`.
    public typealias ForeignKeyAction = SQLForeignKeyAction
}

public import QuarryCore
public import QuarrySQL

// The names that `Database` gives to types of the query interface.

extension Database {
    /// The declared type of a column: `.text`.
    public typealias ColumnType = SQLColumnType

    /// The type that a value is cast to: `cast(Column("score"), as: .real)`.
    public typealias StorageClass = SQLColumnType

    /// What happens when a change violates a constraint: `.ignore`.
    public typealias ConflictResolution = SQLConflictResolution

    /// What happens to the child rows when a parent row goes, or its key changes: `.cascade`.
    public typealias ForeignKeyAction = SQLForeignKeyAction
}

import QuarryCore

/// The result of `recordChangeset`.
///
/// ```swift
/// let recorded = try db.recordChangeset { try Player.deleteAll(db) }
/// print(recorded.value, recorded.changeset, recorded.unrecordedTables)
/// ```
public struct RecordedChangeset<Value> {
    /// The result of the closure.
    public let value: Value

    /// The changes.
    public let changeset: Changeset

    /// The changed tables whose changes the changeset doesn't have, if all tables were asked for: tables without a
    /// primary key; the tables in which a virtual table stores its content; with an older SQLite, tables with generated
    /// columns, or with a column of type REAL in their primary key.
    public let unrecordedTables: [String]
}

extension RecordedChangeset: Sendable where Value: Sendable {}

public import QuarryCore
public import QuarrySQL

/// A foreign key of a table, as `Database.foreignKeys(on:in:)` tells it.
///
/// See <https://www.sqlite.org/pragma.html#pragma_foreign_key_list>.
public struct ForeignKeyInfo: Sendable {
    /// SQLite's number of the key in its table.
    public let id: Int

    /// The table that is referred to.
    public let destinationTable: String

    /// The columns, each with the one it refers to.
    public internal(set) var mapping: [(origin: String, destination: String)] = []

    /// What happens when the parent row goes; nil for nothing, which then violates the key.
    public let deleteAction: Database.ForeignKeyAction?

    /// What happens when the key of the parent row changes; nil for nothing, which then violates the key.
    public let updateAction: Database.ForeignKeyAction?

    /// The columns of the table that has the key.
    public var originColumns: [String] { mapping.map(\.origin) }

    /// The columns of the table that is referred to.
    public var destinationColumns: [String] { mapping.map(\.destination) }

    init(_ row: Row) {
        id = row["id"]
        destinationTable = row["table"]
        deleteAction = Database.ForeignKeyAction(rawValue: row["on_delete"])
        updateAction = Database.ForeignKeyAction(rawValue: row["on_update"])
    }
}

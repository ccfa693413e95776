public import QuarryCore
public import QuarrySQL

/// A foreign key of a table, as returned by `Database.foreignKeys(on:in:)`.
///
/// See <https://www.sqlite.org/pragma.html#pragma_foreign_key_list>.
public struct ForeignKeyInfo: Sendable {
    /// SQLite's number of the key in its table.
    public let id: Int

    /// The referenced table.
    public let destinationTable: String

    /// The columns, each with its referenced column.
    public internal(set) var mapping: [(origin: String, destination: String)] = []

    /// The action when the referenced row is deleted; nil for none, so that the deletion violates the key.
    public let deleteAction: Database.ForeignKeyAction?

    /// The action when the referenced key is updated; nil for none, so that the update violates the key.
    public let updateAction: Database.ForeignKeyAction?

    /// The columns of the table that has the key.
    public var originColumns: [String] { mapping.map(\.origin) }

    /// The columns of the referenced table.
    public var destinationColumns: [String] { mapping.map(\.destination) }

    init(_ row: Row) {
        id = row["id"]
        destinationTable = row["table"]
        deleteAction = Database.ForeignKeyAction(rawValue: row["on_delete"])
        updateAction = Database.ForeignKeyAction(rawValue: row["on_update"])
    }
}

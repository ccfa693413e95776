public import QuarryCore

/// An error of the persistence methods.
///
/// ```swift
/// do {
///     try player.update(db)
/// } catch RecordError.recordNotFound(let table, let key) {
///     print("No row of \(table) has \(key)") // No row of player has ["id": 1]
/// }
/// ```
public enum RecordError: Error, Sendable {
    /// No row of the table has the key.
    case recordNotFound(databaseTableName: String, key: [String: DatabaseValue])
}

extension RecordError: CustomStringConvertible {
    /// `Key not found in table player: [id:1]`; with the cure for a record that has no id yet.
    ///
    /// Numbers are shown: they are ids, which a log needs. A text or blob may be private, such as a name or an address,
    /// so only its storage class is shown: `[email:TEXT]`. The error's key has the value.
    public var description: String {
        switch self {
        case .recordNotFound(let table, let key):
            let values = key.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.idInError)" }
            return "Key not found in table \(table): [\(values.joined(separator: " "))]\(Self.cure(key))"
        }
    }

    /// The cure for a key with NULL, which no row has.
    private static func cure(_ key: [String: DatabaseValue]) -> String {
        guard let column = key.filter(\.value.isNull).keys.min() else { return "" }
        if RowID.names.contains(where: { $0.isSameName(as: column) }) {
            return ": a table without a primary key has only the rowid, which the record doesn't have. "
                + "Declare a primary key"
        }
        return ": the \(column) is NULL. Was the record inserted, and the \(column) stored in didInsert?"
    }
}

extension DatabaseValue {
    /// The value of an id in an error: a number, or the storage class of a value that may be private.
    var idInError: String {
        switch rawStorage {
        case .null, .int64, .double: description
        case .string, .blob: storageClass
        }
    }
}

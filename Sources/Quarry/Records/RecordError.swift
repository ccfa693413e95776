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
    /// `Key not found in table player: [id:1]`
    public var description: String {
        switch self {
        case .recordNotFound(let table, let key):
            let values = key.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
            return "Key not found in table \(table): [\(values.joined(separator: " "))]"
        }
    }
}

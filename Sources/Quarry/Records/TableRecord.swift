public import QuarryCore

/// A type that stands for a table.
///
/// ```swift
/// struct Player: TableRecord {}
/// Player.databaseTableName // "player"
///
/// struct Place: TableRecord {
///     static let databaseTableName = "location"
/// }
/// ```
public protocol TableRecord: SendableMetatype {
    /// The name of the table.
    static var databaseTableName: String { get }
}

extension TableRecord {
    /// The name of the type, beginning with a small letter: `player` for `Player`, `httpRequest` for `HTTPRequest`.
    public static var databaseTableName: String { tableName(ofType: String(describing: Self.self)) }
}

/// The name of a type without generic arguments; capitals at its beginning are small, except that of the second word.
private func tableName(ofType description: String) -> String {
    let name = description.prefix { $0 != "<" }
    let capitals = name.prefix { $0.isUppercase }
    // HTTPRequest is http and Request; Player and HTTP are one word.
    let count = capitals.count > 1 && capitals.count < name.count ? capitals.count - 1 : capitals.count
    return name.prefix(count).lowercased() + name.dropFirst(count)
}

import QuarryCore

/// A type that represents a table.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns {
///         static let name = Column("name")
///         static let score = Column("score")
///     }
/// }
/// Player.databaseTableName                     // "player"
/// Player.filter { $0.score > 10 }.order(\.name) // SELECT * FROM "player" WHERE "score" > 10 ORDER BY "name"
///
/// struct Place: TableRecord {
///     static let databaseTableName = "location"
/// }
/// ```
public protocol TableRecord: SendableMetatype {
    /// The type that has the columns, as static properties or as the cases of an enum.
    associatedtype Columns = Never

    /// The argument of the closures of requests: the type of columns.
    associatedtype DatabaseComponents = Columns.Type

    /// The argument of the closures of requests: the type of columns.
    static var databaseComponents: DatabaseComponents { get }

    /// The name of the table.
    static var databaseTableName: String { get }

    /// The columns that requests select; by default, all columns.
    ///
    /// ```swift
    /// static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["avatar"])] }
    /// ```
    static var databaseSelection: [any SQLSelectable] { get }
}

extension TableRecord where DatabaseComponents == Columns.Type {
    /// The type of columns.
    public static var databaseComponents: Columns.Type { Columns.self }
}

extension TableRecord {
    /// The name of the type, beginning in lower case: `player` for `Player`, `httpRequest` for `HTTPRequest`.
    public static var databaseTableName: String { defaultTableName }

    package static var defaultTableName: String { TableNames.name(of: self) }

    /// All columns: `*`.
    public static var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// The selection of the type; nil for all columns.
    package static var selection: [SQLSelection]? {
        let selection = databaseSelection
        if selection.count == 1, type(of: selection[0]) == AllColumns.self { return nil }
        return selection.map(\.sqlSelection)
    }
}

/// The derived table names of types, each computed once.
private enum TableNames {
    private static let names = Lock<[ObjectIdentifier: String]>([:])

    static func name(of type: Any.Type) -> String {
        names.withLock { names in
            let id = ObjectIdentifier(type)
            if let name = names[id] { return name }
            let name = tableName(ofType: String(describing: type))
            names[id] = name
            return name
        }
    }
}

/// The name of a type without generic arguments, with its first word in lower case.
private func tableName(ofType description: String) -> String {
    let name = description.prefix { $0 != "<" }
    let capitals = name.prefix { $0.isUppercase }
    // HTTPRequest has the words HTTP and Request; Player and HTTP are single words.
    let count = capitals.count > 1 && capitals.count < name.count ? capitals.count - 1 : capitals.count
    return name.prefix(count).lowercased() + name.dropFirst(count)
}

/// The types to generate, and their names.
///
/// ```swift
/// var options = GenerationOptions()
/// options.access = .public
/// options.tables = ["player", "team"]
/// ```
public struct GenerationOptions: Sendable {
    /// The access level of the types.
    public enum Access: String, Sendable, CaseIterable {
        case `internal`
        case `package`
        case `public`
    }

    public var access = Access.internal

    /// The prefix of the names of types.
    public var prefix = ""

    /// Whether a type is named by the singular of its table's name: `Player` for `players`.
    public var singular = true

    /// Whether properties are called in camel case: `teamId` for `team_id`.
    public var camelCase = false

    /// Whether columns that are declared as `DATETIME` or `TIMESTAMP` become `Date`.
    public var dates = true

    /// The tables and views that get a type; nil for all.
    public var tables: [String]?

    /// Tables and views without a type.
    public var excluded: [String] = []

    /// The number of rows of each table to check: their values say more than the declared types. nil for all.
    public var rows: Int?

    /// Whether the schema comes with a `DatabaseMigrator` that creates it.
    public var migrator = true

    public init() {}
}

/// Why there is no code.
public enum GenerationError: Error, Equatable, CustomStringConvertible {
    case unknownTable(String)
    case nothing

    public var description: String {
        switch self {
        case .unknownTable(let name): "there is no table or view \(name)"
        case .nothing: "the database has no table or view"
        }
    }
}

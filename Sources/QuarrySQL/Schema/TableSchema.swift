import QuarryCore

/// A record that declares its table: columns, keys, indexes and constraints.
///
/// ```swift
/// struct Player: Codable, PersistableRecord, TableSchemaProviding {
///     var id: Int64
///     var name: String
///     var score: Int
///     var teamId: Int64?
///
///     static var databaseSchema: TableSchema {
///         TableSchema { t in
///             t.column("id").primaryKey(autoincrement: true)
///             t.column("score").defaults(to: 0).check { $0 >= 0 }
///             t.column("teamId").references("team", onDelete: .cascade).indexed()
///             t.uniqueKey(["teamId", "name"])
///         }
///     }
/// }
/// try db.create(tableFor: Player.self)
/// ```
/// ```sql
/// CREATE TABLE "player" (
///   "id" INTEGER PRIMARY KEY AUTOINCREMENT,
///   "name" TEXT NOT NULL,
///   "score" INTEGER NOT NULL CHECK ("score" >= 0) DEFAULT 0,
///   "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE,
///   UNIQUE ("teamId", "name"))
/// CREATE INDEX "player_on_teamId" ON "player"("teamId")
/// ```
public protocol TableSchemaProviding: TableRecord {
    /// The table.
    static var databaseSchema: TableSchema { get }
}

/// A table as a record declares it.
///
/// A `Decodable` record has a column for each of its properties, with the type that its values are stored as. Those
/// that aren't optional are NOT NULL. The parts of the schema say what the type doesn't: keys, defaults, constraints,
/// indexes; and columns and types where they are to be others. `Database.create(tableFor:)` makes the table,
/// `Database.synchronizeSchema(of:)` adds what a table lacks.
public struct TableSchema: Sendable {
    /// A part of a table: what the methods of `Parts` make.
    public struct Part: Sendable {
        enum Content: Sendable {
            case column(Column)
            case constraint(@Sendable (TableDefinition) -> Void)
            case index(Index)
        }

        let content: Content
    }

    /// An index of the table.
    struct Index: Sendable {
        /// What follows the table's name in its own; nil for a name by the columns.
        var suffix: String?
        /// The columns, where it is one of columns alone.
        var columns: [String]
        var terms: [SQL]
        var options: IndexOptions
        var condition: SQL?
    }

    /// How the table is created: `.strict`, `.withoutRowID`.
    public let options: TableOptions

    /// Whether the properties of the record are columns.
    let infersColumns: Bool

    let parts: [Part]

    /// The table with some parts.
    ///
    /// - parameter options: `.strict` and `.withoutRowID`.
    /// - parameter infersColumns: whether each property of a `Decodable` record is a column. Where not, columns that
    ///   aren't parts aren't there, and each part needs its type.
    /// - parameter parts: the parts, one a line.
    public init(
        options: TableOptions = [], inferringColumns infersColumns: Bool = true,
        @TableSchemaBuilder _ parts: (Parts) -> [Part]
    ) {
        self.options = options
        self.infersColumns = infersColumns
        self.parts = parts(Parts())
    }

    /// The table with a column for each property, and no more.
    public init(options: TableOptions = []) {
        self.init(options: options) { _ in }
    }
}

/// Collects the parts of a `TableSchema`.
@resultBuilder public enum TableSchemaBuilder {
    /// A column.
    public static func buildExpression(_ column: TableSchema.Column) -> [TableSchema.Part] {
        [TableSchema.Part(content: .column(column))]
    }

    /// Another part.
    public static func buildExpression(_ part: TableSchema.Part) -> [TableSchema.Part] { [part] }

    /// Parts that were made elsewhere.
    public static func buildExpression(_ parts: [TableSchema.Part]) -> [TableSchema.Part] { parts }

    /// The parts, one after the other.
    public static func buildBlock(_ parts: [TableSchema.Part]...) -> [TableSchema.Part] { parts.flatMap { $0 } }

    /// The parts of an `if`.
    public static func buildOptional(_ parts: [TableSchema.Part]?) -> [TableSchema.Part] { parts ?? [] }

    /// The parts of an `if` with an `else`.
    public static func buildEither(first parts: [TableSchema.Part]) -> [TableSchema.Part] { parts }

    /// The parts of an `else`.
    public static func buildEither(second parts: [TableSchema.Part]) -> [TableSchema.Part] { parts }

    /// The parts of a `for`.
    public static func buildArray(_ parts: [[TableSchema.Part]]) -> [TableSchema.Part] { parts.flatMap { $0 } }
}

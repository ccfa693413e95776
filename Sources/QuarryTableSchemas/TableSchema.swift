import Quarry
import QuarryCore
public import QuarrySQL

/// A record type that declares its table: columns, keys, indexes and constraints.
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

/// The declaration of a record's table.
///
/// A `Decodable` record has a column for each property, with the storage type of its values. Columns of non-optional
/// properties are NOT NULL. The parts of the schema declare the rest: keys, defaults, constraints, indexes; and columns
/// and types that differ from the inferred ones. `Database.create(tableFor:)` creates the table, and
/// `Database.synchronizeSchema(of:)` adds the missing parts to an existing table.
public struct TableSchema: Sendable {
    /// A part of a table, made by the methods of `Parts`.
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
        /// The suffix of its name after the table's name; nil for a name made from the columns.
        var suffix: String?
        /// The columns, if the index has columns only.
        var columns: [String]
        var terms: [SQL]
        var options: IndexOptions
        var condition: SQL?
    }

    /// The options of the table: `.strict`, `.withoutRowID`.
    public let options: TableOptions

    /// Whether the properties of the record are columns.
    let infersColumns: Bool

    let parts: [Part]

    /// The declaration of a table with some parts.
    ///
    /// - parameter options: `.strict` and `.withoutRowID`.
    /// - parameter infersColumns: whether each property of a `Decodable` record is a column. If false, only the parts
    ///   declare columns, and each of them needs its type.
    /// - parameter parts: the parts, one on each line.
    public init(
        options: TableOptions = [], inferringColumns infersColumns: Bool = true,
        @TableSchemaBuilder _ parts: (Parts) -> [Part]
    ) {
        self.options = options
        self.infersColumns = infersColumns
        self.parts = parts(Parts())
    }

    /// The declaration of a table with a column for each property, and no other parts.
    public init(options: TableOptions = []) {
        self.init(options: options) { _ in }
    }
}

/// Collects the parts of a `TableSchema`.
@resultBuilder public enum TableSchemaBuilder {
    /// A column: `t.column("name").unique()`.
    public static func buildExpression(_ column: TableSchema.Column) -> [TableSchema.Part] {
        [TableSchema.Part(content: .column(column))]
    }

    /// A constraint, an index, or another part that isn't a column: `t.uniqueKey(["teamId", "name"])`.
    public static func buildExpression(_ part: TableSchema.Part) -> [TableSchema.Part] { [part] }

    /// The parts of a function or property that several declarations share.
    ///
    /// ```swift
    /// @TableSchemaBuilder static func timestamps(_ t: TableSchema.Parts) -> [TableSchema.Part] {
    ///     t.column("createdAt").defaults(sql: "CURRENT_TIMESTAMP")
    ///     t.column("updatedAt").indexed()
    /// }
    /// TableSchema { t in
    ///     t.column("name").unique()
    ///     timestamps(t)
    /// }
    /// ```
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

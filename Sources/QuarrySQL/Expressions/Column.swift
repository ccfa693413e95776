public import QuarryCore

/// A column of a table, identified by its name.
///
/// ```swift
/// enum Columns: String, ColumnExpression {
///     case id, name, score
/// }
/// let name: String = row[Columns.name]
/// let winners = try Player.filter(Columns.score > 1000).fetchAll(db)
/// ```
///
/// The cases of an enum are Swift values, too. In places that accept a Bool, such as `having` or `set(to:)`, `==` and
/// `!=` of two cases compare them in Swift, so that the condition is a constant. There, make one side an expression, or
/// give `Columns` static properties of the type ``Column``, which only SQL can compare.
///
/// ```swift
/// Player.group(Columns.id).having(Columns.score.sqlExpression == Columns.bonus)
/// ```
/// ```sql
/// SELECT * FROM "player" GROUP BY "id" HAVING "score" = "bonus"
/// ```
public protocol ColumnExpression: NamedColumn, SQLSpecificExpressible {}

extension ColumnExpression {
    /// The column: `"name"`, or `"table"."name"` if a query has several tables.
    public var sqlExpression: SQLExpression { SQLExpression(content: .column(name)) }

    /// The column without its table, whatever tables the query has: `"name"`. Use it for names that the query itself
    /// defines.
    ///
    /// ```swift
    /// Team.annotated(with: Team.players.count).having(Column("playerCount").detached > 5)
    /// ```
    public var detached: SQLExpression { .node(.detachedColumn(name)) }
}

/// A column, by its name.
///
/// ```swift
/// let name: String = row[Column("name")]
/// let winners = try Player.filter(Column("score") > 1000).fetchAll(db)
/// ```
public struct Column: ColumnExpression, Sendable {
    /// The name of the column, without quotes.
    public let name: String

    /// The column with the given name.
    public init(_ name: String) { self.name = name }

    /// The column with the name of a coding key.
    public init(_ codingKey: some CodingKey) { name = codingKey.stringValue }

    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static let rowID = Column("rowid")
}

extension NamedColumn where Self == Column {
    /// The rowid: `row[.rowID]`. See <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

// If a column is expected, the compiler prefers this property to those of the protocols that columns refine.
extension ColumnExpression where Self == Column {
    /// The rowid: `ForeignKey([.rowID])`. See <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

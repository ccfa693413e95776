public import QuarryCore

/// Something that names a column of a table.
///
/// ```swift
/// enum Columns: String, ColumnExpression {
///     case id, name, score
/// }
/// let name: String = row[Columns.name]
/// let winners = try Player.filter(Columns.score > 1000).fetchAll(db)
/// ```
///
/// The cases of an enum are values of Swift, too: where a Bool is accepted, as in `having` or `set(to:)`, `==` and `!=`
/// of two cases are Swift's, and the condition is a constant. Make one side an expression there, or let `Columns` have
/// static properties of the type ``Column``, which only SQL compares.
///
/// ```swift
/// Player.group(Columns.id).having(Columns.score.sqlExpression == Columns.bonus)
/// ```
/// ```sql
/// SELECT * FROM "player" GROUP BY "id" HAVING "score" = "bonus"
/// ```
public protocol ColumnExpression: NamedColumn, SQLSpecificExpressible {}

extension ColumnExpression {
    /// The column: `"name"`, or `"table"."name"` where a query has several tables.
    public var sqlExpression: SQLExpression { SQLExpression(content: .column(name)) }

    /// The column without its table, whatever tables a query has: `"name"`. It is for names that a query has made
    /// itself.
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

    /// The column of that name.
    public init(_ name: String) { self.name = name }

    /// The column of a key.
    public init(_ codingKey: some CodingKey) { name = codingKey.stringValue }

    /// The rowid: <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static let rowID = Column("rowid")
}

extension NamedColumn where Self == Column {
    /// The rowid: `row[.rowID]`. See <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

// Where a column is asked for, this one is found before those of the protocols that columns refine.
extension ColumnExpression where Self == Column {
    /// The rowid: `ForeignKey([.rowID])`. See <https://www.sqlite.org/lang_createtable.html#rowid>.
    public static var rowID: Column { Column("rowid") }
}

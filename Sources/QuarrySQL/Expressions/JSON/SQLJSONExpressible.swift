public import QuarryCore

/// An expression with JSON values.
///
/// ```swift
/// let info = JSONColumn("info")
/// Player.select(info["address"])                 // SELECT "info" ->> 'address' FROM "player"
/// Player.filter(info["$.tags[0]"] == "captain")  // SELECT * FROM "player" WHERE ("info" ->> '$.tags[0]') = 'captain'
/// Player.select(Database.jsonArray([info, 1]))   // SELECT JSON_ARRAY(JSON("info"), 1) FROM "player"
/// ```
///
/// Inside other JSON, such a value is JSON, not text: `JSON("info")`. See <https://www.sqlite.org/json1.html>.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

extension SQLJSONExpressible {
    /// A part of the JSON, as an SQL value: `"info" ->> 'path'`.
    ///
    /// ```swift
    /// Player.filter(JSONColumn("info")["city"] == "Paris")
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE ("info" ->> 'city') = 'Paris'
    /// ```
    ///
    /// A string becomes text, a number a number, null NULL, and true 1; an array or an object remains JSON. See
    /// <https://www.sqlite.org/json1.html#jptr>.
    ///
    /// - parameter path: a key, an index, or a path such as `$.tags[0]`.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        .infix(sqlExpression, .jsonExtractSQL, path.sqlExpression)
    }

    /// A part of the JSON, as an SQL value: `JSON_EXTRACT("info", '$.city')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jex>.
    ///
    /// - parameter path: a path such as `$.tags[0]`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [sqlExpression, path.sqlExpression])
    }

    /// Parts of the JSON, as an array: `JSON_EXTRACT("info", '$.city', '$.country')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jex>.
    ///
    /// - parameter paths: paths such as `$.tags[0]`.
    public func jsonExtract<Paths: Collection>(atPaths paths: Paths) -> SQLExpression
    where Paths.Element: SQLExpressible {
        .json("JSON_EXTRACT", [sqlExpression] + paths.map(\.sqlExpression))
    }

    /// A part of the JSON, as JSON: `"info" -> '$.city'`.
    ///
    /// See <https://www.sqlite.org/json1.html#jptr>.
    ///
    /// - parameter path: a key, an index, or a path such as `$.tags[0]`.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> SQLExpression {
        .infix(sqlExpression, .jsonExtract, path.sqlExpression)
    }
}

extension SQLSpecificExpressible {
    /// The expression, marked as having JSON values.
    ///
    /// ```swift
    /// Player.select(Database.jsonArray([Column("info").asJSON]))
    /// ```
    /// ```sql
    /// SELECT JSON_ARRAY(JSON("info")) FROM "player"
    /// ```
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(sqlExpression: sqlExpression) }
}

/// Any expression with JSON values.
public struct AnySQLJSONExpressible: SQLJSONExpressible, Sendable {
    /// The expression itself.
    public let sqlExpression: SQLExpression

    fileprivate init(sqlExpression: SQLExpression) { self.sqlExpression = sqlExpression }

    /// The same expression.
    public init(_ base: some SQLJSONExpressible) { sqlExpression = base.sqlExpression }
}

/// A column with JSON values.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns {
///         static let info = JSONColumn("info")
///     }
/// }
/// try Player.filter { $0.info["city"] == "Paris" }.fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE ("info" ->> 'city') = 'Paris'
/// ```
public struct JSONColumn: ColumnExpression, SQLJSONExpressible, Sendable {
    /// The name of the column, without quotes.
    public let name: String

    /// The column with that name.
    public init(_ name: String) { self.name = name }

    /// The column of a key.
    public init(_ codingKey: some CodingKey) { name = codingKey.stringValue }
}

extension SQLExpressible {
    /// The value as written inside other JSON: JSON as JSON, other values as they are.
    package var jsonElement: SQLExpression {
        let expression = sqlExpression
        guard self is any SQLJSONExpressible else { return expression }
        if case .function(let call) = expression.kind, call.isJSON { return expression }
        return .json("JSON", [expression])
    }
}

extension SQLExpression {
    /// `NAME(x, y)`, which returns JSON.
    package static func json(_ name: String, _ arguments: [SQLExpression], _ requirement: SQLiteRequirement? = nil)
        -> SQLExpression
    {
        var call = FunctionCall(name, arguments)
        call.isJSON = true
        call.requirement = requirement
        return .node(.function(call))
    }
}

public import QuarryCore

/// A row of `json_each` or `json_tree`: an element of JSON.
///
/// ```swift
/// let elements = try Database.jsonEach(#"{"a": 1, "b": [2, 3]}"#).fetchAll(db) // [JSONElement]
/// elements.map(\.fullKey) // ["$.a", "$.b"]
/// ```
///
/// See <https://www.sqlite.org/json1.html#jeach>.
public struct JSONElement: TableRecord, Identifiable, Hashable, Sendable {
    /// The columns of the tables.
    public enum Columns {
        /// The key in an object, the index in an array.
        public static let key = Column("key")
        /// The value; arrays and objects as JSON.
        public static let value = Column("value")
        /// `'null'`, `'true'`, `'false'`, `'integer'`, `'real'`, `'text'`, `'array'`, `'object'`
        public static let type = Column("type")
        /// The value; NULL for arrays and objects.
        public static let atom = Column("atom")
        /// A number that the JSON has once.
        public static let id = Column("id")
        /// The number of the array or object around; NULL in `json_each`.
        public static let parent = Column("parent")
        /// The path of the element.
        public static let fullKey = Column("fullkey")
        /// The path of the array or object around.
        public static let path = Column("path")
    }

    /// The name of the type's table.
    public static let databaseTableName = "json_each"

    /// The key in an object, the index in an array, NULL for the JSON itself.
    public var key: DatabaseValue
    /// The value; arrays and objects as JSON.
    public var value: DatabaseValue
    /// `null`, `true`, `false`, `integer`, `real`, `text`, `array`, `object`
    public var type: String
    /// The value; NULL for arrays and objects.
    public var atom: DatabaseValue
    /// A number that the JSON has once.
    public var id: Int64
    /// The number of the array or object around; nil in `json_each`.
    public var parent: Int64?
    /// The path of the element, such as `$.tags[0]`.
    public var fullKey: String
    /// The path of the array or object around.
    public var path: String

    /// The element of a row.
    ///
    /// - throws: `RowDecodingError` for a row with other columns.
    public init(row: Row) throws {
        key = try row.decode(forColumn: "key")
        value = try row.decode(forColumn: "value")
        type = try row.decode(forColumn: "type")
        atom = try row.decode(forColumn: "atom")
        id = try row.decode(forColumn: "id")
        parent = try row.decode(forColumn: "parent")
        fullKey = try row.decode(forColumn: "fullkey")
        path = try row.decode(forColumn: "path")
    }
}

extension Database {
    /// The elements of an array or object, as rows: `json_each(x)`.
    ///
    /// ```swift
    /// // The players that have a tag.
    /// let player = TableAlias<Player>()
    /// let tags = Database.jsonEach(player[Column("tags")])
    /// Player.aliased(player).filter(tags.filter { $0.value == "captain" }.exists())
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE EXISTS (SELECT * FROM json_each("player"."tags") WHERE "value" = 'captain')
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jeach>.
    ///
    /// - parameter path: the path of the array or object; nil for the JSON itself.
    public static func jsonEach(
        _ value: some SQLExpressible, atPath path: (any SQLExpressible)? = nil
    ) -> QueryInterfaceRequest<JSONElement> {
        jsonTable("json_each", value, path)
    }

    /// All elements of JSON, those inside of others too, as rows: `json_tree(x)`.
    ///
    /// ```swift
    /// try Database.jsonTree(json).filter { $0.atom == "captain" }.select(\.fullKey, as: String.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "fullkey" FROM json_tree('…') WHERE "atom" = 'captain'
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jtree>.
    ///
    /// - parameter path: the path of the part that is walked through; nil for all.
    public static func jsonTree(
        _ value: some SQLExpressible, atPath path: (any SQLExpressible)? = nil
    ) -> QueryInterfaceRequest<JSONElement> {
        jsonTable("json_tree", value, path)
    }

    private static func jsonTable(
        _ function: String, _ value: some SQLExpressible, _ path: (any SQLExpressible)?
    ) -> QueryInterfaceRequest<JSONElement> {
        let arguments = [value.sqlExpression] + (path.map { [$0.sqlExpression] } ?? [])
        let columns = ["key", "value", "type", "atom", "id", "parent", "fullkey", "path"]
        return QueryInterfaceRequest(query: SelectQuery(.function(function, arguments, columns: columns)))
    }
}

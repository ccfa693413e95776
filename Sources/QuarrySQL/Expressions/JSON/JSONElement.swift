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
        /// A number that is unique in the JSON.
        public static let id = Column("id")
        /// The number of the enclosing array or object; NULL in `json_each`.
        public static let parent = Column("parent")
        /// The path of the element.
        public static let fullKey = Column("fullkey")
        /// The path of the enclosing array or object.
        public static let path = Column("path")
    }

    /// The name of the type's table.
    public static let databaseTableName = "json_each"

    /// The key in an object, or the index in an array; NULL for the JSON itself.
    public var key: DatabaseValue
    /// The value; arrays and objects as JSON.
    public var value: DatabaseValue
    /// `null`, `true`, `false`, `integer`, `real`, `text`, `array`, `object`
    public var type: String
    /// The value; NULL for arrays and objects.
    public var atom: DatabaseValue
    /// A number that is unique in the JSON.
    public var id: Int64
    /// The number of the enclosing array or object; nil in `json_each`.
    public var parent: Int64?
    /// The path of the element, such as `$.tags[0]`.
    public var fullKey: String
    /// The path of the enclosing array or object.
    public var path: String

    /// Decodes an element from a row.
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

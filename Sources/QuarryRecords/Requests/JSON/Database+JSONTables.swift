public import QuarryCore
public import QuarrySQL

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

    /// All elements of JSON, including nested ones, as rows: `json_tree(x)`.
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
    /// - parameter path: the path of the part to walk through; nil for all.
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

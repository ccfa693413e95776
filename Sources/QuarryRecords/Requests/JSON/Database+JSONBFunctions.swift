public import QuarryCore
public import QuarrySQL

// Functions of JSON in SQLite's binary format: <https://www.sqlite.org/json1.html>.
// Each of them needs SQLite 3.45; with an earlier version, a request throws when it runs.

extension Database {
    /// The value, which must be JSON, in binary form: `JSONB(x)`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.select(Database.jsonb(Column("info")))
    /// ```
    /// ```sql
    /// SELECT JSONB("info") FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jminib>.
    public static func jsonb(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSONB", [value.sqlExpression], .version(3_045_000))
    }

    /// An array in binary form: `JSONB_ARRAY(x, y)`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.select(Database.jsonbArray([1, Column("name"), JSONColumn("info")]))
    /// ```
    /// ```sql
    /// SELECT JSONB_ARRAY(1, "name", JSON("info")) FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jarrayb>.
    public static func jsonbArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .json("JSONB_ARRAY", values.map { $0.jsonElement }, .version(3_045_000))
    }

    /// The part at a path, an array or object in binary form: `JSONB_EXTRACT(x, '$.path')`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.select(Database.jsonbExtract(Column("info"), atPath: "$.city"))
    /// ```
    /// ```sql
    /// SELECT JSONB_EXTRACT("info", '$.city') FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jexb>.
    public static func jsonbExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSONB_EXTRACT", [value.sqlExpression, path.sqlExpression], .version(3_045_000))
    }

    /// The parts at several paths, as an array in binary form: `JSONB_EXTRACT(x, '$.a', '$.b')`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jexb>.
    public static func jsonbExtract<Paths: Collection>(_ value: some SQLExpressible, atPaths paths: Paths)
        -> SQLExpression
    where Paths.Element: SQLExpressible {
        .json("JSONB_EXTRACT", [value.sqlExpression] + paths.map { $0.sqlExpression }, .version(3_045_000))
    }

    /// The JSON with values added at missing paths: `JSONB_INSERT(x, '$.path', y)`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jinsb>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSONB_INSERT", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// The JSON with values added at missing paths: `JSONB_INSERT(x, '$.path', y)`. Requires SQLite 3.45.
    @_disfavoredOverload
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSONB_INSERT", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// The JSON with values replaced at existing paths: `JSONB_REPLACE(x, '$.path', y)`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jinsb>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSONB_REPLACE", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// The JSON with values replaced at existing paths: `JSONB_REPLACE(x, '$.path', y)`. Requires SQLite 3.45.
    @_disfavoredOverload
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSONB_REPLACE", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// The JSON with values set at paths: `JSONB_SET(x, '$.path', y)`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.updateAll(db, JSONColumn("info").set(to: Database.jsonbSet(JSONColumn("info"), ["$.city": "Paris"])))
    /// ```
    /// ```sql
    /// UPDATE "player" SET "info" = JSONB_SET("info", '$.city', 'Paris')
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jinsb>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSONB_SET", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// The JSON with values set at paths: `JSONB_SET(x, '$.path', y)`. Requires SQLite 3.45.
    @_disfavoredOverload
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSONB_SET", [value.sqlExpression] + jsonPairs(assignments), .version(3_045_000))
    }

    /// An object in binary form: `JSONB_OBJECT('key', x)`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.select(Database.jsonbObject(["name": Column("name"), "info": JSONColumn("info")]))
    /// ```
    /// ```sql
    /// SELECT JSONB_OBJECT('name', "name", 'info', JSON("info")) FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jobjb>.
    ///
    /// - parameter elements: keys and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonbObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        .json("JSONB_OBJECT", jsonPairs(elements), .version(3_045_000))
    }

    /// An object in binary form: `JSONB_OBJECT('key', x)`. Requires SQLite 3.45.
    @_disfavoredOverload
    public static func jsonbObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSONB_OBJECT", jsonPairs(elements), .version(3_045_000))
    }

    /// The JSON, changed by a merge patch of RFC 7396: `JSONB_PATCH(x, y)`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jpatchb>.
    public static func jsonbPatch(_ value: some SQLExpressible, with patch: some SQLExpressible) -> SQLExpression {
        .json("JSONB_PATCH", [value.sqlExpression, patch.sqlExpression], .version(3_045_000))
    }

    /// The JSON without the part at a path: `JSONB_REMOVE(x, '$.path')`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jrmb>.
    public static func jsonbRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .json("JSONB_REMOVE", [value.sqlExpression, path.sqlExpression], .version(3_045_000))
    }

    /// The JSON without the parts at several paths: `JSONB_REMOVE(x, '$.a', '$.b')`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jrmb>.
    public static func jsonbRemove<Paths: Collection>(_ value: some SQLExpressible, atPaths paths: Paths)
        -> SQLExpression
    where Paths.Element: SQLExpressible {
        .json("JSONB_REMOVE", [value.sqlExpression] + paths.map { $0.sqlExpression }, .version(3_045_000))
    }

    /// All values of a group as an array in binary form: `JSONB_GROUP_ARRAY(x)`. Requires SQLite 3.45.
    ///
    /// ```swift
    /// Player.select(Column("teamId"), Database.jsonbGroupArray(Column("name"))).group(Column("teamId"))
    /// ```
    /// ```sql
    /// SELECT "teamId", JSONB_GROUP_ARRAY("name") FROM "player" GROUP BY "teamId"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jgrouparrayb>.
    ///
    /// - parameter ordering: the order of the values, which needs SQLite 3.44; by default, the order is undefined.
    /// - parameter filter: the condition for rows to include.
    public static func jsonbGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        aggregate("JSONB_GROUP_ARRAY", [value.jsonElement], ordering, filter, .version(3_045_000))
    }

    /// All keys and values of a group as an object in binary form: `JSONB_GROUP_OBJECT(key, value)`. Requires SQLite
    /// 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jgroupobjectb>.
    ///
    /// - parameter filter: the condition for rows to include.
    public static func jsonbGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        aggregate("JSONB_GROUP_OBJECT", [key.sqlExpression, value.jsonElement], nil, filter, .version(3_045_000))
    }
}

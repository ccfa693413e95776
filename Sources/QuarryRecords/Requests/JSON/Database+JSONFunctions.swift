public import QuarryCore
public import QuarrySQL

// Functions of JSON: <https://www.sqlite.org/json1.html>.

extension Database {
    /// The value, which must be JSON, as minified text: `JSON(x)`.
    ///
    /// ```swift
    /// Player.select(Database.json(Column("info")))
    /// ```
    /// ```sql
    /// SELECT JSON("info") FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jmini>.
    public static func json(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON", [value.sqlExpression])
    }

    /// An array: `JSON_ARRAY(x, y)`.
    ///
    /// ```swift
    /// Player.select(Database.jsonArray([1, Column("name"), JSONColumn("info")]))
    /// ```
    /// ```sql
    /// SELECT JSON_ARRAY(1, "name", JSON("info")) FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jarray>.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .json("JSON_ARRAY", values.map { $0.jsonElement })
    }

    /// An array of values: `JSON_ARRAY(1, 2, 3, 4)`.
    ///
    /// ```swift
    /// Player.select(Database.jsonArray(1...4))
    /// ```
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .json("JSON_ARRAY", values.map { $0.jsonElement })
    }

    /// The number of elements of an array, 0 for other values: `JSON_ARRAY_LENGTH(x)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jarraylen>.
    public static func jsonArrayLength(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression])
    }

    /// The number of elements of an array at a path: `JSON_ARRAY_LENGTH(x, '$.path')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jarraylen>.
    public static func jsonArrayLength(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value.sqlExpression, path.sqlExpression])
    }

    /// The position of the first error in JSON, from 1; 0 for valid JSON: `JSON_ERROR_POSITION(x)`. Requires SQLite
    /// 3.42.
    ///
    /// See <https://www.sqlite.org/json1.html#jerr>.
    public static func jsonErrorPosition(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value.sqlExpression], .version(3_042_000))
    }

    /// The part at a path, as an SQL value: `JSON_EXTRACT(x, '$.path')`.
    ///
    /// ```swift
    /// Player.select(Database.jsonExtract(Column("info"), atPath: "$.city"))
    /// ```
    /// ```sql
    /// SELECT JSON_EXTRACT("info", '$.city') FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jex>.
    public static func jsonExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [value.sqlExpression, path.sqlExpression])
    }

    /// The parts at several paths, as an array: `JSON_EXTRACT(x, '$.a', '$.b')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jex>.
    public static func jsonExtract<Paths: Collection>(_ value: some SQLExpressible, atPaths paths: Paths)
        -> SQLExpression
    where Paths.Element: SQLExpressible {
        .json("JSON_EXTRACT", [value.sqlExpression] + paths.map { $0.sqlExpression })
    }

    /// The JSON with values added at missing paths: `JSON_INSERT(x, '$.path', y)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jins>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSON_INSERT", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// The JSON with values added at missing paths: `JSON_INSERT(x, '$.path', y)`.
    @_disfavoredOverload
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSON_INSERT", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// The JSON with values replaced at existing paths: `JSON_REPLACE(x, '$.path', y)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jins>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSON_REPLACE", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// The JSON with values replaced at existing paths: `JSON_REPLACE(x, '$.path', y)`.
    @_disfavoredOverload
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSON_REPLACE", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// The JSON with values set at paths: `JSON_SET(x, '$.path', y)`.
    ///
    /// ```swift
    /// Player.updateAll(db, JSONColumn("info").set(to: Database.jsonSet(JSONColumn("info"), ["$.city": "Paris"])))
    /// ```
    /// ```sql
    /// UPDATE "player" SET "info" = JSON_SET("info", '$.city', 'Paris')
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jins>.
    ///
    /// - parameter assignments: paths and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression {
        .json("JSON_SET", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// The JSON with values set at paths: `JSON_SET(x, '$.path', y)`.
    @_disfavoredOverload
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSON_SET", [value.sqlExpression] + jsonPairs(assignments))
    }

    /// An object: `JSON_OBJECT('key', x)`.
    ///
    /// ```swift
    /// Player.select(Database.jsonObject(["name": Column("name"), "info": JSONColumn("info")]))
    /// ```
    /// ```sql
    /// SELECT JSON_OBJECT('name', "name", 'info', JSON("info")) FROM "player"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jobj>.
    ///
    /// - parameter elements: keys and values; a literal keeps its order, a dictionary is sorted.
    public static func jsonObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        .json("JSON_OBJECT", jsonPairs(elements))
    }

    /// An object: `JSON_OBJECT('key', x)`.
    @_disfavoredOverload
    public static func jsonObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json("JSON_OBJECT", jsonPairs(elements))
    }

    /// The JSON, changed by a merge patch of RFC 7396: `JSON_PATCH(x, y)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jpatch>.
    public static func jsonPatch(_ value: some SQLExpressible, with patch: some SQLExpressible) -> SQLExpression {
        .json("JSON_PATCH", [value.sqlExpression, patch.sqlExpression])
    }

    /// The JSON without the part at a path: `JSON_REMOVE(x, '$.path')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jrm>.
    public static func jsonRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .json("JSON_REMOVE", [value.sqlExpression, path.sqlExpression])
    }

    /// The JSON without the parts at several paths: `JSON_REMOVE(x, '$.a', '$.b')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jrm>.
    public static func jsonRemove<Paths: Collection>(_ value: some SQLExpressible, atPaths paths: Paths)
        -> SQLExpression
    where Paths.Element: SQLExpressible {
        .json("JSON_REMOVE", [value.sqlExpression] + paths.map { $0.sqlExpression })
    }

    /// The type of the JSON, `'object'`, `'array'`, `'text'` and so on: `JSON_TYPE(x)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jtype>.
    public static func jsonType(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value.sqlExpression])
    }

    /// The type of the part at a path, NULL if it is missing: `JSON_TYPE(x, '$.path')`.
    ///
    /// See <https://www.sqlite.org/json1.html#jtype>.
    public static func jsonType(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value.sqlExpression, path.sqlExpression])
    }

    /// Whether the value is JSON: `JSON_VALID(x)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jvalid>.
    public static func jsonIsValid(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_VALID", [value.sqlExpression])
    }

    /// Whether the value is JSON of the given kinds: `JSON_VALID(x, flags)`. Requires SQLite 3.45.
    ///
    /// See <https://www.sqlite.org/json1.html#jvalid>.
    public static func jsonIsValid(
        _ value: some SQLExpressible, options: JSONValidationOptions
    ) -> SQLExpression {
        .function("JSON_VALID", [value.sqlExpression, options.rawValue.sqlExpression], .version(3_045_000))
    }

    /// The value as JSON: text in quotes, NULL as null: `JSON_QUOTE(x)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jquote>.
    public static func jsonQuote(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_QUOTE", [value.jsonElement])
    }

    /// All values of a group as an array: `JSON_GROUP_ARRAY(x)`.
    ///
    /// ```swift
    /// Player.select(Column("teamId"), Database.jsonGroupArray(Column("name"))).group(Column("teamId"))
    /// ```
    /// ```sql
    /// SELECT "teamId", JSON_GROUP_ARRAY("name") FROM "player" GROUP BY "teamId"
    /// ```
    ///
    /// See <https://www.sqlite.org/json1.html#jgrouparray>.
    ///
    /// - parameter ordering: the order of the values, which needs SQLite 3.44; by default, the order is undefined.
    /// - parameter filter: the condition for rows to include.
    public static func jsonGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        aggregate("JSON_GROUP_ARRAY", [value.jsonElement], ordering, filter)
    }

    /// All keys and values of a group as an object: `JSON_GROUP_OBJECT(key, value)`.
    ///
    /// See <https://www.sqlite.org/json1.html#jgroupobject>.
    ///
    /// - parameter filter: the condition for rows to include.
    public static func jsonGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        aggregate("JSON_GROUP_OBJECT", [key.sqlExpression, value.jsonElement], nil, filter)
    }
}

/// `'key', value, 'key', value`
func jsonPairs(_ elements: some Sequence<(key: String, value: any SQLExpressible)>) -> [SQLExpression] {
    // A dictionary has a different order in each process, so that its SQL would differ: its keys are sorted.
    if let dictionary = elements as? [String: any SQLExpressible] {
        return dictionary.sorted { $0.key < $1.key }.flatMap { [$0.key.sqlExpression, $0.value.jsonElement] }
    }
    return elements.flatMap { [$0.key.sqlExpression, $0.value.jsonElement] }
}

func aggregate(
    _ name: String, _ arguments: [SQLExpression], _ ordering: (any SQLOrderingTerm)?,
    _ filter: (any SQLSpecificExpressible)?, _ requirement: SQLiteRequirement? = nil
) -> SQLExpression {
    var call = FunctionCall(name, arguments)
    call.isAggregate = true
    call.isJSON = true
    call.ordering = ordering.map { [$0.sqlOrdering] } ?? []
    call.filter = filter?.sqlExpression
    call.requirement = requirement
    return .node(.function(call))
}

/// The kinds of JSON that are valid: <https://www.sqlite.org/json1.html#jvalid>.
public struct JSONValidationOptions: OptionSet, Sendable {
    /// The kinds as SQLite's bits.
    public let rawValue: Int

    /// The kinds with the given bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Text of RFC 8259.
    public static let json = JSONValidationOptions(rawValue: 1)
    /// Text of JSON5, which allows unquoted keys and comments.
    public static let json5 = JSONValidationOptions(rawValue: 2)
    /// A blob that probably is SQLite's binary JSON.
    public static let probablyJSONB = JSONValidationOptions(rawValue: 4)
    /// A blob that is SQLite's binary JSON.
    public static let jsonb = JSONValidationOptions(rawValue: 8)
}

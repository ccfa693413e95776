public import QuarryCore

// Functions of text: <https://www.sqlite.org/lang_corefunc.html>.

/// The text with all occurrences of another text replaced: `REPLACE(x, y, z)`.
///
/// ```swift
/// Player.updateAll(db, Column("name").set(to: replace(Column("name"), " ", with: "_")))
/// ```
/// ```sql
/// UPDATE "player" SET "name" = REPLACE("name", ' ', '_')
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#replace>.
public func replace(
    _ text: some SQLSpecificExpressible, _ pattern: some SQLExpressible, with replacement: some SQLExpressible
) -> SQLExpression {
    .function("REPLACE", [text.sqlExpression, pattern.sqlExpression, replacement.sqlExpression])
}

/// A part of a text, or of a blob: `SUBSTR(x, start, length)`.
///
/// ```swift
/// Player.select(substr(Column("name"), 1, 3))
/// ```
/// ```sql
/// SELECT SUBSTR("name", 1, 3) FROM "player"
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#substr>.
///
/// - parameter start: the first character, counted from 1; a negative number counts from the end.
/// - parameter length: the number of characters; nil for all characters to the end.
public func substr(
    _ text: some SQLSpecificExpressible, _ start: some SQLExpressible, _ length: (any SQLExpressible)? = nil
) -> SQLExpression {
    .function("SUBSTR", [text.sqlExpression, start.sqlExpression] + (length.map { [$0.sqlExpression] } ?? []))
}

/// The text without spaces, or other given characters, at both ends: `TRIM(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#trim>.
public func trim(_ text: some SQLSpecificExpressible, _ characters: (any SQLExpressible)? = nil) -> SQLExpression {
    .function("TRIM", [text.sqlExpression] + (characters.map { [$0.sqlExpression] } ?? []))
}

/// The text without spaces, or other given characters, at its start: `LTRIM(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#ltrim>.
public func ltrim(_ text: some SQLSpecificExpressible, _ characters: (any SQLExpressible)? = nil) -> SQLExpression {
    .function("LTRIM", [text.sqlExpression] + (characters.map { [$0.sqlExpression] } ?? []))
}

/// The text without spaces, or other given characters, at its end: `RTRIM(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#rtrim>.
public func rtrim(_ text: some SQLSpecificExpressible, _ characters: (any SQLExpressible)? = nil) -> SQLExpression {
    .function("RTRIM", [text.sqlExpression] + (characters.map { [$0.sqlExpression] } ?? []))
}

/// The position of the first occurrence of a text in another text, counted from 1; 0 if there is none: `INSTR(x, y)`.
///
/// ```swift
/// Player.filter(instr(Column("name"), "ur") > 0)
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE INSTR("name", 'ur') > 0
/// ```
///
/// See <https://www.sqlite.org/lang_corefunc.html#instr>.
public func instr(_ text: some SQLSpecificExpressible, _ part: some SQLExpressible) -> SQLExpression {
    .function("INSTR", [text.sqlExpression, part.sqlExpression])
}

/// The text with ASCII letters in lower case: `LOWER(x)`. `lowercased` converts all letters.
///
/// See <https://www.sqlite.org/lang_corefunc.html#lower>.
public func lower(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LOWER", [text.sqlExpression]) }

/// The text with ASCII letters in upper case: `UPPER(x)`. `uppercased` converts all letters.
///
/// See <https://www.sqlite.org/lang_corefunc.html#upper>.
public func upper(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UPPER", [text.sqlExpression]) }

/// The bytes of a value in hexadecimal digits: `HEX(x)`.
///
/// See <https://www.sqlite.org/lang_corefunc.html#hex>.
public func hex(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("HEX", [value.sqlExpression]) }

/// The bytes of hexadecimal digits; NULL for other text: `UNHEX(x)`. Requires SQLite 3.41.
///
/// See <https://www.sqlite.org/lang_corefunc.html#unhex>.
public func unhex(_ digits: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNHEX", [digits.sqlExpression], .version(3_041_000))
}

/// The value as an SQL literal: `QUOTE(x)`. See <https://www.sqlite.org/lang_corefunc.html#quote>.
public func quote(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("QUOTE", [value.sqlExpression]) }

/// The Unicode code point of a text's first character: `UNICODE(x)`. See
/// <https://www.sqlite.org/lang_corefunc.html#unicode>.
public func unicode(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNICODE", [text.sqlExpression])
}

/// Values formatted as text: `PRINTF(format, x, y)`.
///
/// ```swift
/// Player.select(printf("%s: %05d", Column("name"), Column("score")))
/// ```
/// ```sql
/// SELECT PRINTF('%s: %05d', "name", "score") FROM "player"
/// ```
///
/// See <https://www.sqlite.org/printf.html>.
public func printf(_ format: some SQLExpressible, _ values: any SQLExpressible...) -> SQLExpression {
    .function("PRINTF", [format.sqlExpression] + values.map(\.sqlExpression))
}

// MARK: - Aggregates

/// All values of a group in one text: `GROUP_CONCAT(x, separator)`.
///
/// ```swift
/// Player.select(Column("teamId"), groupConcat(Column("name"), separator: ", ")).group(Column("teamId"))
/// ```
/// ```sql
/// SELECT "teamId", GROUP_CONCAT("name", ', ') FROM "player" GROUP BY "teamId"
/// ```
///
/// NULLs are omitted. See <https://www.sqlite.org/lang_aggfunc.html#group_concat>.
///
/// - parameter separator: the text between the values; nil for a comma.
/// - parameter isDistinct: whether equal values are included once. SQLite then accepts no separator: a request with
///   both throws.
/// - parameter ordering: the order of the values, which requires SQLite 3.44; without it, the order is undefined.
/// - parameter filter: the condition for rows to include.
public func groupConcat(
    _ value: some SQLSpecificExpressible, separator: (any SQLExpressible)? = nil, distinct isDistinct: Bool = false,
    orderBy ordering: (any SQLOrderingTerm)? = nil, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    if isDistinct, separator != nil {
        return .failing("groupConcat has no separator of distinct values: select them in a subquery")
    }
    return .aggregate(
        "GROUP_CONCAT", [value.sqlExpression] + (separator.map { [$0.sqlExpression] } ?? []), isDistinct: isDistinct,
        filter: filter, ordering: ordering)
}

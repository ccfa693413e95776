public import QuarryCore
public import QuarrySQL

extension SQLSpecificExpressible {
    /// Whether a part of the text matches a Swift regular expression: `x REGEXP pattern`.
    ///
    /// ```swift
    /// Player.filter(Column("email").regexp("@example\\.(com|org)$"))
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "email" REGEXP '@example\.(com|org)$'
    /// ```
    ///
    /// SQLite has the operator, but no function that implements it. The connection that runs the request receives such
    /// a function, unless it has its own. NULL matches nothing; numbers are matched as text. See
    /// <https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators>.
    ///
    /// - parameter pattern: a pattern in the syntax of Swift's `Regex`. A request throws if it isn't valid.
    public func regexp(_ pattern: some SQLExpressible) -> SQLExpression {
        let (value, pattern) = (sqlExpression, pattern.sqlExpression)
        return .deferred([value, pattern]) { schema in
            try schema.connection().addRegularExpressions()
            if case .value(let pattern) = pattern.content, let text = String.fromDatabaseValue(pattern) {
                _ = try RegularExpressionCache.compile(text)
            }
            return .regexp(value, pattern)
        }
    }
}

extension Database {
    /// Adds the function of `REGEXP` to the connection, unless it has one.
    fileprivate func addRegularExpressions() throws {
        let reader = schema
        guard !reader.knowsRegularExpressions else { return }
        let isThere = try Bool.fetchOne(
            cachedStatement(
                sql: """
                    SELECT EXISTS (
                        SELECT * FROM pragma_function_list WHERE name = 'regexp' COLLATE NOCASE AND narg IN (2, -1))
                    """))
        if isThere != true {
            let cache = RegularExpressionCache()
            add(
                function: DatabaseFunction("regexp", argumentCount: 2, pure: true) { values in
                    // `x REGEXP y` calls regexp(y, x).
                    guard let pattern = values[0].text, let text = values[1].text else { return nil }
                    return try cache.matches(text, pattern)
                })
        }
        reader.knowsRegularExpressions = true
    }
}

extension DatabaseValue {
    /// The text to which SQLite would cast the value; nil for NULL and blobs that aren't UTF-8.
    fileprivate var text: String? {
        switch rawStorage {
        case .null: nil
        case .string(let text): text
        case .int64(let number): String(number)
        case .double(let number): SQLiteLibrary.text(of: number)
        case .blob(let bytes): String(validating: bytes, as: UTF8.self)
        }
    }
}

/// The last regular expression used: a query uses the same one for all rows.
// `@unchecked`: only the function of one connection uses it, and one thread at a time has the connection.
private final class RegularExpressionCache: @unchecked Sendable {
    private var pattern = ""
    private var expression: Regex<AnyRegexOutput>?

    func matches(_ text: String, _ pattern: String) throws -> Bool {
        if let expression, self.pattern == pattern { return try expression.firstMatch(in: text) != nil }
        let expression = try Self.compile(pattern)
        self.pattern = pattern
        self.expression = expression
        return try expression.firstMatch(in: text) != nil
    }

    static func compile(_ pattern: String) throws -> Regex<AnyRegexOutput> {
        do {
            return try Regex(pattern)
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR, message: "invalid regular expression \(pattern.debugDescription): \(error)")
        }
    }
}

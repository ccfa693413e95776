public import QuarryCore

// Patterns, collations and the case of letters.

extension SQLSpecificExpressible {
    /// Whether the text matches a pattern, in which `%` matches any characters and `_` matches one character.
    ///
    /// ```swift
    /// Player.filter(Column("email").like("%@example.com"))
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "email" LIKE '%@example.com'
    /// ```
    ///
    /// ASCII letters match in upper and lower case: <https://www.sqlite.org/lang_expr.html#like>.
    ///
    /// - parameter escape: the character that makes a following `%` or `_` match only itself.
    public func like(_ pattern: some SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        .node(
            .pattern(
                sqlExpression, .like, pattern.sqlExpression, escape: escape?.sqlExpression, isNegated: false))
    }

    /// Whether the text matches a pattern, in which `*` matches any characters, `?` matches one character, and `[a-z]`
    /// matches a character of a range.
    ///
    /// The case of letters matters: <https://www.sqlite.org/lang_expr.html#glob>.
    public func glob(_ pattern: some SQLExpressible) -> SQLExpression {
        .node(.pattern(sqlExpression, .glob, pattern.sqlExpression, escape: nil, isNegated: false))
    }

    /// The text, compared and sorted by a collation.
    ///
    /// ```swift
    /// Player.filter(Column("name").collating(.nocase) == "arthur")
    /// Player.order(Column("name").collating(.nocase))
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "name" = 'arthur' COLLATE NOCASE
    /// SELECT * FROM "player" ORDER BY "name" COLLATE NOCASE
    /// ```
    public func collating(_ collation: SQLCollationName) -> SQLExpression {
        .node(.collated(sqlExpression, collation))
    }

    /// The text, compared and sorted by a collation written in Swift.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        .node(.collated(sqlExpression, SQLCollationName(collation.name)))
    }

    /// The text with each word capitalized, by Unicode's rules.
    public var capitalized: SQLExpression { .function("swiftCapitalizedString", [sqlExpression]) }

    /// The text in lower case, by Unicode's rules.
    public var lowercased: SQLExpression { .function("swiftLowercaseString", [sqlExpression]) }

    /// The text in upper case, by Unicode's rules.
    public var uppercased: SQLExpression { .function("swiftUppercaseString", [sqlExpression]) }

    /// The text with each word capitalized, by the rules of the process's locale.
    public var localizedCapitalized: SQLExpression { .function("swiftLocalizedCapitalizedString", [sqlExpression]) }

    /// The text in lower case, by the rules of the process's locale.
    public var localizedLowercased: SQLExpression { .function("swiftLocalizedLowercaseString", [sqlExpression]) }

    /// The text in upper case, by the rules of the process's locale.
    public var localizedUppercased: SQLExpression { .function("swiftLocalizedUppercaseString", [sqlExpression]) }
}

extension SQLExpression {
    /// `x REGEXP pattern`
    package static func regexp(_ value: SQLExpression, _ pattern: SQLExpression) -> SQLExpression {
        .node(.pattern(value, .regexp, pattern, escape: nil, isNegated: false))
    }
}

/// SQL with its values.
///
/// ```swift
/// let name = "O'Brien"
/// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(1)")
/// ```
/// ```sql
/// UPDATE player SET name = ? WHERE id = ?   -- arguments: ["O'Brien", 1]
/// ```
///
/// Interpolated values become arguments, so that user input can never become SQL. `SQL` composes with `+`, `append` and
/// `joined(separator:)`.
public struct SQL: Sendable {
    /// A part of SQL.
    package enum Element: Sendable {
        /// Text, with arguments for its parameters.
        case sql(String, StatementArguments)
        /// A value: `?`
        case value(DatabaseValue)
        /// A part whose text depends on the rendering context.
        case fragment(any SQLFragment)
        /// The SQL of a request, whose columns belong to its own tables.
        case request(SQL)
    }

    package private(set) var elements: [Element]

    package init(elements: [Element]) {
        self.elements = elements
    }

    /// Raw SQL, with the arguments of its parameters.
    ///
    /// ```swift
    /// let query = SQL(sql: "SELECT * FROM player WHERE id = ?", arguments: [1])
    /// ```
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements = [.sql(sql, arguments)]
    }

    /// Whether the SQL is empty.
    public var isEmpty: Bool {
        elements.allSatisfy { element in
            switch element {
            case .sql(let sql, _): sql.isEmpty
            case .request(let sql): sql.isEmpty
            case .value, .fragment: false
            }
        }
    }

    /// The text, and the arguments of its parameters.
    package func build(in context: any SQLContext) throws -> (sql: String, arguments: StatementArguments) {
        var text = ""
        var arguments = StatementArguments()
        for element in elements {
            switch element {
            case .sql(let sql, let others):
                text += sql
                arguments += others
            case .value(let value):
                text += "?"
                arguments += StatementArguments(values: [value])
            case .fragment(let fragment):
                let (sql, others) = try fragment.build(in: context)
                text += sql
                arguments += others
            case .request(let request):
                let (sql, others) = try request.build(in: context)
                text += sql
                arguments += others
            }
        }
        return (text, arguments)
    }

    /// Appends other SQL.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// query.append(literal: " WHERE name = \(name)")
    /// ```
    public mutating func append(literal sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// Appends raw SQL, with the arguments of its parameters.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// query.append(sql: " WHERE name = ?", arguments: ["Arthur"])
    /// ```
    public mutating func append(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.sql(sql, arguments))
    }

    /// The concatenation of both.
    ///
    /// ```swift
    /// let query: SQL = "SELECT * FROM player" + " WHERE name = \(name)"
    /// ```
    public static func + (lhs: SQL, rhs: SQL) -> SQL { SQL(elements: lhs.elements + rhs.elements) }

    /// Appends other SQL, with its values.
    ///
    /// ```swift
    /// var query: SQL = "SELECT * FROM player"
    /// if let name { query += " WHERE name = \(name)" }
    /// ```
    public static func += (lhs: inout SQL, rhs: SQL) { lhs.append(literal: rhs) }
}

extension SQL: ExpressibleByStringInterpolation {
    /// Raw SQL.
    public init(stringLiteral value: String) { self.init(sql: value) }

    /// SQL with interpolated values.
    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(elements: sqlInterpolation.elements)
    }
}

extension Sequence where Element == SQL {
    /// The elements, joined with `separator` in between.
    ///
    /// ```swift
    /// let conditions: [SQL] = ["name = \("Arthur")", "score > \(1000)"]
    /// let query: SQL = "SELECT * FROM player WHERE \(literal: conditions.joined(separator: " AND "))"
    /// ```
    public func joined(separator: String = "") -> SQL {
        var result: [SQL.Element] = []
        for (index, sql) in enumerated() {
            if index > 0, !separator.isEmpty { result.append(.sql(separator, StatementArguments())) }
            result += sql.elements
        }
        return SQL(elements: result)
    }
}

extension String {
    /// The text as an SQL identifier, in double quotes: <https://www.sqlite.org/lang_keywords.html>.
    ///
    /// ```swift
    /// "order".quotedDatabaseIdentifier // "\"order\""
    /// ```
    public var quotedDatabaseIdentifier: String {
        var quoted = "\""
        for character in unicodeScalars {
            if character == "\"" { quoted.unicodeScalars.append("\"") }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    /// The text as a literal of SQL.
    package var quotedSQLText: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}

/// Parameters for a list of values: `?,?,?`.
///
/// ```swift
/// let sql = "SELECT * FROM player WHERE id IN (\(databaseQuestionMarks(count: ids.count)))"
/// ```
///
/// - parameter count: the number of parameters; the text is empty for 0.
public func databaseQuestionMarks(count: Int) -> String {
    repeatElement("?", count: max(count, 0)).joined(separator: ",")
}

/// The interpolations of an `SQL` literal.
///
/// ```swift
/// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id IN \([1, 2])")
/// ```
/// ```sql
/// UPDATE player SET name = ? WHERE id IN (?,?)
/// ```
public struct SQLInterpolation: StringInterpolationProtocol, Sendable {
    package var elements: [SQL.Element] = []

    /// Called by the compiler.
    public init(literalCapacity: Int, interpolationCount: Int) {
        elements.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Appends the text between two interpolations.
    public mutating func appendLiteral(_ sql: String) {
        if !sql.isEmpty { elements.append(.sql(sql, StatementArguments())) }
    }

    /// `\(sql: "score DESC")`: raw SQL, with the arguments of its parameters. Never interpolate user input this way.
    public mutating func appendInterpolation(sql: String, arguments: StatementArguments = StatementArguments()) {
        elements.append(.sql(sql, arguments))
    }

    /// `\(literal: other)`: other SQL.
    public mutating func appendInterpolation(literal sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// `\(other)`: other SQL.
    public mutating func appendInterpolation(_ sqlLiteral: SQL) {
        elements += sqlLiteral.elements
    }

    /// `\(identifier: "order")`: an identifier in double quotes; quotes in the name are doubled.
    public mutating func appendInterpolation(identifier: String) {
        elements.append(.sql(identifier.quotedDatabaseIdentifier, StatementArguments()))
    }

    /// `\(column)`: a column's name as an identifier.
    public mutating func appendInterpolation(_ column: some NamedColumn) {
        appendInterpolation(identifier: column.name)
    }

    /// `\(CodingKeys.name)`: a key as an identifier.
    public mutating func appendInterpolation(_ key: some CodingKey) {
        appendInterpolation(identifier: key.stringValue)
    }

    /// `\(Database.CollationName.nocase)`: the name of a collation, in quotes if needed.
    public mutating func appendInterpolation(_ collation: SQLCollationName) {
        elements.append(.sql(collation.sql, StatementArguments()))
    }

    /// `\(value)`: a value as an argument; nil is NULL.
    public mutating func appendInterpolation(_ value: (some DatabaseValueConvertible)?) {
        elements.append(.value(value?.databaseValue ?? .null))
    }

    /// `\(value)`: a value as an argument; nil is NULL.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ value: (any DatabaseValueConvertible)?) {
        elements.append(.value(value?.databaseValue ?? .null))
    }

    // A variable of the type `[UInt8]` is a value, a blob. So the lists are disfavored, but for integers: `[]` alone is
    // a list of these.

    /// `IN \(["a", "b"])`: values as arguments in parentheses, `(?,?)`; an empty list if there are no values.
    @_disfavoredOverload
    public mutating func appendInterpolation<T: DatabaseValueConvertible>(_ array: [T]) {
        appendList(array.map(\.databaseValue))
    }

    /// `IN \(values)`: values as arguments in parentheses, `(?,?)`; an empty list if there are no values.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ values: [DatabaseValue]) {
        appendList(values)
    }

    /// `IN \(1...3)`: values as arguments in parentheses, `(?,?,?)`; an empty list if there are no values.
    @_disfavoredOverload
    public mutating func appendInterpolation<S: Sequence>(_ sequence: S) where S.Element: DatabaseValueConvertible {
        appendList(sequence.map(\.databaseValue))
    }

    /// `IN \([1, 2, 3])`: integers as arguments in parentheses, `(?,?,?)`.
    ///
    /// Without this overload, a literal of integers would be interpreted as bytes, which are one value, a blob.
    public mutating func appendInterpolation(_ integers: [Int]) {
        appendList(integers.map(\.databaseValue))
    }

    /// `IN \(values)`: values as arguments in parentheses, `(?,?,?)`; an empty list if there are no values.
    @_disfavoredOverload
    public mutating func appendInterpolation<S: Sequence>(_ sequence: S)
    where S.Element == any DatabaseValueConvertible {
        appendList(sequence.map(\.databaseValue))
    }

    private mutating func appendList(_ values: [DatabaseValue]) {
        guard !values.isEmpty else {
            // `()` is SQLite's own extension, and isn't a subquery; this text is both portable and empty.
            elements.append(.sql("(SELECT NULL WHERE NULL)", StatementArguments()))
            return
        }
        let marks = Array(repeating: "?", count: values.count).joined(separator: ",")
        elements.append(.sql("(\(marks))", StatementArguments(values: values)))
    }

    /// Whether a SELECT comes next without parentheses around it: at the beginning, in parentheses, after the columns
    /// of INSERT or the tables of WITH, between the parts of a compound, after `CREATE … AS`.
    package var isBeforeStatement: Bool {
        var text = ""
        for element in elements.reversed() {
            guard case .sql(let sql, _) = element else {
                guard case .fragment(let fragment) = element, fragment.definesTable else { break }
                text = ") " + text
                break
            }
            text = sql + text
        }
        let last = text.utf8.last { $0 > 32 }
        guard let last else { return elements.allSatisfy { if case .sql = $0 { true } else { false } } }
        if [UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ";")].contains(last) { return true }
        let words = text.utf8.split { $0 <= 32 }.suffix(2).map { String(Substring($0)).uppercased() }
        switch words.last {
        case "UNION", "EXCEPT", "INTERSECT", "EXPLAIN": return true
        case "ALL": return words.first == "UNION"
        case "PLAN": return words.first == "QUERY"
        case "AS": return beginsWith("CREATE")
        default: return words.count == 2 && words[0] == "INTO"
        }
    }

    private func beginsWith(_ word: String) -> Bool {
        guard case .sql(let sql, _)? = elements.first else { return false }
        return sql.utf8.split { $0 <= 32 }.first.map { String(Substring($0)).uppercased() } == word
    }
}

package import QuarryCore

/// Writes queries as SQL, with the arguments of its parameters.
package struct QueryWriter {
    /// What is known of the schema.
    package let schema: any QuerySchema

    private(set) var text: [UInt8] = []
    private(set) var arguments: [DatabaseValue] = []

    /// The queries around what is written, the innermost last.
    var scopes: [Scope] = []

    /// The scopes, by their place, with a table that hides another of the same name, which is meant.
    var hidingScopes: Set<Int> = []

    /// How many expressions and queries are around what is written.
    var depth = 0

    /// What SQLite can do: what it can't is written in another way, or throws.
    package var abilities = SQLiteAbilities.ofLibrary

    package init(schema: any QuerySchema) {
        self.schema = schema
        text.reserveCapacity(128)
    }

    /// The tables of a query.
    struct Scope {
        struct Table {
            var query: SelectQuery
            var identities: [TableIdentity]
            /// The name in SQL.
            var name: String
            /// Whether it has its name: an empty one is a name, too.
            var isNamed = false
        }

        var tables: [Table]

        /// The table whose columns need no table's name of their own.
        var current = 0

        /// Whether columns are written with their table's name.
        var isQualified: Bool
    }

    // MARK: - Text

    mutating func write(_ sql: StaticString) {
        text.append(contentsOf: UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount))
    }

    mutating func write(sql: String) { text.append(contentsOf: sql.utf8) }

    mutating func write(bytes: ArraySlice<UInt8>) { text.append(contentsOf: bytes) }

    /// `"name"`
    mutating func write(identifier name: String) {
        text.append(UInt8(ascii: "\""))
        for byte in name.utf8 {
            if byte == UInt8(ascii: "\"") { text.append(byte) }
            text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
    }

    /// `?`
    mutating func write(_ value: DatabaseValue) {
        text.append(UInt8(ascii: "?"))
        arguments.append(value)
    }

    mutating func write<Elements: Sequence>(
        list: Elements, separator: StaticString = ", ", _ body: (inout QueryWriter, Elements.Element) throws -> Void
    ) rethrows {
        var isFirst = true
        for element in list {
            if !isFirst { write(separator) }
            isFirst = false
            try body(&self, element)
        }
    }

    /// What was written as SQL, with what is interpolated.
    mutating func write(literal sql: SQL) throws {
        let start = mark
        for element in sql.elements {
            switch element {
            case .sql(let text, let arguments):
                if arguments.isEmpty {
                    write(sql: text)
                } else if arguments.isPositional, !text.mayNameParameters {
                    write(sql: text)
                    self.arguments += arguments.values
                } else {
                    return try rewriteParameters(of: sql, from: start)
                }
            case .value(let value): write(value)
            case .fragment(let fragment):
                if let fragment = fragment as? any QueryFragment {
                    try fragment.write(to: &self)
                } else {
                    let (text, arguments) = try fragment.build(in: schema)
                    try write(literal: SQL(sql: text, arguments: arguments))
                }
            }
        }
    }

    // MARK: - Results

    package func sql() -> String { String(decoding: text, as: UTF8.self) }

    package func statementArguments() -> StatementArguments { StatementArguments(values: arguments) }

    func misuse(_ message: String, sql: String? = nil) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
    }

    // MARK: - Trying

    struct Mark {
        fileprivate var text: Int
        fileprivate var arguments: Int
    }

    /// Where writing can begin again.
    var mark: Mark { Mark(text: text.count, arguments: arguments.count) }

    /// Whether what was written from one mark to another was written again since.
    func isSame(from start: Mark, to end: Mark) -> Bool {
        text[start.text..<end.text].elementsEqual(text[end.text...])
            && arguments[start.arguments..<end.arguments].elementsEqual(arguments[end.arguments...])
    }

    mutating func goBack(to mark: Mark) {
        text.removeSubrange(mark.text...)
        arguments.removeSubrange(mark.arguments...)
    }

    /// Writes the values of what was written since a mark as literals, where SQLite compares expressions by their text.
    mutating func inlineArguments(since mark: Mark) throws {
        let sql = String(decoding: text[mark.text...], as: UTF8.self)
        let values = StatementArguments(values: Array(arguments[mark.arguments...]))
        goBack(to: mark)
        write(
            sql: try SQLLiteral.inlining(values, into: sql) { value in
                try SQLLiteral.text(of: value, readsExactly: { _, _ in true }, isUTF8: { true })
            })
    }
}

/// What is interpolated into SQL, and is written among the tables of the query around it.
package protocol QueryFragment: SQLFragment {
    func write(to writer: inout QueryWriter) throws
}

extension QueryFragment {
    package func build(in context: any SQLContext) throws -> (sql: String, arguments: StatementArguments) {
        guard let schema = context as? any QuerySchema else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "SQL of the query interface is rendered without a schema")
        }
        var writer = QueryWriter(schema: schema)
        try write(to: &writer)
        return (writer.sql(), writer.statementArguments())
    }
}

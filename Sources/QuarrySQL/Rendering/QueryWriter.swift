package import QuarryCore

/// Writes queries as SQL, with the arguments of its parameters.
package struct QueryWriter {
    /// The schema.
    package let schema: any QuerySchema

    private(set) var text: [UInt8] = []
    private(set) var arguments: [DatabaseValue] = []

    /// The scopes of the enclosing queries and the current one, which is the last.
    var scopes: [Scope] = []

    /// The indexes of scopes with a table that hides an outer table of the same name to which a column refers.
    var hidingScopes: Set<Int> = []

    /// The number of enclosing expressions and queries.
    var depth = 0

    /// The abilities of SQLite. SQL that it can't run is written in another way, or throws.
    package var abilities = SQLiteAbilities.ofLibrary

    package init(schema: any QuerySchema) {
        self.schema = schema
        text.reserveCapacity(128)
    }

    /// The tables of a query; none if the query is written as SQL.
    struct Scope {
        struct Table {
            var query: SelectQuery
            var identities: [TableIdentity]
            /// The name in SQL.
            var name: String
            /// Whether the name has been set; it may be empty.
            var isNamed = false
        }

        var tables: [Table]

        /// The index of the table whose columns need no qualification.
        var current = 0

        /// Whether columns are qualified by their table's name.
        var isQualified: Bool

        /// The table whose columns need no qualification.
        var currentTable: Table? { tables.isEmpty ? nil : tables[current] }
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

    /// Writes raw SQL and its interpolations.
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
            case .request(let request):
                if request.namesParameters { return try rewriteParameters(of: sql, from: start) }
                try inOwnTables { try $0.write(literal: request) }
            }
        }
    }

    /// Writes SQL whose tables aren't known, and hide those of the enclosing query.
    mutating func inOwnTables(_ body: (inout QueryWriter) throws -> Void) rethrows {
        scopes.append(Scope(tables: [], isQualified: false))
        defer { scopes.removeLast() }
        try body(&self)
    }

    // MARK: - Results

    package func sql() -> String { String(decoding: text, as: UTF8.self) }

    package func statementArguments() -> StatementArguments { StatementArguments(values: arguments) }

    // MARK: - Trying

    struct Mark {
        fileprivate var text: Int
        fileprivate var arguments: Int
    }

    /// The current position, to which the writer can go back.
    var mark: Mark { Mark(text: text.count, arguments: arguments.count) }

    /// Whether the text between two marks equals the text after the second.
    func isSame(from start: Mark, to end: Mark) -> Bool {
        text[start.text..<end.text].elementsEqual(text[end.text...])
            && arguments[start.arguments..<end.arguments].elementsEqual(arguments[end.arguments...])
    }

    mutating func goBack(to mark: Mark) {
        text.removeSubrange(mark.text...)
        arguments.removeSubrange(mark.arguments...)
    }

    /// Replaces the arguments since a mark by literals, because SQLite compares expressions by their text.
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

/// An interpolation of SQL, which is rendered among the tables of the surrounding query.
package protocol QueryFragment: SQLFragment {
    func write(to writer: inout QueryWriter) throws
}

extension QueryFragment {
    package func build(in context: any SQLContext) throws -> (sql: String, arguments: StatementArguments) {
        guard let schema = context as? any QuerySchema else {
            throw DatabaseError.misuse("SQL of the query interface is rendered without a schema")
        }
        var writer = QueryWriter(schema: schema)
        try write(to: &writer)
        return (writer.sql(), writer.statementArguments())
    }
}

import QuarryCore

// A request consists of parts, and a parameter's name is only valid within its part. So all parameters are written as
// `?`.

extension QueryWriter {
    /// Rewrites SQL whose parameters have names or numbers.
    ///
    /// - parameter start: the position where the SQL begins in the text.
    @inline(never)
    mutating func rewriteParameters(of sql: SQL, from start: Mark) throws {
        goBack(to: start)
        var shared: [String: DatabaseValue] = [:]
        try collectNames(of: sql, &shared)
        var used: Set<String> = []
        try write(sql, shared, &used)
        if let surplus = shared.keys.sorted().first(where: { !used.contains($0) }) {
            throw DatabaseError.misuse("no parameter has the name of the argument \(surplus)", sql: sql.plainText)
        }
    }

    /// The named arguments of some SQL, also of requests in it.
    private func collectNames(of sql: SQL, _ shared: inout [String: DatabaseValue]) throws {
        for element in sql.elements {
            switch element {
            case .sql(let text, let arguments):
                if let name = arguments.conflict {
                    throw DatabaseError.misuse("two values have the name \(name)", sql: text)
                }
                shared.merge(arguments.namedValues) { first, _ in first }
            case .request(let request): try collectNames(of: request, &shared)
            case .value, .fragment: break
            }
        }
    }

    private mutating func write(
        _ sql: SQL, _ shared: [String: DatabaseValue], _ used: inout Set<String>
    ) throws {
        for element in sql.elements {
            switch element {
            case .sql(let text, let arguments): try write(text, arguments, shared, &used)
            case .request(let request): try inOwnTables { try $0.write(request, shared, &used) }
            case .value, .fragment: try write(literal: SQL(elements: [element]))
            }
        }
    }

    /// - parameter shared: the named arguments of the surrounding SQL.
    private mutating func write(
        _ text: String, _ arguments: StatementArguments, _ shared: [String: DatabaseValue], _ used: inout Set<String>
    ) throws {
        let named = arguments.namedValues
        var scanner = SQLScanner(text)
        var known: [String: DatabaseValue] = [:]
        // A parameter without a number follows the largest number: https://www.sqlite.org/lang_expr.html#varparam
        var number = 0
        while let token = scanner.next() {
            guard case .parameter(let name) = token.kind else {
                write(bytes: scanner.bytes[token.range])
                continue
            }
            let parameter = String(decoding: scanner.bytes[token.range], as: UTF8.self)
            if let name, let value = named[name] ?? shared[name] {
                used.insert(name)
                write(value)
            } else if let value = known[parameter] {
                write(value)
            } else {
                var place = number + 1
                if name == nil, let own = Int(parameter.dropFirst()) { place = own }
                guard arguments.values.indices.contains(place - 1) else {
                    throw DatabaseError.misuse("missing argument for parameter \(parameter)", sql: text)
                }
                number = max(number, place)
                let value = arguments.values[place - 1]
                if name != nil { known[parameter] = value }
                write(value)
            }
        }
        guard number == arguments.values.count else {
            throw DatabaseError.misuse(
                "wrong number of arguments: \(arguments.values.count) for \(number) parameters", sql: text)
        }
    }
}

extension SQL {
    /// Whether arguments may have names or numbers, also those of requests inside.
    var namesParameters: Bool {
        elements.contains { element in
            switch element {
            case .sql(let text, let arguments):
                !arguments.isEmpty && (!arguments.isPositional || text.mayNameParameters)
            case .request(let sql): sql.namesParameters
            case .value, .fragment: false
            }
        }
    }
}

extension String {
    /// Whether parameters may have names or numbers: `:name`, `@name`, `$name`, `?1`.
    var mayNameParameters: Bool {
        var isBehindMark = false
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"): return true
            case 48...57 where isBehindMark: return true
            default: isBehindMark = byte == UInt8(ascii: "?")
            }
        }
        return false
    }
}

package import QuarryCore

/// Values as literals, for statements that take no arguments: those that define the schema.
///
/// See <https://www.sqlite.org/lang_expr.html#literal_values_constants_>.
package enum SQLLiteral {
    /// An SQL expression that evaluates to the value.
    ///
    /// - parameter readsExactly: returns whether SQLite reads the text of a real as the same real. SQLite may miss the
    ///   last bit of numbers with many digits.
    /// - parameter isUTF8: returns whether the database stores texts in UTF-8.
    /// - throws: `SQLITE_MISMATCH` for a value that can't be stored.
    package static func text(
        of value: DatabaseValue, readsExactly: (String, Double) throws -> Bool, isUTF8: () throws -> Bool
    ) throws -> String {
        if let reason = value.reasonItIsUnrepresentable {
            throw DatabaseError(
                resultCode: .SQLITE_MISMATCH, message: "could not write \(value) as a literal: \(reason)")
        }
        switch value.rawStorage {
        case .null: return "NULL"
        case .int64(let value): return String(value)
        case .double(let value): return try text(of: value, readsExactly)
        case .blob(let bytes): return blob(bytes)
        case .string(let value):
            guard value.utf8.contains(0) else { return quoted(value) }
            // A NUL would end the SQL. https://www.sqlite.org/nulinstr.html
            if try isUTF8() { return "(CAST(\(blob(Array(value.utf8))) AS TEXT))" }
            let parts = value.utf8.split(separator: 0, omittingEmptySubsequences: false)
            return "(" + parts.map { quoted(String(Substring($0))) }.joined(separator: " || char(0) || ") + ")"
        }
    }

    /// The text in single quotes, with inner quotes doubled.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted.unicodeScalars.append("'") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "'"
    }

    private static func blob(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = Array("X'".utf8)
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self) + "'"
    }

    private static func text(of value: Double, _ readsExactly: (String, Double) throws -> Bool) throws -> String {
        // SQLite has no literal for infinities, but reads numbers that are too large as infinity.
        guard value.isFinite else { return value < 0 ? "-9e999" : "9e999" }
        let shortest = String(value)
        // SQLite reads sixteenths with few digits without rounding.
        if value.magnitude < 1_099_511_627_776, (value * 16).rounded() == value * 16 { return shortest }
        if try readsExactly(shortest, value) { return shortest }
        for neighbour in neighbours(of: shortest) where try readsExactly(neighbour, value) { return neighbour }
        return product(value)
    }

    /// Numbers of 17 digits close to a number, the nearest first. SQLite may round one of them to that number.
    private static func neighbours(of text: String) -> [String] {
        let parts = text.drop { $0 == "-" }.split(separator: "e")
        let digits = parts[0].filter { $0 != "." }
        let significant = digits.drop { $0 == "0" }
        let point = parts[0].prefix { $0 != "." }.count
        let count = 17
        let padded = significant + String(repeating: "0", count: max(0, count - significant.count))
        guard let number = Int64(padded), let exponent = parts.count > 1 ? Int(parts[1]) : 0 else { return [] }
        // 0.012: the first significant digit is two places after the point.
        let leading = point - (digits.count - significant.count) - 1 + exponent
        let sign = text.hasPrefix("-") ? "-" : ""
        return (1...40).flatMap { [number + $0, number - $0] }.map { neighbour in
            let digits = String(neighbour)
            return "\(sign)\(digits.prefix(1)).\(digits.dropFirst())e\(leading + digits.count - padded.count)"
        }
    }

    /// A number as a product of an integer and powers of two: each factor and each product is exact.
    private static func product(_ value: Double) -> String {
        let significand = Int64(value.significand * 4_503_599_627_370_496)  // 2⁵², which all its digits fit in
        var text = "(" + (value.sign == .minus ? "-" : "") + "\(significand).0"
        var exponent = Int(value.exponent) - 52
        let symbol = exponent < 0 ? "/" : "*"
        exponent = abs(exponent)
        while exponent > 0 {
            let step = min(exponent, 52)
            text += " \(symbol) \(Int64(1) << step).0"
            exponent -= step
        }
        return text + ")"
    }
}

extension SQLLiteral {
    /// SQL with its parameters replaced by literals.
    ///
    /// ```swift
    /// "name <> ? AND score > ?", ["x", 1]  ->  "name <> 'x' AND score > 1"
    /// ```
    ///
    /// Text in quotes and comments is unchanged. Two minus signs would begin a comment: `-?` with -1 becomes `-(-1)`.
    /// An integer would be the index of a column: `ORDER BY ?` with 1 becomes `ORDER BY (0 + 1)`.
    ///
    /// - parameter literal: returns the literal of a value.
    /// - throws: `SQLITE_MISUSE` if the number of parameters differs from the number of arguments.
    package static func inlining(
        _ arguments: StatementArguments, into sql: String, literal: (DatabaseValue) throws -> String
    ) throws -> String {
        guard !arguments.isEmpty else { return sql }
        var scanner = SQLScanner(sql)
        var text: [UInt8] = []
        var position = 0
        var terms = TermScanner()
        func append(literalOf value: DatabaseValue) throws {
            let sql = try literal(value)
            if case .int64 = value.rawStorage, terms.isAtStart {
                text += Array("(0 + \(sql))".utf8)
            } else {
                let beginsComment = sql.hasPrefix("-") && text.last == UInt8(ascii: "-")
                text += Array((beginsComment ? "(\(sql))" : sql).utf8)
            }
        }
        while let token = scanner.next() {
            guard case .parameter(let name) = token.kind else {
                terms.see(scanner.bytes[token.range])
                text += scanner.bytes[token.range]
                continue
            }
            defer { terms.seeOperand() }
            if let name, let value = arguments.namedValues[name] {
                try append(literalOf: value)
            } else if position < arguments.values.count {
                try append(literalOf: arguments.values[position])
                position += 1
            } else {
                let parameter = String(decoding: scanner.bytes[token.range], as: UTF8.self)
                throw DatabaseError.misuse("missing argument for parameter \(parameter)", sql: sql)
            }
        }
        guard position == arguments.values.count else {
            throw DatabaseError.misuse("more arguments than parameters: \(arguments.values.count)", sql: sql)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Finds the beginnings of the terms of ORDER BY and GROUP BY, where SQLite takes a number for the index of a column:
/// <https://www.sqlite.org/lang_select.html#the_order_by_clause>.
private struct TermScanner {
    /// Whether the next token begins a term, or follows signs and parentheses that do.
    private(set) var isAtStart = false

    private var depth = 0
    /// The depths of the lists of terms.
    private var lists: [Int] = []
    /// Whether the last word was ORDER or GROUP.
    private var mayBegin = false

    /// - parameter token: no parameter.
    mutating func see(_ token: ArraySlice<UInt8>) {
        guard let first = token.first else { return }
        if first <= UInt8(ascii: " ") || token.starts(with: "--".utf8) || token.starts(with: "/*".utf8)
            || token.starts(with: "\u{FEFF}".utf8)
        {
            return
        }
        switch first {
        case UInt8(ascii: "("): depth += 1
        case UInt8(ascii: ")"):
            depth -= 1
            lists.removeAll { $0 > depth }
            seeOperand()
        case UInt8(ascii: ","): isAtStart = lists.last == depth
        case UInt8(ascii: "+"), UInt8(ascii: "-"): break
        default: see(word: String(decoding: token, as: UTF8.self).uppercased())
        }
    }

    private mutating func see(word: String) {
        let begins = mayBegin && word == "BY"
        seeOperand()
        switch word {
        case "ORDER", "GROUP": mayBegin = true
        case "BY" where begins:
            lists.append(depth)
            isAtStart = true
        case "HAVING", "WINDOW", "UNION", "INTERSECT", "EXCEPT", "LIMIT", ";": lists.removeAll { $0 == depth }
        default: break
        }
    }

    /// A parameter, or another token that ends the beginning of a term.
    mutating func seeOperand() {
        isAtStart = false
        mayBegin = false
    }
}

#if Instrumentation || AllButTLS
/// The operation and the tables of a statement, found by looking at its words.
///
/// ```swift
/// StatementSummary("SELECT * FROM player WHERE id = ?").text // SELECT player
/// StatementSummary("INSERT INTO archive SELECT * FROM player").text // INSERT archive SELECT player
/// ```
///
/// OpenTelemetry calls it a summary of low cardinality:
/// <https://opentelemetry.io/docs/specs/semconv/database/database-spans/#generating-a-summary-of-the-query>. Any text
/// is accepted; of one that isn't SQL there is no operation.
struct StatementSummary: Hashable {
    /// The length of a summary at most, in bytes.
    static let maximumLength = 255

    /// The first keyword, or the one after the tables of a `WITH`: `SELECT`, `BEGIN`, `CREATE TABLE`.
    private(set) var operation: String?

    /// The table, if the statement names only one.
    var collection: String? { tables.count == 1 ? tables[0] : nil }

    /// The operations and their tables, at most `maximumLength`; empty if there is no operation.
    private(set) var text = ""

    /// The tables, in the order in which they are first named.
    private var tables: [String] = []

    init(_ sql: String) {
        var words = SQLWords(sql)
        guard let first = words.next() else { return }
        if first.keyword == "EXPLAIN" {
            operation = "EXPLAIN"
            text = "EXPLAIN"
            return
        }
        guard let keyword = first.keyword else { return }
        switch keyword {
        case "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "VALUES": readTables(first, &words, withNames: false)
        case "WITH": readTables(first, &words, withNames: true)
        case "CREATE", "DROP", "ALTER": readDefinition(keyword, &words)
        case "PRAGMA":
            operation = keyword
            text = Self.text(of: [keyword, words.next()?.name])
        case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ANALYZE", "VACUUM", "REINDEX", "ATTACH",
            "DETACH":
            operation = keyword
            text = keyword
        default: break
        }
    }

    /// As many of the parts as fit.
    fileprivate static func text(of parts: [String?]) -> String {
        var length = -1
        return parts.compactMap(\.self).prefix { part in
            length += part.utf8.count + 1
            return length <= maximumLength
        }.joined(separator: " ")
    }

    // MARK: - Reading

    /// `CREATE UNIQUE INDEX IF NOT EXISTS a ON b`, `DROP TABLE a`.
    private mutating func readDefinition(_ verb: String, _ words: inout SQLWords) {
        let kinds: Set<String> = ["TABLE", "INDEX", "VIEW", "TRIGGER"]
        while let word = words.next() {
            guard let keyword = word.keyword else { break }
            if kinds.contains(keyword) {
                operation = "\(verb) \(keyword)"
                break
            }
            guard ["UNIQUE", "TEMP", "TEMPORARY", "VIRTUAL"].contains(keyword) else { break }
        }
        guard let operation else {
            self.operation = verb
            text = verb
            return
        }
        var word = words.next()
        while let keyword = word?.keyword, ["IF", "NOT", "EXISTS"].contains(keyword) { word = words.next() }
        let name = words.qualifiedName(&word)
        text = Self.text(of: [operation, name])
        if operation.hasSuffix("TABLE"), let name { tables = [name] }
    }

    /// Reads a statement that reads or changes rows.
    ///
    /// - parameter withNames: whether it begins with `WITH`, which names tables of its own.
    private mutating func readTables(_ first: SQLWords.Word, _ words: inout SQLWords, withNames: Bool) {
        var names = TableNames()
        var commonNames: Set<String> = []
        var depth = 0
        /// The depths at which a comma separates tables.
        var listDepths: Set<Int> = []
        var previous: SQLWords.Word?
        var current: SQLWords.Word? = first

        while let word = current {
            var next = words.next()
            var table: String?
            switch word.keyword {
            case _ where word == .punctuation(UInt8(ascii: "(")): depth += 1
            case _ where word == .punctuation(UInt8(ascii: ")")):
                depth -= 1
                listDepths = listDepths.filter { $0 <= depth }
            case _ where word == .punctuation(UInt8(ascii: ",")):
                if listDepths.contains(depth) { table = words.readTable(&next, orFunction: true) }
            case "SELECT", "INSERT", "DELETE",
                // A function, or a way to resolve a conflict.
                "REPLACE" where next != .punctuation(UInt8(ascii: "(")) && previous?.keyword != "OR",
                // `INSERT INTO a VALUES (1)` is an insertion.
                "VALUES" where operation == nil && depth == 0:
                begin(word, depth, &names)
                listDepths.remove(depth)
            // The rest of an insertion: `ON CONFLICT DO UPDATE`.
            case "UPDATE" where previous?.keyword != "DO":
                begin(word, depth, &names)
                if next?.keyword == "OR" {
                    _ = words.next()
                    next = words.next()
                }
                table = words.readTable(&next)
            case "INTO": table = words.readTable(&next)
            case "JOIN": table = words.readTable(&next, orFunction: true)
            // `a IS DISTINCT FROM b` is an expression.
            case "FROM" where previous?.keyword != "DISTINCT":
                listDepths.insert(depth)
                table = words.readTable(&next, orFunction: true)
            case "WHERE", "GROUP", "ORDER", "LIMIT", "SET", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "RETURNING":
                listDepths.remove(depth)
            case "WITH", "RECURSIVE", "AS", "NOT", "MATERIALIZED": break
            default:
                if withNames, depth == 0, operation == nil, let name = word.name {
                    commonNames.insert(name.lowercased())
                }
            }
            if let table, !commonNames.contains(table.lowercased()) { names.append(table) }
            previous = word
            current = next
        }
        tables = names.tables
        text = names.text
    }

    /// A verb has been read.
    private mutating func begin(_ verb: SQLWords.Word, _ depth: Int, _ names: inout TableNames) {
        names.begin(verb.keyword)
        if operation == nil, depth == 0 { operation = verb.keyword }
    }
}

/// The verbs of a statement, and their tables.
private struct TableNames {
    private(set) var tables: [String] = []
    private var parts: [String] = []
    /// The last verb, until it has a table.
    private var verb: String?

    mutating func begin(_ verb: String?) { self.verb = verb }

    mutating func append(_ table: String) {
        if let verb = verb { parts.append(verb) }
        verb = nil
        if parts.last != table { parts.append(table) }
        if !tables.contains(table) { tables.append(table) }
    }

    /// `INSERT archive SELECT player`
    var text: String { StatementSummary.text(of: parts + [verb]) }
}

extension SQLWords {
    /// The name of a table, if `word` begins one.
    ///
    /// - parameter orFunction: whether parentheses after the name make it a function: `json_each(?)`.
    fileprivate mutating func readTable(_ word: inout Word?, orFunction: Bool = false) -> String? {
        let name = qualifiedName(&word)
        return orFunction && word == .punctuation(UInt8(ascii: "(")) ? nil : name
    }
}
#endif

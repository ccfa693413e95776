import Quarry
import QuarryTestSupport

/// Tables with names and values that ask for trouble.
///
/// Columns have no type, so that values stay as they are. The first column numbers the rows.
struct RandomSchema {
    struct Table {
        let name: String
        let columns: [String]
        let rows: [[DatabaseValue]]
    }

    let tables: [Table]

    init(using random: inout SeededGenerator) {
        var names: [String] = []
        for _ in 0..<2 { names.append(Self.name(unlike: names, using: &random)) }
        tables = names.map { name in
            var columns: [String] = []
            for _ in 0..<Int.random(in: 2...5, using: &random) {
                columns.append(Self.name(unlike: columns, using: &random))
            }
            let rows = (0..<Int.random(in: 0...12, using: &random)).map { number in
                [number.databaseValue] + columns.dropFirst().map { _ in Self.value(using: &random) }
            }
            return Table(name: name, columns: columns, rows: rows)
        }
    }

    /// Creates the tables, by SQL that owes nothing to what is tested.
    func create(_ db: Database) throws {
        for table in tables {
            try db.execute(
                sql: "CREATE TABLE \(quoted(table.name)) (\(table.columns.map(quoted).joined(separator: ", ")))")
            let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
            for row in table.rows {
                try db.execute(
                    sql: "INSERT INTO \(quoted(table.name)) VALUES (\(marks))", arguments: StatementArguments(row))
            }
        }
    }

    /// By bytes: a quote with a combining accent is another character of Swift's.
    private func quoted(_ name: String) -> String {
        let quote = UInt8(ascii: "\"")
        return "\"" + String(decoding: name.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }, as: UTF8.self) + "\""
    }
}

// MARK: - Names

extension RandomSchema {
    /// A name that SQLite takes for another one than those.
    static func name(unlike others: [String], using random: inout SeededGenerator) -> String {
        while true {
            var name = names.randomElement(using: &random)!
            if Int.random(in: 0..<3, using: &random) == 0 { name += pieces.randomElement(using: &random)! }
            if !others.contains(where: { isSame($0, name) }) { return name }
        }
    }

    /// SQLite compares names by their bytes, but for the case of ASCII letters.
    private static func isSame(_ name: String, _ other: String) -> Bool {
        func folded(_ name: String) -> [UInt8] {
            name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        }
        return folded(name) == folded(other)
    }

    private static let names = [
        "a", "b", "id", "name", "rowid", "select", "FROM", "Order", "NULL", "true", "1", "2.5", "*", "?", "?1", ":a",
        " ", "a b", "a.b", "a\"b", "\"", "\"\"", "'", "a'b", "`a`", "[a]", "]", "--", "/*", "*/", ";", "a;b", "\n",
        "\t", "\\", "%s", "$1", "@a", "#", "👩‍👩‍👧", "é", "e\u{301}", "ß", "\u{FEFF}x", "\u{202E}", "subquery", "player",
    ]
    private static let pieces = ["\"", "'", " ", "1", "2", "\u{301}", ".", "(", ")", "_", "🎉", " AS x", "--", "\" \""]
}

// MARK: - Values

extension RandomSchema {
    static func value(using random: inout SeededGenerator) -> DatabaseValue {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: .null
        case 2, 3, 4: integers.randomElement(using: &random)!.databaseValue
        case 5, 6: numbers.randomElement(using: &random)!.databaseValue
        case 7, 8: texts.randomElement(using: &random)!.databaseValue
        default: blobs.randomElement(using: &random)!.databaseValue
        }
    }

    static let integers: [Int64] = [
        0, 1, 1, 2, -1, 97, .min, .min + 1, .max, .max - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1 << 62,
        4_294_967_296,
    ]
    static let numbers: [Double] = [
        0, 1, 0.5, -0.5, 1.5, 0.1, -1, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0x1p53,
        0x1p62, 0x1p63, -0x1p63, 1e-300, 123_456_789.123_456_78,
    ]
    static let texts = [
        "", "a", "A", "b", "aa", " a", "é", "e\u{301}", "1", "1.0", "NULL", "'", "''", "\"", "a'b", "%", "_", "\\",
        "x'61'", "'; DROP TABLE a; --", "?1", "👩‍👩‍👧", "\u{10FFFF}", "\n", "\u{FFFD}",
    ]
    private static let blobs: [[UInt8]] = [[], [0], [0, 0], [0x61], [0x31], [0x27], [0xFF], [0xFF, 0], [0xC3]]
}

import QuarryTestSupport

/// Statements made of chance: each is written for the tables that exist when it is asked for.
struct RandomProgram {
    var random: SeededGenerator
    /// The tables and views, as the statements before have left them.
    var tables: [ReferenceConnection.Table] = []
    /// The arguments of the statement that is being written.
    private var arguments: [ExactValue] = []
    private var written: [RandomStatement] = []

    init(random: SeededGenerator) { self.random = random }

    /// Names that have to be quoted, or nearly.
    private static let names = [
        "t", "u", "player", "order", "a b", "a\"b", "é", "'", "[x]", ";", "--", "1", "👩‍👩‍👧", "%s", "?1", "rowid_", "T2",
    ]
    private static let columnNames = [
        "a", "b", "c", "id", "select", "x y", "q\"q", "É", ";", "$1", ":a", "🎉", "''", "NULL", "a.b", "/*",
    ]

    /// The next statement. Some come twice, so that kept ones run again.
    mutating func next() -> RandomStatement {
        if chance(15), let old = written.randomElement(using: &random) { return old }
        arguments = []
        var (sql, changesSchema) = text()
        if chance(1), let space = ["  ", "\n-- x\n", "/* y */"].randomElement(using: &random) { sql = space + sql }
        let statement = RandomStatement(sql: sql, arguments: arguments, changesSchema: changesSchema)
        if written.count < 60 { written.append(statement) } else { written[number(60)] = statement }
        return statement
    }

    private mutating func text() -> (sql: String, changesSchema: Bool) {
        if tables.isEmpty || (tables.count < 4 && chance(8)) { return (createTable(), true) }
        switch number(100) {
        case 0..<24: return (insert(), false)
        case 24..<34: return (update(), false)
        case 34..<38: return (delete(), false)
        case 38..<58: return (select(depth: 2), false)
        case 58..<63: return (compound(), false)
        case 63..<67: return (window(), false)
        case 67..<71: return (json(), false)
        case 71..<74: return ("SELECT \(list(3) { $0.expression(2, nil) })", false)
        case 74..<84: return (transaction(), true)
        case 84..<94: return (definition(), true)
        case 94..<97: return (pragma(), false)
        default: return (broken(), false)
        }
    }

    // MARK: - Chance

    private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func chance(_ percent: Int) -> Bool { number(100) < percent }

    private mutating func pick<T>(_ values: [T]) -> T { values[number(values.count)] }

    private mutating func list(
        _ maximum: Int, separator: String = ", ", _ part: (inout RandomProgram) -> String
    ) -> String {
        (0...number(maximum)).map { _ in part(&self) }.joined(separator: separator)
    }

    private func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    // MARK: - Values

    private mutating func value() -> ExactValue {
        switch number(24) {
        case 0, 1: .null
        case 2...6: .integer(Int64(number(20)))
        case 7: .integer(pick([.max, .min, .max - 1, 1 << 53, (1 << 53) + 1, -1, 1 << 32]))
        case 8, 9:
            .real(
                pick([
                    0, -0.0, 1, 0.1, 1.5, -2.5, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity,
                    9.2233720368547758e18, 1e15,
                ])
                .bitPattern)
        case 10: .real(Double(bitPattern: random.next()).finiteOrZero.bitPattern)
        case 11...16:
            .text(Array(pick(["a", "b", "A", "", "1", "1.0", "é", "'", "\"", "x y", "NULL", "😀", "{\"a\":1}"]).utf8))
        case 17: .text([97, 0, 98])
        case 18: .text(Array(repeating: 120, count: number(3000)))
        case 19...21: .blob(pick([[], [0], [255], [0, 1, 2], [0xC3], Array("a".utf8)]))
        case 22: .blob(Array(repeating: 7, count: number(5000)))
        default: .integer(Int64(bitPattern: random.next()) >> Int64(number(60)))
        }
    }

    /// A value as a parameter, or in the text.
    private mutating func operand() -> String {
        let value = value()
        if chance(50) || value.isLong, arguments.count < 20 {
            arguments.append(value)
            return "?"
        }
        return literal(value)
    }

    private mutating func literal(_ value: ExactValue) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(.min): return "(-9223372036854775807 - 1)"
        case .integer(let value): return "\(value)"
        case .real(let bits):
            let number = Double(bitPattern: bits)
            return number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : "\(number)"
        case .text(let bytes):
            if bytes.contains(0) || chance(3) { return "CAST(x'\(hex(bytes))' AS TEXT)" }
            return "'\(String(decoding: bytes, as: UTF8.self).replacing("'", with: "''"))'"
        case .blob(let bytes): return chance(10) ? "CAST(x'\(hex(bytes))' AS TEXT)" : "x'\(hex(bytes))'"
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    // MARK: - Expressions

    private mutating func expression(_ depth: Int, _ table: ReferenceConnection.Table?) -> String {
        if depth == 0 || chance(25) {
            if let table, chance(60) { return quoted(chance(97) ? pick(table.columns) : pick(Self.columnNames)) }
            return operand()
        }
        let depth = depth - 1
        func sub(_ program: inout RandomProgram) -> String { program.expression(depth, table) }
        switch number(22) {
        case 0...3:
            return "(\(sub(&self)) \(pick(["+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>"])) \(sub(&self)))"
        case 4...7:
            return "(\(sub(&self)) \(pick(["=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"])) \(sub(&self)))"
        case 8: return "(\(sub(&self)) \(pick(["AND", "OR"])) \(sub(&self)))"
        case 9: return "\(pick(["NOT", "-", "~", "+"])) (\(sub(&self)))"
        case 10: return "CASE WHEN \(sub(&self)) THEN \(sub(&self)) ELSE \(sub(&self)) END"
        case 11: return "CAST(\(sub(&self)) AS \(pick(["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"])))"
        case 12: return "(\(sub(&self)) \(pick(["IN", "NOT IN"])) (\(list(3) { sub(&$0) })))"
        case 13: return "(\(sub(&self)) BETWEEN \(sub(&self)) AND \(sub(&self)))"
        case 14: return "(\(sub(&self)) \(pick(["LIKE", "GLOB", "NOT LIKE"])) \(pick(["'%a%'", "'*'", "'_'", "'a'"])))"
        case 15: return "(\(sub(&self)) COLLATE \(pick(["NOCASE", "RTRIM", "BINARY", "BINARY", "nope"])))"
        case 16, 17:
            let function = pick([
                "abs", "length", "hex", "typeof", "upper", "unicode", "quote", "trim", "round", "char",
            ])
            return "\(function)(\(sub(&self)))"
        case 18: return "\(pick(["coalesce", "ifnull", "max", "min", "nullif", "instr"]))(\(sub(&self)), \(sub(&self)))"
        case 19: return "substr(\(sub(&self)), \(number(4)), \(number(5) - 1))"
        case 20:
            guard !tables.isEmpty else { return operand() }
            let other = pick(tables)
            return "(SELECT \(aggregate(other)) FROM \(quoted(other.name)))"
        default: return "json_\(pick(["array", "quote", "type", "valid", "array_length"]))(\(sub(&self)))"
        }
    }

    private mutating func aggregate(_ table: ReferenceConnection.Table) -> String {
        let function = pick(["count", "sum", "total", "avg", "max", "min", "group_concat"])
        return "\(function)(\(expression(1, table)))"
    }

    // MARK: - Queries

    private mutating func select(depth: Int) -> String {
        let table = pick(tables)
        var sql = chance(8) ? "WITH w AS (\(chance(50) ? "SELECT 1 AS x" : "VALUES (1), (2)")) " : ""
        let isAggregate = chance(15)
        sql += "SELECT \(chance(10) ? "DISTINCT " : "")"
        if isAggregate {
            sql += list(2) { $0.aggregate(table) }
        } else {
            sql +=
                chance(40)
                ? "*"
                : list(3) { program in
                    program.expression(2, table)
                        + (program.chance(20) ? " AS \(program.quoted(program.pick(Self.columnNames)))" : "")
                }
        }
        sql += " FROM \(quoted(table.name))"
        if chance(10) {
            let other = pick(tables)
            sql += " AS l \(pick(["JOIN", "LEFT JOIN"])) \(quoted(other.name)) AS r ON l.\(quoted(pick(table.columns)))"
            sql += " = r.\(quoted(pick(other.columns)))"
        }
        if chance(60) { sql += " WHERE \(expression(depth, table))" }
        if chance(10) {
            sql += " GROUP BY \(expression(1, table))" + (chance(40) ? " HAVING \(aggregate(table)) > 1" : "")
        }
        if !isAggregate, chance(40) {
            sql += " ORDER BY \(quoted(pick(table.columns))) \(pick(["ASC", "DESC", "DESC NULLS LAST"]))"
        }
        if chance(20) { sql += " LIMIT \(number(6)) OFFSET \(number(3))" }
        return sql
    }

    private mutating func compound() -> String {
        if chance(30) {
            return
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(number(50))) SELECT i, \(operand()) FROM n"
        }
        let (left, right) = (pick(tables), pick(tables))
        let sql =
            "SELECT \(expression(1, left)) AS v FROM \(quoted(left.name)) \(pick(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])) "
            + "SELECT \(expression(1, right)) FROM \(quoted(right.name))"
        return sql + (chance(50) ? " ORDER BY v" : "")
    }

    private mutating func window() -> String {
        let table = pick(tables)
        let column = quoted(pick(table.columns))
        let function = pick([
            "row_number()", "rank()", "ntile(2)", "lag(\(column))", "first_value(\(column))", "sum(\(column))",
            "count(*)",
        ])
        let partition = chance(40) ? "PARTITION BY \(quoted(pick(table.columns))) " : ""
        return "SELECT \(column), \(function) OVER (\(partition)ORDER BY \(column)) FROM \(quoted(table.name))"
    }

    private mutating func json() -> String {
        let text = pick([
            "{\"a\":[1,2.5,\"x\",null,true],\"b\":{\"c\":\"é\\u0000\"}}", "[1,[2,[3]]]", "not json", "\"x\"", "{}",
            "[9223372036854775808]",
        ])
        arguments.append(.text(Array(text.utf8)))
        switch number(5) {
        case 0: return "SELECT key, value, type, atom, path FROM json_each(?)"
        case 1: return "SELECT fullkey, value FROM json_tree(?)"
        case 2: return "SELECT json_extract(?, '$.a', '$.b.c'), json(\(operand()))"
        case 3: return "SELECT json_set(?, '$.\(pick(["a", "z", "b.c"]))', \(operand()))"
        default: return "SELECT ? -> '$.a[1]', json_patch('{\"a\":1}', \(operand()))"
        }
    }

    // MARK: - Changes

    private mutating func returning(_ table: ReferenceConnection.Table) -> String {
        guard chance(30) else { return "" }
        return " RETURNING \(chance(50) ? "*" : list(2) { $0.expression(1, table) })"
    }

    private mutating func conflict() -> String {
        chance(25) ? " OR \(pick(["IGNORE", "REPLACE", "FAIL", "ABORT", "ROLLBACK"]))" : ""
    }

    private mutating func insert() -> String {
        let table = pick(tables)
        let columns = chance(70) ? table.columns : Array(table.columns.shuffled(using: &random).prefix(1 + number(3)))
        var sql = "INSERT\(conflict()) INTO \(quoted(table.name))"
        if columns.count != table.columns.count || chance(30) {
            sql += " (\(columns.map(quoted).joined(separator: ", ")))"
        }
        if chance(10) {
            let other = pick(tables)
            sql +=
                " SELECT \(columns.map { _ in quoted(pick(other.columns)) }.joined(separator: ", ")) FROM \(quoted(other.name)) WHERE \(expression(1, other)) LIMIT 3"
        } else if chance(3) {
            sql = "INSERT INTO \(quoted(table.name)) DEFAULT VALUES"
        } else {
            let row: (inout RandomProgram) -> String = { program in
                "(\(columns.map { _ in program.chance(80) ? program.operand() : program.expression(1, nil) }.joined(separator: ", ")))"
            }
            sql += " VALUES \(list(2, row))"
            if chance(20) {
                let key = quoted(table.columns[0])
                sql += " ON CONFLICT\(chance(70) ? " (\(key))" : "") DO "
                let column = quoted(pick(table.columns))
                sql += chance(30) ? "NOTHING" : "UPDATE SET \(column) = excluded.\(column)"
            }
        }
        return sql + returning(table)
    }

    private mutating func update() -> String {
        let table = pick(tables)
        let columns = table.columns.shuffled(using: &random).prefix(1 + number(2))
        let assignments = columns.map { "\(quoted($0)) = \(expression(1, table))" }.joined(separator: ", ")
        let condition = chance(85) ? " WHERE \(expression(2, table))" : ""
        return "UPDATE\(conflict()) \(quoted(table.name)) SET \(assignments)\(condition)\(returning(table))"
    }

    private mutating func delete() -> String {
        let table = pick(tables)
        return
            "DELETE FROM \(quoted(table.name))\(chance(93) ? " WHERE \(expression(2, table))" : "")\(returning(table))"
    }

    // MARK: - Transactions

    private mutating func transaction() -> String {
        let name = pick(["s", "\"s 2\"", "S"])
        switch number(10) {
        case 0...2: return "BEGIN\(pick(["", " IMMEDIATE", " EXCLUSIVE", " DEFERRED"]))"
        case 3, 4: return pick(["COMMIT", "END"])
        case 5: return "ROLLBACK"
        case 6, 7: return "SAVEPOINT \(name)"
        case 8: return "RELEASE \(name)"
        default: return "ROLLBACK TO \(name)"
        }
    }

    // MARK: - The schema

    private mutating func createTable() -> String {
        let name = quoted(pick(Self.names))
        let columns = Array(Self.columnNames.shuffled(using: &random).prefix(2 + number(4)))
        let isStrict = chance(10)
        let hasRowID = chance(85)
        var parts: [String] = []
        for (index, column) in columns.enumerated() {
            var part = quoted(column)
            if index == 0 {
                part +=
                    hasRowID && chance(40)
                    ? " INTEGER PRIMARY KEY" : hasRowID ? (isStrict ? " ANY" : "") : " TEXT PRIMARY KEY"
                if chance(20), !part.hasSuffix("KEY") { part += " UNIQUE" }
            } else {
                part +=
                    " "
                    + pick(
                        isStrict
                            ? ["INTEGER", "TEXT", "ANY", "BLOB", "REAL"]
                            : ["INTEGER", "TEXT", "", "BLOB", "REAL", "NUMERIC", "VARCHAR(3)"])
                switch number(12) {
                case 0: part += " NOT NULL"
                case 1: part += " UNIQUE\(chance(30) ? " ON CONFLICT \(pick(["IGNORE", "REPLACE", "FAIL"]))" : "")"
                case 2: part += " DEFAULT \(pick(["1", "'é'", "NULL", "x'00'", "-0.0"]))"
                case 3: part += " CHECK (\(quoted(column)) <> 3)"
                case 4: part += " COLLATE NOCASE"
                case 5: part += " GENERATED ALWAYS AS (\(quoted(columns[0])) || 'g')"
                case 6:
                    if let table = tables.first {
                        part += " REFERENCES \(quoted(table.name)) (\(quoted(table.columns[0])))"
                    }
                default: break
                }
            }
            parts.append(part)
        }
        let options = [hasRowID ? nil : "WITHOUT ROWID", isStrict ? "STRICT" : nil].compactMap { $0 }
        return
            "CREATE \(chance(5) ? "TEMP " : "")TABLE \(chance(10) ? "IF NOT EXISTS " : "")\(name) (\(parts.joined(separator: ", ")))"
            + " \(options.joined(separator: ", "))"
    }

    private mutating func definition() -> String {
        let table = pick(tables)
        let (name, column) = (quoted(table.name), quoted(pick(table.columns)))
        let other = quoted(pick(Self.columnNames))
        switch number(20) {
        case 0, 1:
            return "CREATE \(chance(30) ? "UNIQUE " : "")INDEX \(quoted("i" + pick(Self.names))) ON \(name) (\(column))"
        case 2: return "CREATE VIEW \(quoted(pick(Self.names))) AS SELECT * FROM \(name)"
        case 3...6: return trigger(table)
        case 7, 8: return "ALTER TABLE \(name) ADD COLUMN \(other) \(pick(["", "DEFAULT 7", "TEXT", "NOT NULL"]))"
        case 9, 10: return "ALTER TABLE \(name) RENAME COLUMN \(column) TO \(other)"
        case 11: return "ALTER TABLE \(name) DROP COLUMN \(column)"
        case 12: return "ALTER TABLE \(name) RENAME TO \(quoted(pick(Self.names)))"
        case 13: return "DROP \(pick(["TABLE", "VIEW"])) \(chance(30) ? "IF EXISTS " : "")\(name)"
        case 14: return "DROP INDEX IF EXISTS \(quoted("i" + pick(Self.names)))"
        case 15, 16: return "DROP TRIGGER IF EXISTS \(quoted("r" + pick(["1", "2", "3"])))"
        case 17: return "CREATE TABLE \(quoted(pick(Self.names))) AS SELECT * FROM \(name)"
        case 18: return pick(["VACUUM", "ANALYZE", "REINDEX"])
        default: return createTable()
        }
    }

    private mutating func trigger(_ table: ReferenceConnection.Table) -> String {
        let event = pick(["INSERT", "UPDATE", "DELETE"])
        let row = event == "DELETE" ? "old" : "new"
        let condition = "\(row).\(quoted(pick(table.columns))) = \(pick(["1", "'a'", "5", "NULL"]))"
        let target = pick(tables)
        let body =
            switch number(4) {
            case 0: "SELECT RAISE(\(pick(["ABORT", "FAIL", "ROLLBACK"])), 'raised é') WHERE \(condition)"
            case 1: "SELECT RAISE(IGNORE) WHERE \(condition)"
            case 2:
                "INSERT INTO \(quoted(target.name)) (\(quoted(pick(target.columns)))) VALUES (\(row).\(quoted(pick(table.columns))))"
            default:
                "DELETE FROM \(quoted(target.name)) WHERE \(quoted(pick(target.columns))) = \(row).\(quoted(pick(table.columns)))"
            }
        return
            "CREATE TRIGGER \(quoted("r" + pick(["1", "2", "3"]))) \(pick(["BEFORE", "AFTER"])) \(event) ON \(quoted(table.name)) BEGIN \(body); END"
    }

    private mutating func pragma() -> String {
        pick([
            "PRAGMA user_version = \(number(100))", "PRAGMA user_version",
            "PRAGMA table_info(\(quoted(pick(tables).name)))",
            "PRAGMA foreign_keys", "PRAGMA recursive_triggers = \(number(2))", "PRAGMA integrity_check",
            "PRAGMA foreign_key_check",
            "SELECT type, name, sql FROM sqlite_master", "PRAGMA defer_foreign_keys = ON", "PRAGMA nope",
            "PRAGMA reverse_unordered_selects = \(number(2))",
        ])
    }

    /// A text that isn't SQL, or names a table or function that doesn't exist.
    private mutating func broken() -> String {
        let kind = number(4)
        guard kind < 2 else {
            return kind == 2 ? "SELECT * FROM nowhere WHERE a = \(operand())" : "SELECT nope(\(number(3)))"
        }
        let sql =
            switch number(3) {
            case 0: select(depth: 1)
            case 1: insert()
            default: createTable()
            }
        // The remaining text may have fewer parameters.
        arguments = []
        if kind == 0 { return String(sql.prefix(1 + number(sql.count))).replacing("?", with: "1") }
        // A `#` right before a word would make a parameter of it.
        let other = pick(["(", "'", " SELECT ", " # ", "\"", ","])
        return sql.replacing(" ", with: other, maxReplacements: 1 + number(3)).replacing("?", with: "1")
    }
}

extension ExactValue {
    /// Too long to be read in a message.
    fileprivate var isLong: Bool {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count > 60
        default: false
        }
    }
}

extension Double {
    fileprivate var finiteOrZero: Double { isFinite ? self : 0 }
}

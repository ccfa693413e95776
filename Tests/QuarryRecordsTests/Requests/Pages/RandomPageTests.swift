import Quarry
import QuarryTestSupport
import Testing

/// Random tables with ties and NULLs, in random orders: the pages together are the rows, both ways.
@Suite struct RandomPageTests {
    private static let columns = ["a", "b", "c", "d"]

    /// The columns of a key, whether rows may have NULL in it, and the constraint after the other columns.
    private static let keys: [(columns: String, mayBeNull: Bool, constraint: String)] = [
        ("id INTEGER PRIMARY KEY", false, ""), ("id TEXT PRIMARY KEY", true, ""), ("id INTEGER", false, ""),
        ("id INTEGER NOT NULL, key TEXT NOT NULL", false, ", PRIMARY KEY (key, id)"),
        ("id INTEGER, key TEXT", false, ", PRIMARY KEY (key, id)) WITHOUT ROWID --"),
    ]

    private func makeTable(_ db: Database, _ generator: inout SeededGenerator) throws {
        let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &generator)]
        let types = "a INTEGER, b TEXT COLLATE NOCASE, c REAL NOT NULL DEFAULT 0, d"
        try db.execute(sql: "CREATE TABLE t (\(key.columns), \(types)\(key.constraint))")
        if Bool.random(using: &generator) { try db.execute(sql: "CREATE INDEX i ON t (a, b DESC)") }
        if Bool.random(using: &generator) { try db.execute(sql: "CREATE INDEX j ON t (d, c)") }
        for row in 1...Int.random(in: 1...25, using: &generator) {
            var values: [any DatabaseValueConvertible] = []
            // The primary key of a rowid table may be NULL, unless it is the rowid.
            values.append(key.mayBeNull && Bool.random(using: &generator) ? DatabaseValue.null : row)
            if key.columns.contains("key") { values.append(["x", "X", "é"].randomElement(using: &generator) ?? "") }
            let some: [any DatabaseValueConvertible] = [
                DatabaseValue.null, 1, 2, 2.5, "a", "A", "b", [UInt8]([1]), 1e300, Int64.max,
            ]
            for index in 0..<4 {
                let value = some.randomElement(using: &generator) ?? 1
                values.append(index == 2 && value.databaseValue.isNull ? 3 : value)
            }
            let marks = values.map { _ in "?" }.joined(separator: ", ")
            try db.execute(sql: "INSERT INTO t VALUES (\(marks))", arguments: StatementArguments(values))
        }
    }

    private func order(_ generator: inout SeededGenerator) -> [any SQLOrderingTerm] {
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            let column = Column(Self.columns.randomElement(using: &generator) ?? "a")
            let expression: SQLExpression =
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: (column ?? "b").sqlExpression
                case 1: column.collating(.nocase).sqlExpression
                case 2: length(column).sqlExpression
                default: column.sqlExpression
                }
            return switch Int.random(in: 0..<5, using: &generator) {
            case 0: expression.asc
            case 1: expression.desc
            case 2: expression.ascNullsLast
            case 3: expression.descNullsFirst
            default: expression
            }
        }
    }

    @Test(arguments: 0..<4) func pagesTogetherAreTheRows(part: Int) throws {
        var generator = SeededGenerator()
        for _ in 0..<40 {
            let seed = generator.next()
            do {
                var generator = SeededGenerator(seed: seed)
                try DatabaseQueue().write { db in
                    try makeTable(db, &generator)
                    for _ in 0..<4 { try check(db, &generator, seed) }
                }
            } catch {
                Issue.record(error, "seed \(seed)")
            }
        }
    }

    private func check(_ db: Database, _ generator: inout SeededGenerator, _ seed: UInt64) throws {
        var request = Table("t").order(order(&generator))
        if Bool.random(using: &generator) { request = request.reversed() }
        if Bool.random(using: &generator) { request = request.filter(Column("c") > 1) }
        let size = Int.random(in: 1...7, using: &generator)
        let pages = try request.allPages(db, size: size)
        let rows = pages.flatMap(\.items)
        // One query, which has the order and no condition.
        let expected = try request.page(size: .max).fetch(db).items
        #expect(rows == expected, "seed \(seed)")
        for (index, page) in pages.enumerated() {
            let numbered = try request.page(number: index + 1, size: size).fetch(db)
            #expect(numbered.items == page.items, "seed \(seed)")
        }
        #expect(try Set(rows) == Set(request.fetchAll(db)) && rows.count == request.fetchCount(db), "seed \(seed)")
        #expect(try request.items(upTo: pages[pages.count - 1], db, size: size) == rows, "seed \(seed)")
    }
}

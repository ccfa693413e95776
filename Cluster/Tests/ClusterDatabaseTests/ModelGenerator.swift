import Quarry

/// Random numbers that come again with their seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &self)] }

    mutating func word() -> String { pick(["a", "b", "ab", "é", "Arthur", "o'Brien", "", "100%", "x\"y", "😀"]) }

    /// A value that nodes can carry.
    mutating func value() -> DatabaseValue {
        switch number(0...9) {
        case 0: .null
        case 1...3: number(-5...20).databaseValue
        case 4: pick([Int64.min, .max, 1 << 53, -1]).databaseValue
        case 5: pick([0.5, -1.25, 1e300, .infinity, -.infinity, 5e-324, 3]).databaseValue
        case 6...7: word().databaseValue
        case 8: String(repeating: word(), count: pick([3, 500, 2_000])).databaseValue
        default: [UInt8](repeating: 7, count: pick([0, 1, 3_000, 9_000])).databaseValue
        }
    }

    /// A value other than a blob, which would become text with any bytes.
    mutating func plainValue() -> DatabaseValue {
        while true {
            let value = value()
            if case .blob = value.storage { continue }
            return value
        }
    }
}

/// One step of an access.
struct ModelStep {
    let name: String
    /// Whether the number of changed rows is a part of the result.
    let isChange: Bool
    let run: (Database) throws -> String
}

/// Makes random steps for the tables of `ModelTests`.
struct ModelGenerator {
    var random: SeededGenerator

    private static let columns = ["id", "teamId", "name", "score", "rating"]

    // MARK: - Requests

    mutating func predicate(depth: Int = 2) -> SQLExpression {
        switch random.number(0...(depth > 0 ? 9 : 6)) {
        case 0: Column("score") > random.number(0...20)
        case 1: Column("name").like("%\(random.word())%").sqlExpression
        case 2: Column("teamId") == nil
        case 3: [random.number(1...9), random.number(1...30)].contains(Column("id"))
        case 4: Column("score") == random.value()
        case 5: (random.number(0...5)...random.number(5...20)).contains(Column("score"))
        case 6: Column("name") == random.word()
        case 7: predicate(depth: depth - 1) && predicate(depth: depth - 1)
        case 8: predicate(depth: depth - 1) || predicate(depth: depth - 1)
        default: !predicate(depth: depth - 1)
        }
    }

    mutating func players() -> QueryInterfaceRequest<Player> {
        var request = random.oneIn(4) ? Player.all() : Player.filter(predicate())
        if random.oneIn(2) {
            let column = Column(random.pick(Self.columns))
            request =
                random.oneIn(2) ? request.order(column, Column("id")) : request.order(column.desc, Column("id").desc)
        }
        if random.oneIn(3) { request = request.limit(random.number(0...9), offset: random.number(0...3)) }
        if random.oneIn(6) { request = request.reversed() }
        return request
    }

    mutating func read() -> ModelStep {
        let (players, predicate, id) = (players(), predicate(), random.number(1...30))
        switch random.number(0...15) {
        case 0...2: return step("players") { db in "\(try players.fetchAll(db))" }
        case 3: return step("one player") { db in "\(try players.fetchOne(db) as Player?)" }
        case 4: return step("by key \(id)") { db in "\(try Player.fetchOne(db, key: id) as Player?)" }
        case 5: return step("count") { db in "\(try players.fetchCount(db)) \(try players.isEmpty(db))" }
        case 6:
            return step("columns") { db in
                let request = players.select(Column("name"), Column("score") * 2, length(Column("name"))).distinct()
                return rows(try Row.fetchAll(db, request))
            }
        case 7:
            return step("groups") { db in
                let request = Player.filter(predicate).group(Column("teamId")).having(count(Column("id")) > 1)
                    .select(Column("teamId"), count(Column("id")), max(Column("score")), average(Column("score")))
                return rows(try Row.fetchAll(db, request))
            }
        case 8:
            return step("teams with players") { db in
                let request = Team.order(Column("id")).including(
                    all: Team.players.filter(predicate).order(Column("id")))
                return "\(try request.asRequest(of: TeamInfo.self).fetchAll(db))"
            }
        case 9:
            return step("players with teams") { db in
                "\(try players.including(optional: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db))"
            }
        case 10:
            return step("players in teams") { db in
                let team = Player.team.filter(Column("name") > "T1")
                return "\(try players.including(required: team).asRequest(of: PlayerInfo.self).fetchAll(db))"
            }
        case 11:
            return step("counts of players") { db in
                let players = Team.players.filter(predicate)
                return rows(try Row.fetchAll(db, Team.annotated(with: players.count, players.max(Column("score")))))
            }
        case 12:
            return step("teams having players") { db in
                "\(try Team.having(Team.players.filter(predicate).isEmpty == false).order(Column("id")).fetchAll(db))"
            }
        case 13: return pairs()
        case 14: return expression()
        default: return faultyRead()
        }
    }

    private mutating func pairs() -> ModelStep {
        let sql = random.pick([
            "SELECT * FROM pair", "SELECT k, v, typeof(v) FROM pair ORDER BY k DESC", "SELECT * FROM pair WHERE k = ?1",
            "SELECT count(*), sum(length(v)), min(v), max(v) FROM pair WHERE v > ?1",
            "SELECT k, row_number() OVER (ORDER BY k) FROM pair WHERE v IS NOT ?1",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, i * i FROM n",
            "SELECT b.* FROM badge b LEFT JOIN pair ON pair.k = b.code ORDER BY b.code",
            "EXPLAIN QUERY PLAN SELECT * FROM player WHERE teamId = 1", "PRAGMA foreign_key_check",
            "PRAGMA quick_check",
            "SELECT group_concat(code, '; ') FROM badge", "VALUES (1, 'a'), (2, NULL), (3.5, x'01')",
        ])
        let arguments: StatementArguments = sql.contains("?1") ? [random.value()] : []
        return step("\(sql) \(arguments)") { db in rows(try Row.fetchAll(db, sql: sql, arguments: arguments)) }
    }

    private mutating func expression() -> ModelStep {
        let sql = random.pick([
            "? + ?", "? || ?", "? IS ?", "abs(?) + ?", "round(?, 1), ?", "coalesce(?, ?)",
            "json_object('a', ?, 'b', ?)",
            "typeof(?) || typeof(?)", "max(?, ?)", "substr(?, 2), hex(?)", "? = ?", "? / ?", "? & ?", "length(?), ?",
            "CAST(? AS INTEGER), CAST(? AS REAL)", "printf('%s %d', ?, ?)", "upper(?), quote(?)",
            "CASE ? WHEN 1 THEN ? END",
        ])
        let arguments: StatementArguments = [random.plainValue(), random.plainValue()]
        return step("SELECT \(sql) \(arguments)") { db in
            rows(try Row.fetchAll(db, sql: "SELECT \(sql)", arguments: arguments))
        }
    }

    private mutating func faultyRead() -> ModelStep {
        let sql = random.pick([
            "SELECT * FROM nope", "SELECT nope FROM team", "SELEKT 1", "SELECT (", "SELECT abs(-9223372036854775808)",
            "SELECT json('{')", "SELECT nope(1)", "SELECT * FROM player WHERE name MATCH 'a'", "SELECT 1 LIMIT 'a'",
            "SELECT json_extract('{\"a\":1}', '$.b'), json('[')", "SELECT * FROM pair ORDER BY 9", "SELECT count(*, 1)",
            "SELECT i, abs(i) FROM (SELECT 1 AS i UNION ALL SELECT -9223372036854775807 - 1)",
        ])
        return step(sql) { db in rows(try Row.fetchAll(db, sql: sql)) }
    }

    func step(_ name: String, _ run: @escaping (Database) throws -> String) -> ModelStep {
        ModelStep(name: name, isChange: false, run: run)
    }

    func change(_ name: String, _ run: @escaping (Database) throws -> String) -> ModelStep {
        ModelStep(name: name, isChange: true, run: run)
    }
}

/// The values of rows with their types and names.
func rows(_ rows: [Row]) -> String {
    rows.map { row in
        "[" + zip(row.columnNames, row.databaseValues).map { "\($0): \(describe($1))" }.joined(separator: ", ") + "]"
    }.joined(separator: "\n")
}

private func describe(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: "NULL"
    case .int64(let number): "\(number)"
    case .double(let number): "\(number) (\(number.bitPattern))"
    case .string(let text): "\"\(text)\""
    case .blob(let bytes): "blob of \(bytes.count)"
    }
}

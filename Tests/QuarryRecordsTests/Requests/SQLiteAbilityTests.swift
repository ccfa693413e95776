import Quarry
import QuarryFixtures
import QuarrySQL
import QuarryTestSupport
import Testing

/// Each function of a newer SQLite, on the SQLite that runs: it gives its value, or an error says which version it
/// needs. `make test-newer-sqlite` runs both halves.
@Suite struct SQLiteAbilityTests {
    struct Ability: Sendable, CustomTestStringConvertible {
        let name: String
        let version: CInt
        let expression: SQLExpression
        /// The same expression as SQL, without the library's check.
        let sql: String
        /// The value as `quote()` writes it.
        let value: String

        var testDescription: String { name }
    }

    private static let list = #"[{"a":1},2]"#.sqlExpression
    private static let moment = "2026-01-02 03:04:05.678".sqlExpression
    private static let v = Column("v")

    /// JSONB as text: its bytes are SQLite's own.
    private static func text(_ jsonb: SQLExpression) -> SQLExpression { Database.json(jsonb) }

    static let abilities: [Ability] = [
        Ability(
            name: "UNHEX", version: 3_041_000, expression: unhex("4142".sqlExpression), sql: "unhex('4142')",
            value: "X'4142'"),
        Ability(
            name: "JSON_ERROR_POSITION", version: 3_042_000, expression: Database.jsonErrorPosition("[1"),
            sql: "json_error_position('[1')", value: "3"),
        Ability(
            name: "DATETIME", version: 3_042_000, expression: dateTime(moment, .subsecond),
            sql: "datetime('2026-01-02 03:04:05.678', 'subsec')", value: "'2026-01-02 03:04:05.678'"),
        Ability(
            name: "TIME", version: 3_042_000, expression: time(moment, .subsecond),
            sql: "time('2026-01-02 03:04:05.678', 'subsec')", value: "'03:04:05.678'"),
        Ability(
            name: "TIMEDIFF", version: 3_043_000, expression: timeDiff("2026-01-03".sqlExpression, "2026-01-02"),
            sql: "timediff('2026-01-03', '2026-01-02')", value: "'+0000-00-01 00:00:00.000'"),
        Ability(
            name: "ORDER BY inside of SUM", version: 3_044_000, expression: sum(v, orderBy: v.desc),
            sql: "sum(v ORDER BY v DESC)", value: "3"),
        Ability(
            name: "ORDER BY inside of TOTAL", version: 3_044_000, expression: total(v, orderBy: v.desc),
            sql: "total(v ORDER BY v DESC)", value: "3.0"),
        Ability(
            name: "ORDER BY inside of GROUP_CONCAT", version: 3_044_000, expression: groupConcat(v, orderBy: v.desc),
            sql: "group_concat(v ORDER BY v DESC)", value: "'2,1'"),
        Ability(
            name: "ORDER BY inside of JSON_GROUP_ARRAY", version: 3_044_000,
            expression: Database.jsonGroupArray(v, orderBy: v.desc), sql: "json_group_array(v ORDER BY v DESC)",
            value: "'[2,1]'"),
        Ability(
            name: "JSON_VALID", version: 3_045_000, expression: Database.jsonIsValid("[1,]", options: .json5),
            sql: "json_valid('[1,]', 2)", value: "1"),
        Ability(
            name: "JSONB", version: 3_045_000, expression: text(Database.jsonb("[1, 2]")),
            sql: "json(jsonb('[1, 2]'))", value: "'[1,2]'"),
        Ability(
            name: "JSONB_ARRAY", version: 3_045_000, expression: text(Database.jsonbArray([1, "a"])),
            sql: "json(jsonb_array(1, 'a'))", value: #"'[1,"a"]'"#),
        Ability(
            name: "JSONB_EXTRACT", version: 3_045_000, expression: text(Database.jsonbExtract(list, atPath: "$[0]")),
            sql: #"json(jsonb_extract('[{"a":1},2]', '$[0]'))"#, value: #"'{"a":1}'"#),
        Ability(
            name: "JSONB_EXTRACT", version: 3_045_000,
            expression: text(Database.jsonbExtract(list, atPaths: ["$[1]", "$[0]"])),
            sql: #"json(jsonb_extract('[{"a":1},2]', '$[1]', '$[0]'))"#, value: #"'[2,{"a":1}]'"#),
        Ability(
            name: "JSONB_INSERT", version: 3_045_000, expression: text(Database.jsonbInsert(list, ["$[#]": 3])),
            sql: #"json(jsonb_insert('[{"a":1},2]', '$[#]', 3))"#, value: #"'[{"a":1},2,3]'"#),
        Ability(
            name: "JSONB_REPLACE", version: 3_045_000, expression: text(Database.jsonbReplace(list, ["$[1]": 3])),
            sql: #"json(jsonb_replace('[{"a":1},2]', '$[1]', 3))"#, value: #"'[{"a":1},3]'"#),
        Ability(
            name: "JSONB_SET", version: 3_045_000, expression: text(Database.jsonbSet(list, ["$[0].a": 4])),
            sql: #"json(jsonb_set('[{"a":1},2]', '$[0].a', 4))"#, value: #"'[{"a":4},2]'"#),
        Ability(
            name: "JSONB_OBJECT", version: 3_045_000, expression: text(Database.jsonbObject(["a": 1])),
            sql: "json(jsonb_object('a', 1))", value: #"'{"a":1}'"#),
        Ability(
            name: "JSONB_PATCH", version: 3_045_000,
            expression: text(Database.jsonbPatch(#"{"a":1}"#, with: #"{"b":2}"#)),
            sql: #"json(jsonb_patch('{"a":1}', '{"b":2}'))"#, value: #"'{"a":1,"b":2}'"#),
        Ability(
            name: "JSONB_REMOVE", version: 3_045_000, expression: text(Database.jsonbRemove(list, atPath: "$[0]")),
            sql: #"json(jsonb_remove('[{"a":1},2]', '$[0]'))"#, value: "'[2]'"),
        Ability(
            name: "JSONB_GROUP_ARRAY", version: 3_045_000, expression: text(Database.jsonbGroupArray(v)),
            sql: "json(jsonb_group_array(v))", value: "'[1,2]'"),
        Ability(
            name: "JSONB_GROUP_OBJECT", version: 3_045_000,
            expression: text(Database.jsonbGroupObject(key: cast(v, as: .text), value: v)),
            sql: "json(jsonb_group_object(CAST(v AS TEXT), v))", value: #"'{"1":1,"2":2}'"#),
    ]

    private func withValues<T>(_ body: (Database) throws -> T) throws -> T {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (v); INSERT INTO t VALUES (1), (2)")
            return try body(db)
        }
    }

    @Test(arguments: abilities) func runsOrSaysWhatItNeeds(_ ability: Ability) throws {
        let version = SQLiteAbilities.ofLibrary.version
        try withValues { db throws in
            let request = Table("t").select(ability.expression, as: DatabaseValue.self)
            // Without the check: the table of versions is neither too strict nor too lax.
            let sql = "SELECT quote(\(ability.sql)) FROM t"
            if version >= ability.version {
                let value = try request.fetchOne(db)
                #expect(try String.fetchOne(db, sql: "SELECT quote(?)", arguments: [value]) == ability.value)
                #expect(try String.fetchOne(db, sql: sql) == ability.value)
            } else {
                let error = #expect(throws: DatabaseError.self) { try request.fetchOne(db) }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                let message = error?.message ?? ""
                #expect(
                    message.hasPrefix("\(ability.name) needs SQLite 3.\(ability.version / 1000 % 1000).0, and this is"))
                // `subsec` isn't known: NULL. All else is an error.
                let answer = Result { try String.fetchOne(db, sql: sql) }
                switch answer {
                case .success(let text): #expect(text == "NULL")
                case .failure(let error): #expect((error as? DatabaseError)?.resultCode == .SQLITE_ERROR)
                }
            }
            // The connection is in order.
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 2)
        }
    }

    /// Mathematical functions and limits of changes depend on the build.
    @Test func whatTheBuildDecides() throws {
        try withValues { db throws in
            let options = try Set(String.fetchAll(db, sql: "PRAGMA compile_options"))
            #expect(SQLiteAbilities.ofLibrary.hasMathFunctions == options.contains("ENABLE_MATH_FUNCTIONS"))
            #expect(SQLiteAbilities.ofLibrary.limitsChanges == options.contains("ENABLE_UPDATE_DELETE_LIMIT"))
            let request = Table("t").select(floor(1.5.sqlExpression), as: Double.self)
            if options.contains("ENABLE_MATH_FUNCTIONS") {
                #expect(try request.fetchOne(db) == 1)
            } else {
                #expect(throws: DatabaseError.self) { try request.fetchOne(db) }
            }
            #expect(try Table("t").order(Column("v").desc).limit(1).deleteAll(db) == 1)
            #expect(try Int.fetchAll(db, sql: "SELECT v FROM t") == [1])
        }
    }
}

import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryTableSchemas

@Suite("Tables that records declare") struct TableSchemaTests {
    struct Player: Codable, PersistableRecord, TableSchemaProviding {
        var id: Int64
        var name: String
        var score: Int
        var teamId: Int64?

        static var databaseSchema: TableSchema {
            TableSchema { t in
                t.column("id").primaryKey(autoincrement: true)
                t.column("score").defaults(to: 0).check { $0 >= 0 }
                t.column("teamId").references("team", onDelete: .cascade).indexed()
                t.uniqueKey(["teamId", "name"])
            }
        }
    }

    /// The SQL of a schema, without that of SQLite's own objects.
    static func sql(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    }

    private func created(_ type: any TableSchemaProviding.Type, named name: String? = nil) throws -> [String] {
        try withConnection { db in
            try db.create(tableFor: type, named: name)
            return try Self.sql(db)
        }
    }

    @Test func tableOfARecordIsCreated() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY)")
            try db.create(tableFor: Player.self)
            #expect(
                try Self.sql(db).dropFirst() == [
                    """
                    CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL, \
                    "score" INTEGER NOT NULL CHECK ("score" >= 0) DEFAULT 0, \
                    "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE, UNIQUE ("teamId", "name"))
                    """,
                    #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                ])
            try Player(id: 1, name: "Arthur", score: 3, teamId: nil).insert(db)
            #expect(try db.schemaMismatches(for: Player.self) == [])
            #expect(try db.synchronizeSchema(of: Player.self).isUpToDate)
        }
    }

    /// A property that isn't optional makes its column NOT NULL, and leaves the declaration's own NOT NULL as it is.
    @Test func declaredResolutionOfNullsIsKept() throws {
        struct Note: Codable, PersistableRecord, TableSchemaProviding {
            var text: String
            var title: String

            static var databaseSchema: TableSchema {
                TableSchema { t in t.column("text").notNull(onConflict: .ignore) }
            }
        }
        #expect(
            try created(Note.self) == [
                #"CREATE TABLE "note" ("text" TEXT NOT NULL ON CONFLICT IGNORE, "title" TEXT NOT NULL)"#
            ])
    }

    // MARK: - Single values around single values

    private struct Around<Value: Codable>: Codable {
        var value: Value
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private struct Nested: Codable, PersistableRecord, TableSchemaProviding {
        static let databaseSchema = TableSchema()
        var number: Around<Around<Int>>
        var date: Around<Around<Date?>>
        var text: Around<String?>?
        var list: Around<[Int]>

        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .millisecondsSince1970
        }
    }

    @Test func nestedSingleValues() throws {
        #expect(
            try created(Nested.self) == [
                #"CREATE TABLE "nested" ("number" INTEGER NOT NULL, "date" INTEGER, "text" TEXT, "#
                    + #""list" TEXT NOT NULL)"#
            ])
    }

    // MARK: - Types

    enum Level: String, Codable, DatabaseValueConvertible { case low, high }
    enum Rank: Int, Codable {
        case first = 1
        case second
    }
    enum Suit: String, Codable, CaseIterable { case hearts, spades }
    struct Wrapper: Codable {
        var text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
    struct Address: Codable {
        var city: String
        var lines: [String]
        var parent: [Address]?
    }

    struct Everything: Codable, PersistableRecord, TableSchemaProviding {
        var bool: Bool
        var int: Int
        var int8: Int8?
        var uint64: UInt64
        var double: Double
        var float: Float?
        var string: String
        var data: Data
        var date: Date
        var day: DatabaseDateComponents
        var uuid: UUID?
        var url: URL
        var decimal: Decimal
        var level: Level
        var rank: Rank
        var suit: Suit?
        var wrapper: Wrapper
        var address: Address
        var other: Address?
        var list: [Int]
        var map: [String: Int]?
        var set: Set<String>

        static let databaseSchema = TableSchema()
    }

    @Test func typesOfProperties() throws {
        #expect(
            try created(Everything.self) == [
                """
                CREATE TABLE "everything" ("bool" BOOLEAN NOT NULL, "int" INTEGER NOT NULL, "int8" INTEGER, \
                "uint64" INTEGER NOT NULL, "double" DOUBLE NOT NULL, "float" DOUBLE, "string" TEXT NOT NULL, \
                "data" BLOB NOT NULL, "date" DATETIME NOT NULL, "day" DATETIME NOT NULL, "uuid" BLOB, \
                "url" TEXT NOT NULL, "decimal" TEXT NOT NULL, "level" TEXT NOT NULL, "rank" INTEGER NOT NULL, \
                "suit" TEXT, "wrapper" TEXT NOT NULL, "address" TEXT NOT NULL, "other" TEXT, "list" TEXT NOT NULL, \
                "map" TEXT, "set" TEXT NOT NULL)
                """
            ])
    }

    struct Strategies: Codable, PersistableRecord, TableSchemaProviding {
        var createdAt: Date
        var userID: UUID
        var rawText: Data
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .millisecondsSince1970
        }
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
        static let databaseSchema = TableSchema(options: .strict)
    }

    @Test func strategiesDecideTypes() throws {
        #expect(
            try created(Strategies.self) == [
                """
                CREATE TABLE "strategies" ("created_at" INTEGER NOT NULL, "user_id" TEXT NOT NULL, \
                "raw_text" TEXT NOT NULL) STRICT
                """
            ])
    }

    struct Measured: Codable, PersistableRecord, TableSchemaProviding {
        var isOn: Bool
        var value: Double
        var at: Date
        var note: [String]
        static let databaseSchema = TableSchema(options: .strict)
    }

    @Test func strictTablesKnowFewTypes() throws {
        try DatabaseQueue().write { (db) throws in
            try db.create(tableFor: Measured.self)
            #expect(
                try Self.sql(db) == [
                    """
                    CREATE TABLE "measured" ("isOn" INTEGER NOT NULL, "value" REAL NOT NULL, "at" TEXT NOT NULL, \
                    "note" TEXT NOT NULL) STRICT
                    """
                ])
            try Measured(isOn: true, value: 1.5, at: Date(timeIntervalSince1970: 0), note: ["a"]).insert(db)
            #expect(try db.schemaMismatches(for: Measured.self) == [])
        }
    }

    struct Renamed: Codable, PersistableRecord, TableSchemaProviding {
        var identifier: Int?
        var hidden = 1
        enum CodingKeys: String, CodingKey { case identifier = "id" }
        enum Columns { static let id = Column("id") }
        static let databaseSchema = TableSchema { t in t.column(Columns.id).primaryKey() }
    }

    @Test func codingKeysNameColumns() throws {
        #expect(try created(Renamed.self) == [#"CREATE TABLE "renamed" ("id" INTEGER PRIMARY KEY)"#])
        #expect(try created(Renamed.self, named: "o\"ther") == [#"CREATE TABLE "o""ther" ("id" INTEGER PRIMARY KEY)"#])
    }

    // MARK: - Parts

    struct Score: Codable, PersistableRecord, TableSchemaProviding {
        var player: String
        var day: String
        var points: Int
        var note: String?

        static func databaseSchema(_ hasIndexes: Bool) -> TableSchema {
            TableSchema(options: .withoutRowID) { t in
                t.primaryKey([Column("player"), Column("day").desc], onConflict: .replace)
                t.column("points", .real).nullable().defaults(sql: "(1 + 1)")
                t.column("note").collate(.nocase).notNull(onConflict: .ignore)
                t.column("double").generatedAs(Column("points") * 2)
                t.column("length", .integer).generatedAs(sql: "length(note)", .stored)
                t.check(Column("points") > Column("length"))
                t.check(sql: "points < 100")
                t.foreignKey(
                    ["player", "day"], references: "day", columns: ["a", "b"], onUpdate: .setNull, deferred: true)
                t.constraint(sql: "CONSTRAINT c CHECK (length > 0)")
                if hasIndexes {
                    t.index(on: ["points", "note"], unique: true)
                    t.index(
                        on: [Column("points").desc, Column("note").collating(.nocase)], suffix: "_best",
                        where: Column("points") > 10)
                } else {
                    t.index(on: ["points"], suffix: "_p")
                }
                for name in ["note", "day"] {
                    t.index(on: [name])
                }
            }
        }
        static var databaseSchema: TableSchema { databaseSchema(true) }
    }

    @Test func partsOfAllKinds() throws {
        #expect(
            try created(Score.self) == [
                """
                CREATE TABLE "score" ("player" TEXT NOT NULL, "day" TEXT NOT NULL, "points" REAL DEFAULT (1 + 1), \
                "note" TEXT NOT NULL ON CONFLICT IGNORE COLLATE NOCASE, \
                "double" GENERATED ALWAYS AS ("points" * 2) VIRTUAL, \
                "length" INTEGER GENERATED ALWAYS AS (length(note)) STORED, \
                FOREIGN KEY ("player", "day") REFERENCES "day"("a", "b") \
                ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED, \
                CHECK ("points" > "length"), CHECK (points < 100), \
                PRIMARY KEY ("player", "day" DESC) ON CONFLICT REPLACE, CONSTRAINT c CHECK (length > 0)) WITHOUT ROWID
                """,
                #"CREATE UNIQUE INDEX "index_score_on_points_note" ON "score"("points", "note")"#,
                #"CREATE INDEX "score_best" ON "score"("points" DESC, "note" COLLATE NOCASE) WHERE "points" > 10"#,
                #"CREATE INDEX "index_score_on_note" ON "score"("note")"#,
                #"CREATE INDEX "index_score_on_day" ON "score"("day")"#,
            ])
    }

    struct Explicit: TableSchemaProviding {
        static let databaseTableName = "plain"
        static let databaseSchema = TableSchema(inferringColumns: false) { t in
            t.column("key", .text).primaryKey()
            t.column("value", .any)
        }
    }

    @Test func columnsThatAreAllDeclared() throws {
        #expect(try created(Explicit.self) == [#"CREATE TABLE "plain" ("key" TEXT PRIMARY KEY NOT NULL, "value" ANY)"#])
    }

    // MARK: - Mistakes

    struct Custom: Codable, DatabaseValueConvertible {
        var databaseValue: DatabaseValue { 1.databaseValue }
        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Custom? { Custom() }
    }
    struct NeedsType: Codable, PersistableRecord, TableSchemaProviding {
        var custom: Custom?
        static let databaseSchema = TableSchema()
    }
    struct NeedsCase: Codable, PersistableRecord, TableSchemaProviding {
        enum Kind: Codable {
            case a(Int)
        }
        var id: Int
        var kind: Kind
        static let databaseSchema = TableSchema()
    }
    struct Untyped: TableSchemaProviding {
        static let databaseSchema = TableSchema { t in t.column("a") }
    }
    struct TwoKeys: TableSchemaProviding {
        static let databaseSchema = TableSchema { t in
            t.column("a", .integer).primaryKey()
            t.column("b", .integer)
            t.primaryKey(["a", "b"])
        }
    }
    struct TextCounter: TableSchemaProviding {
        static let databaseSchema = TableSchema { t in t.column("a", .text).primaryKey(autoincrement: true) }
    }
    struct Twice: TableSchemaProviding {
        static let databaseSchema = TableSchema { t in
            t.column("a", .text)
            t.column("A", .text)
        }
    }

    struct Temporary: TableSchemaProviding {
        static let databaseSchema = TableSchema(options: .temporary) { t in t.column("a", .text) }
    }

    @Test(arguments: [
        (
            NeedsType.self as any TableSchemaProviding.Type,
            "column custom of table needsType needs a type: Custom converts itself to a value of the database"
        ),
        (
            NeedsCase.self,
            "the columns of NeedsCase can't be inferred, because of kind: no value of Kind could be made; "
                + "declare all with inferringColumns: false"
        ),
        (Untyped.self, "column a of table untyped needs a type: no property of the record has it"),
        (TwoKeys.self, "table twoKeys has 2 primary keys"),
        (TextCounter.self, "column a of table textCounter can't be autoincremented: it isn't an INTEGER"),
        (Temporary.self, "the schema of temporary can't have the options ifNotExists and temporary"),
        (Twice.self, "column A of table twice is declared twice"),
    ])
    func mistakesOfASchemaThrow(type: any TableSchemaProviding.Type, message: String) throws {
        expectError(.SQLITE_MISUSE, message) { try created(type) }
    }
}

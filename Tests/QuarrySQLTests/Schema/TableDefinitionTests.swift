import QuarryCore
import Testing

@testable import QuarrySQL

/// Definitions render without a connection: what they ask is answered here.
@Suite struct TableDefinitionTests {
    private struct Schema: SchemaResolver {
        var keys: [String: [ReferencedColumn]]

        func text(of sql: SQL) throws -> String {
            try sql.elements.map { element in
                switch element {
                case .sql(let text, _): text
                case .value(let value):
                    try SQLLiteral.text(of: value, readsExactly: { _, _ in true }, isUTF8: { true })
                case .fragment: throw DatabaseError(message: "no connection")
                case .request(let sql): try text(of: sql)
                }
            }.joined()
        }

        var checksForeignKeys: Bool { true }

        func tableExists(_ name: String, in schemaName: String?) throws -> Bool { keys[name] != nil }

        func attachedSchema(of table: String) throws -> String? { nil }

        func hasRows(in table: String, _ schemaName: String?) throws -> Bool { false }

        func primaryKeyColumns(of table: String, in schemaName: String?) throws -> [ReferencedColumn] {
            guard let key = keys[table] else { throw DatabaseError(message: "no such table: \(table)") }
            return key
        }
    }

    private let schema = Schema(keys: [
        "teams": [ReferencedColumn(name: "id", type: .integer)],
        "passport": [ReferencedColumn(name: "country", type: .text), ReferencedColumn(name: "number", type: nil)],
    ])

    @Test func aTableAndItsIndexes() throws {
        let definition = TableDefinition(name: "player", schemaName: "aux", options: .ifNotExists)
        definition.primaryKey("uuid", .text)
        definition.belongsTo("team").notNull()
        definition.belongsTo("passport").unique()
        definition.column("score", .integer).defaults(to: Int64.min).indexed()
        let rendering = try definition.render(schema, as: "other")
        #expect(
            rendering.table == """
                CREATE TABLE IF NOT EXISTS "aux"."other" ("uuid" TEXT PRIMARY KEY NOT NULL, \
                "teamId" INTEGER NOT NULL REFERENCES "teams"("id"), "passportCountry" TEXT, "passportNumber", \
                "score" INTEGER DEFAULT -9223372036854775808, \
                FOREIGN KEY ("passportCountry", "passportNumber") REFERENCES "passport"("country", "number"))
                """)
        #expect(
            try rendering.indexes.map { try $0.sql(schema) } == [
                #"CREATE UNIQUE INDEX IF NOT EXISTS "aux"."index_player_on_passportCountry_passportNumber" "#
                    + #"ON "player"("passportCountry", "passportNumber")"#,
                #"CREATE INDEX IF NOT EXISTS "aux"."player_on_teamId" ON "player"("teamId")"#,
                #"CREATE INDEX IF NOT EXISTS "aux"."player_on_score" ON "player"("score")"#,
            ])
    }

    @Test func anAlteration() throws {
        let alteration = TableAlteration(name: "player", schemaName: nil)
        alteration.add(column: "teamId", .integer).references("teams", onDelete: .setNull).indexed()
        alteration.rename(column: "a", to: "b \"c\"")
        var statements: [String] = []
        try alteration.forEachStatement(schema) { statements.append($0) }
        #expect(
            statements == [
                #"ALTER TABLE "player" ADD COLUMN "teamId" INTEGER REFERENCES "teams"("id") ON DELETE SET NULL"#,
                #"CREATE INDEX "player_on_teamId" ON "player"("teamId")"#,
                #"ALTER TABLE "player" RENAME COLUMN "a" TO "b ""c""""#,
            ])
    }

    @Test(arguments: [
        ("team", "teams"), ("category", "categories"), ("day", "days"), ("box", "boxes"), ("wife", "wives"),
        ("homeChild", "homeChildren"), ("home_person", "home_people"), ("Man", "Men"), ("human", "humans"),
    ])
    func plurals(name: String, plural: String) {
        #expect(EnglishPlural.candidates(of: name).contains(plural))
    }

    @Test func aHumanIsNoMan() {
        #expect(!EnglishPlural.candidates(of: "human").contains("humen"))
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Requests of views, which have no primary key unless a source of the schema says so.
@Suite struct ViewRequestTests {
    private struct Roster: TableRecord, FetchableRecord, Identifiable {
        var id: Int64

        init(row: Row) throws { id = row["id"] }
    }

    private struct RosterKey: DatabaseSchemaSource {
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            view.name == "roster" ? ["id"] : nil
        }
    }

    private func withRoster(_ body: (Database) throws -> Void) throws {
        try withAthletes { (db) throws in
            try db.execute(sql: "CREATE VIEW roster AS SELECT id, name FROM athlete WHERE id < 3")
            try body(db)
        }
    }

    @Test func stableOrders() throws {
        try withRoster { (db) throws in
            try expectQuery(
                db, Roster.all().withStableOrder(), sql: #"SELECT * FROM "roster" ORDER BY "id", "name""#,
                rows: ["1|Arthur", "2|Barbara"])
            try expectQuery(
                db, Roster.select(Column("name")).order(Column("name").desc).withStableOrder(),
                sql: #"SELECT "name" FROM "roster" ORDER BY "name" DESC, "id", "name""#, rows: ["Barbara", "Arthur"])
            try db.withSchemaSource(RosterKey()) { () throws in
                #expect(try Roster.all().withStableOrder().sql(db) == #"SELECT * FROM "roster" ORDER BY "id""#)
            }
            #expect(
                try Athlete.order { $0.score }.withStableOrder().sql(db)
                    == #"SELECT * FROM "athlete" ORDER BY "score", "id""#)
        }
    }

    @Test func rowsThatAreJoinedExist() throws {
        try withRoster { (db) throws in
            let roster = TableAlias<Roster>()
            let association = Athlete.belongsTo(Roster.self, using: ForeignKey(["id"], to: ["id"]))
            let joined = Athlete.joining(optional: association.aliased(roster))
            try expectQuery(
                db, joined.filter(!roster.exists).select(Column("id")),
                sql: """
                    SELECT "athlete"."id" FROM "athlete" LEFT JOIN "roster" ON "roster"."id" = "athlete"."id" \
                    WHERE ("roster"."id" IS NULL) AND ("roster"."name" IS NULL)
                    """, rows: ["3", "4"])
            try expectQuery(
                db, joined.select(roster.exists).order(Column("id")),
                sql: """
                    SELECT ("roster"."id" IS NOT NULL) OR ("roster"."name" IS NOT NULL) FROM "athlete" \
                    LEFT JOIN "roster" ON "roster"."id" = "athlete"."id" ORDER BY "athlete"."id"
                    """, rows: ["1", "1", "0", "0"])
            try db.withSchemaSource(RosterKey()) { () throws in
                #expect(
                    try joined.filter(roster.exists).select(Column("id")).sql(db) == """
                        SELECT "athlete"."id" FROM "athlete" LEFT JOIN "roster" ON "roster"."id" = "athlete"."id" \
                        WHERE "roster"."id" IS NOT NULL
                        """)
            }
        }
    }

    @Test func keysOfViewsAreThoseOfASource() throws {
        try withRoster { (db) throws in
            func message(_ body: () throws -> Void) -> String? {
                expectError(DatabaseError.self) { () throws in try body() }?.message
            }
            #expect(message { _ = try db.primaryKey("roster") } == "database view roster has no primary key")
            #expect(try !db.table("roster", hasUniqueKey: ["id"]))
            #expect(
                message { _ = try Roster.orderByPrimaryKey().fetchAll(db) } == "database view roster has no primary key"
            )
            #expect(message { _ = try Roster.fetchOne(db, id: 1) } == "view roster has no primary key")
            try db.withSchemaSource(RosterKey()) { () throws in
                #expect(try db.primaryKey("roster").columns == ["id"])
                #expect(try db.table("roster", hasUniqueKey: ["name", "ID"]))
                #expect(try Roster.orderByPrimaryKey().reversed().fetchAll(db).map(\.id) == [2, 1])
                #expect(try Roster.fetchOne(db, id: 1)?.id == 1)
                #expect(try Roster.fetchOne(db, id: 3) == nil)
            }
        }
    }
}

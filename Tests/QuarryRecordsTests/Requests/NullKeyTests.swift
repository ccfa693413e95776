import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Rows with NULL in their primary key, which SQLite accepts:
/// <https://www.sqlite.org/lang_createtable.html#the_primary_key>.
@Suite struct NullKeyTests {
    private struct Continent: TableRecord {
        static let countries = hasMany(Country.self, using: ForeignKey(["continentId"]))
    }

    private struct Country: TableRecord {
        static let cities = hasMany(City.self, using: ForeignKey(["country"], to: ["name"]))
    }

    private struct City: TableRecord {
        static let country = belongsTo(Country.self, using: ForeignKey(["country"], to: ["name"]))
    }

    private func withCountries(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE continent (id INTEGER PRIMARY KEY);
                    CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT, continentId INTEGER);
                    CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT);
                    INSERT INTO continent VALUES (1), (2), (3);
                    INSERT INTO country VALUES ('FR', 'France', 1), (NULL, 'Atlantis', 1), (NULL, 'Utopia', 2);
                    INSERT INTO city VALUES (1, 'France'), (2, 'Atlantis'), (3, 'Atlantis'), (4, 'Nowhere');
                    """)
            try body(db)
        }
    }

    @Test func aRowWithoutAKeyExists() throws {
        try withCountries { (db) throws in
            let country = TableAlias<Country>()
            let cities = City.joining(optional: City.country.aliased(country)).select(Column("id"))
            let joined =
                #"SELECT "city"."id" FROM "city" LEFT JOIN "country" ON "country"."name" = "city"."country" "#
            try expectQuery(
                db, cities.filter(country.exists), sql: joined + #"WHERE "country"."rowid" IS NOT NULL"#,
                rows: ["1", "2", "3"])
            try expectQuery(
                db, cities.filter(!country.exists), sql: joined + #"WHERE "country"."rowid" IS NULL"#, rows: ["4"])
            // The result of a subquery has no rowid.
            let distinct = City.joining(optional: City.country.distinct().aliased(country)).select(Column("id"))
            #expect(try rows(db, distinct.filter(country.exists)) == ["1", "2", "3"])
            #expect(try rows(db, distinct.filter(!country.exists)) == ["4"])
            let code = City.country.select(Column("code"), Column("name")).distinct().aliased(country)
            #expect(
                try rows(db, City.joining(optional: code).select(Column("id")).filter(country.exists))
                    == ["1", "2", "3"])
        }
    }

    @Test func rowsWithoutAKeyAreCounted() throws {
        try withCountries { (db) throws in
            let countries = Continent.countries
            let joined =
                #"FROM "continent" LEFT JOIN "country" ON "country"."continentId" = "continent"."id" "#
                + #"GROUP BY "continent"."id""#
            try expectQuery(
                db, Continent.annotated(with: countries.count),
                sql: #"SELECT "continent".*, COUNT(DISTINCT "country"."rowid") AS "countryCount" "# + joined,
                rows: ["1|2", "2|1", "3|0"])
            try expectQuery(
                db, Continent.having(countries.isEmpty),
                sql: #"SELECT "continent".* \#(joined) HAVING COUNT(DISTINCT "country"."rowid") = 0"#, rows: ["3"])
            #expect(
                try rows(db, Continent.annotated(with: countries.distinct().count)) == ["1|2", "2|1", "3|0"])
        }
    }

    @Test func rowsWithoutAKeyAreGroupsOfTheirOwn() throws {
        try withCountries { (db) throws in
            try expectQuery(
                db, Country.select(Column("name")).annotated(with: Country.cities.count).order(Column("name")),
                sql: """
                    SELECT "country"."name", COUNT(DISTINCT "city"."id") AS "cityCount" FROM "country" \
                    LEFT JOIN "city" ON "city"."country" = "country"."name" GROUP BY "country"."rowid" \
                    ORDER BY "country"."name"
                    """, rows: ["Atlantis|2", "France|1", "Utopia|0"])
        }
    }

    @Test func rowsWithoutAKeyAreChanged() throws {
        func remaining(_ change: (Database) throws -> Int) throws -> [String] {
            var names: [String] = []
            try withCountries { db in
                let count = try change(db)
                names = try String.fetchAll(db, sql: "SELECT name FROM country ORDER BY name")
                #expect(names.count == 3 - count)
            }
            return names
        }
        #expect(
            try remaining { try Country.joining(required: Country.cities.filter(Column("id") == 2)).deleteAll($0) }
                == ["France", "Utopia"])
        #expect(try remaining { try Country.having(Country.cities.isEmpty).deleteAll($0) } == ["Atlantis", "France"])
        #expect(try remaining { try Country.order(Column("name")).limit(1).deleteAll($0) } == ["France", "Utopia"])
        // Each row is one group, if the groups are those of the key.
        #expect(
            try remaining { db in
                try Country.joining(optional: Country.cities).group(Column("code")).having(count(.allColumns) == 2)
                    .deleteAll(db)
            } == ["France", "Utopia"])
        try withCountries { (db) throws in
            let cities = Country.joining(required: Country.cities)
            #expect(try cities.updateAll(db, Column("continentId").set(to: 3)) == 2)
        }
    }

    @Test func rowsWithoutAKeyHaveAStableOrder() throws {
        try withCountries { (db) throws in
            try expectQuery(
                db, Country.select(Column("name")).order(Column("code") != nil).withStableOrder(),
                sql: #"SELECT "name" FROM "country" ORDER BY "code" IS NOT NULL, "code", "rowid""#,
                rows: ["Atlantis", "Utopia", "France"])
        }
    }

    @Test(arguments: [
        ("id INTEGER PRIMARY KEY", "id"), ("id TEXT PRIMARY KEY", "rowid"), ("id TEXT PRIMARY KEY NOT NULL", "id"),
        ("id INTEGER PRIMARY KEY DESC", "rowid"), ("id INT PRIMARY KEY", "rowid"), ("id, x", "rowid"),
        ("id, x, PRIMARY KEY (id, x)", "rowid"), ("id TEXT PRIMARY KEY, rowid, oid", "_rowid_"),
        ("id, rowid, PRIMARY KEY (id, rowid)", "_rowid_"),
    ])
    func aRowIsFoundByAColumnThatIsNeverNull(columns: String, expected: String) throws {
        try expectRowColumn("CREATE TABLE place (\(columns))", expected)
    }

    @Test(arguments: ["WITHOUT ROWID", "STRICT"])
    func keysOfTheseTablesAreNeverNull(option: String) throws {
        try expectRowColumn("CREATE TABLE place (id TEXT PRIMARY KEY) \(option)", "id")
    }

    private func expectRowColumn(_ sql: String, _ expected: String) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: sql)
            try db.execute(sql: "CREATE TABLE visit (placeId)")
            #expect(try visits.sql(db).hasSuffix(#"WHERE "place"."\#(expected)" IS NOT NULL"#))
            #expect(try visits.fetchCount(db) == 0)
        }
    }

    private var visits: QueryInterfaceRequest<Row> {
        let place = TableAlias(name: "place")
        let association = Table("visit").belongsTo(Table("place"), using: ForeignKey(["placeId"], to: ["id"]))
        return Table("visit").joining(optional: association.aliased(place)).filter(place.exists)
    }

    @Test func columnsMayHideEachNameOfTheRowid() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE place (id TEXT PRIMARY KEY, rowid, _rowid_, oid);
                    CREATE TABLE visit (placeId);
                    """)
            expectError(
                .SQLITE_MISUSE, "exists can't be used for place, which has no column that is never NULL"
            ) { try visits.fetchAll(db) }
            // The column isn't unique, as the rowid is.
            expectError(.SQLITE_MISUSE, #"table place has no unique key on "rowid""#) {
                try Table("place").filter(key: ["rowid": 1]).fetchAll(db)
            }
        }
    }
}

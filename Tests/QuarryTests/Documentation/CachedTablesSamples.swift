import Quarry
import QuarryCaching
import QuarryTestSupport
import Testing

@Suite struct CachedTablesSamples {
    struct Country: Codable, FetchableRecord, TableRecord, Sendable {
        var code: String
        var name: String
    }

    @Test func countriesInMemory() async throws {
        let folder = try TemporaryFolder(isFast: true)
        let dbPool = try DatabasePool(path: folder.file("a.sqlite"))
        try await dbPool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL);
                    INSERT INTO country VALUES ('FR', 'France');
                    """)
        }
        let countries = CachedTable<Country>(dbPool, capacity: 1_000)
        let france = try await countries.fetchOne(key: "FR")
        #expect(france?.name == "France")
        try await dbPool.write { db in
            try db.execute(sql: "UPDATE country SET name = 'République française' WHERE code = 'FR'")
        }
        let renamed = try await countries.fetchOne(key: "FR")
        #expect(renamed?.name == "République française")
        countries.capacity = 100  // the others are removed at once
        dbPool.releaseIdle(.records)  // all records of all cached tables of the pool
        #expect(countries.capacity == 100 && countries.statistics.count == 0)
    }
}

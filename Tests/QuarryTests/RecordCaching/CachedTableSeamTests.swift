import Quarry
import QuarryShared
import QuarryTestSupport
import Testing

@testable import QuarryCaching

/// Files that change while the database is closed, and tables that a name leads to for a while.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct CachedTableSeamTests {
    struct Country: Codable, FetchableRecord, TableRecord, Sendable, Equatable {
        var code: String
        var name: String
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    /// Writes with a connection that the cached table doesn't know.
    private func store(_ name: String, in path: String) throws {
        try DatabaseQueue(path: path).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS country (code TEXT PRIMARY KEY, name TEXT);
                    INSERT OR REPLACE INTO country VALUES ('FR', '\(name)')
                    """)
        }
    }

    private func name(_ countries: CachedTable<Country>) throws -> String? { try countries.fetchOne(key: "FR")?.name }

    private func warm(_ countries: CachedTable<Country>) async throws {
        try await until("the record is in memory") {
            let hits = countries.statistics.hitCount
            _ = try name(countries)
            return countries.statistics.hitCount > hits
        }
    }

    @Test func replacedAndWrittenWhileClosed() async throws {
        let path = folder.file("a.sqlite")
        try store("one", in: path)
        let database = SharedDatabase(path: path)
        let countries = CachedTable<Country>(database)
        try await warm(countries)

        let new = folder.file("new.sqlite")
        try store("two", in: new)
        try await database.withClosedDatabase { files in try files.replace(with: new) }
        #expect(try name(countries) == "two")
        try await warm(countries)

        try await database.closeAsync()
        try store("three", in: path)
        #expect(try name(countries) == "three")
        #expect(database.isOpened)
        try await warm(countries)

        try await onOwnThread {
            try database.withClosedDatabase { files in
                #expect(throws: DatabaseError.self) { try name(countries) }
                try files.remove()
            }
        }
        #expect(throws: DatabaseError.self) { try name(countries) }
    }

    @Test func writtenWhileADirectoryHasItClosed() async throws {
        let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: 1)
        try store("one", in: folder.file("a.sqlite"))
        let database = try directory.database(named: "a")
        let countries = CachedTable<Country>(database)
        try await warm(countries)
        // The first look of the cached table for the commits of others may open it once more.
        try await until("the directory has closed the database") {
            try directory.database(named: "b").write { _ in }
            return !database.isOpened
        }
        try store("two", in: folder.file("a.sqlite"))
        #expect(try name(countries) == "two")
    }

    /// They aren't kept: nothing tells when the name leads to another table.
    @Test func temporaryAndAttachedTables() async throws {
        let queue = try DatabaseQueue(path: folder.file("a.sqlite"))
        try store("one", in: folder.file("b.sqlite"))
        try store("two", in: folder.file("c.sqlite"))
        let countries = CachedTable<Country>(queue)
        func expect(_ expected: String?, after sql: String) async throws {
            try await queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
            for _ in 0..<5 { #expect(try name(countries) == expected, "\(sql)") }
        }
        try await expect("one", after: "ATTACH '\(folder.file("b.sqlite"))' AS other")
        try await expect("own", after: "UPDATE country SET name = 'own'")
        try await expect("two", after: "DETACH other; ATTACH '\(folder.file("c.sqlite"))' AS other")
        try store("three", in: folder.file("c.sqlite"))
        try await expect("three", after: "SELECT 1")
        try await expect(
            "temporary",
            after: """
                CREATE TEMP TABLE country (code TEXT PRIMARY KEY, name TEXT);
                INSERT INTO temp.country VALUES ('FR', 'temporary')
                """)
        try await expect("changed", after: "UPDATE temp.country SET name = 'changed'")
        try await expect("three", after: "DROP TABLE temp.country")
        #expect(countries.statistics.count == 0)
        try await expect(
            "main",
            after: """
                CREATE TABLE main.country (code TEXT PRIMARY KEY, name TEXT);
                INSERT INTO main.country VALUES ('FR', 'main')
                """)
        try await warm(countries)
    }
}

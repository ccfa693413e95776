import Quarry
import QuarryTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test func theTourRuns() async throws {
        let folder = try TemporaryFolder()
        #expect(try await tour(path: folder.file("players.sqlite")) == ["Barbara: 700"])
    }

    @Test func theHandlersAnswer() async throws {
        let database = try DatabaseQueue()
        try await database.write { db in
            try db.create(table: "hero") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
                t.column("score", .integer)
            }
        }
        let handlers = HeroHandlers(database: database)
        for (name, score) in [("Arthur", 300), ("Barbara", 700), ("Craig", 900)] {
            _ = try await handlers.add(Hero(id: nil, name: name, score: score))
        }
        #expect(try await handlers.list(minimum: 500).map(\.id) == [3, 2])
        await #expect(throws: HTTPError(status: 409, reason: "Arthur exists already")) {
            try await handlers.add(Hero(id: nil, name: "Arthur", score: nil))
        }
    }
}

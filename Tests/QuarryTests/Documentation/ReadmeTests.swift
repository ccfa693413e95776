import Quarry
import QuarryTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test func theTourRuns() async throws {
        let folder = try TemporaryFolder()
        let heroes = try await tour(path: folder.file("players.sqlite"))
        #expect(heroes.map(\.id) == [1])
        #expect(heroes.map(\.name) == ["Arthur"])
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
        let context = BasicRequestContext()
        func add(name: String, score: Int?) async throws -> Hero {
            let request = Request(body: Hero(id: nil, name: name, score: score))
            return try await handlers.add(request: request, context: context)
        }
        let arthur = try await add(name: "Arthur", score: 300)
        let barbara = try await add(name: "Barbara", score: 700)
        #expect(arthur.id == 1)
        #expect(barbara.id == 2)
        let best = try await handlers.list(request: Request(body: arthur), context: context)
        #expect(best.map(\.name) == ["Barbara", "Arthur"])
        await #expect(throws: HTTPError(.conflict, message: "Arthur exists already.")) {
            try await add(name: "Arthur", score: nil)
        }
    }
}

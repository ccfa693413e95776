import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Pages".
@Suite struct PagesSamples {
    struct Team: Codable, FetchableRecord, TableRecord {
        var id: Int64
        var name: String

        enum Columns {
            static let name = Column("name")
        }
    }

    struct Player: Codable, FetchableRecord, TableRecord {
        var id: Int64
        var name: String
        var score: Int
        var teamId: Int64?

        static let team = belongsTo(Team.self)

        enum Columns {
            static let name = Column("name")
            static let score = Column("score")
            static let teamId = Column("teamId")
        }
    }

    struct PlayerInfo: Decodable, FetchableRecord {
        var name: String
        var team: Team?
    }

    let dbPool: DatabaseQueue

    init() throws {
        dbPool = try DatabaseQueue()
        try dbPool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
                        teamId INTEGER REFERENCES team (id));
                    INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
                    INSERT INTO player VALUES
                        (1, 'Arthur', 1000, 1), (2, 'Barbara', 900, 2), (3, 'Craig', 800, 1), (4, 'Dan', 700, 2);
                    """)
        }
    }

    @Test func overview() throws {
        try dbPool.read { db in
            var pages: [RecordPage<Player>] = []
            try expectEmitted(
                db,
                #"SELECT * FROM "player" ORDER BY "score" DESC, "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE ("score" = 900) AND ("id" < 2) ORDER BY "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE "score" < 900 ORDER BY "score" DESC, "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE ("score" = 800) AND ("id" > 3) ORDER BY "id" LIMIT 3"#,
                #"SELECT * FROM "player" WHERE "score" > 800 ORDER BY "score", "id" LIMIT 3"#
            ) {
                let request = Player.order(\.score.desc)
                let first = try request.page(size: 2).fetch(db)  // RecordPage<Player>
                let second = try request.page(size: 2, after: first.next).fetch(db)
                let again = try request.page(size: 2, before: second.previous).fetch(db)
                pages = [first, second, again]
            }
            #expect(pages.map { $0.items.map(\.id) } == [[1, 2], [3, 4], [1, 2]])
            #expect(pages[1].next == nil && pages[2].previous == nil)
        }
    }

    func players(after: String?, before: String?) async throws -> RecordPage<Player> {
        let after = try after.map { try PageToken($0) }
        let before = try before.map { try PageToken($0) }
        return try await dbPool.read { db in
            try Player.order(\.score.desc).page(size: 20, after: after, before: before).fetch(db)
        }
    }

    @Test func api() async throws {
        let page = try await players(after: nil, before: nil)
        #expect(page.items.count == 4)
        let token = try await dbPool.read { try Player.order(\.score.desc).page(size: 3).fetch($0) }.next
        #expect(try await players(after: token?.text, before: nil).items.map(\.id) == [4])
        await #expect(throws: PageTokenError.malformed) { try await players(after: "x", before: nil) }
    }

    /// A stand-in for swift-crypto's, which the library doesn't depend on.
    private struct SHA256 {}

    private struct HMAC<Hash> {
        static func authenticationCode(for data: Data, using key: UInt8) -> [UInt8] { data.map { $0 ^ key } }
    }

    @Test func signatures() throws {
        let key: UInt8 = 42
        let page = try dbPool.read { try Player.order(\.score.desc).page(size: 3).fetch($0) }
        func sign(_ bytes: [UInt8]) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: Data(bytes), using: key)) }
        let text = page.next?.text(signature: sign)
        let token = try text.map { try PageToken($0, signature: sign) }
        #expect(token == page.next)
    }

    @Test func orders() throws {
        try dbPool.read { db in
            do {
                let request = Player.including(optional: Player.team.order(\.name)).order { $0.name.collating(.nocase) }
                let page = try request.asRequest(of: PlayerInfo.self).page(size: 20).fetch(db)
                #expect(page.items.map(\.team?.name) == ["Reds", "Blues", "Reds", "Blues"])
            }
            let token = try Player.order { [$0.teamId, $0.score.desc] }.page(size: 2).fetch(db).next
            try expectEmitted(
                db,
                #"SELECT * FROM "player" WHERE ("teamId" = 1) AND ("score" = 800) AND ("id" < 3) "#
                    + #"ORDER BY "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE ("teamId" = 1) AND ("score" < 800) "#
                    + #"ORDER BY "score" DESC, "id" DESC LIMIT 3"#,
                #"SELECT * FROM "player" WHERE "teamId" > 1 ORDER BY "teamId", "score" DESC, "id" DESC LIMIT 3"#
            ) {
                let page = try Player.order { [$0.teamId, $0.score.desc] }.page(size: 2, after: token).fetch(db)
                #expect(page.items.map(\.id) == [2, 4])
            }
        }
    }

    @Test func numbers() throws {
        try dbPool.read { db in
            try expectEmitted(
                db, #"SELECT COUNT(*) FROM "player""#,
                #"SELECT * FROM "player" ORDER BY "name", "id" LIMIT 2 OFFSET 2"#
            ) {
                let page = try Player.order(\.name).page(number: 2, size: 2).fetch(db)  // NumberedPage<Player>
                print("page \(page.number) of \(page.pageCount), \(page.total) players")
                #expect(page.items.map(\.id) == [3, 4] && page.total == 4 && page.pageCount == 2)
            }
        }
    }
}

import BenchSupport

#if BENCH_QUARRY
import Quarry
#else
import GRDB
#endif

private struct Member: Decodable, FetchableRecord, TableRecord {
    var id: Int64
    var teamId: Int64
    var name: String
    var score: Int
}

private struct Team: Decodable, FetchableRecord, TableRecord {
    static let members = hasMany(Member.self)

    var id: Int64
    var name: String
}

private struct TeamInfo: Decodable, FetchableRecord {
    var team: Team
    var members: [Member]

    var checksum: Int {
        members.reduce(0) { $0 &+ TeamTables.checksum(team: team.id, memberID: $1.id, name: $1.name, score: $1.score) }
    }
}

private struct NamedMember: FetchableRecord, TableRecord {
    static let databaseTableName = "member"

    var id: Int64
    var teamId: Int64
    var name: String
    var score: Int

    init(row: Row) {
        id = row["id"]
        teamId = row["teamId"]
        name = row["name"]
        score = row["score"]
    }
}

private struct NamedTeam: FetchableRecord, TableRecord {
    static let databaseTableName = "team"
    static let members = hasMany(NamedMember.self)

    var id: Int64
    var name: String
    var members: [NamedMember]

    init(row: Row) {
        id = row["id"]
        name = row["name"]
        members = row["members"]
    }

    var checksum: Int {
        members.reduce(0) { $0 &+ TeamTables.checksum(team: id, memberID: $1.id, name: $1.name, score: $1.score) }
    }
}

/// Rows 9: teams with their members.
extension LibraryWorkloads {
    static func teamsDecodable(_ fixtures: Fixtures) throws -> Workload {
        try teams(fixtures) { db in
            try Team.including(all: Team.members).asRequest(of: TeamInfo.self).fetchAll(db)
                .reduce(0) { $0 &+ $1.checksum }
        }
    }

    static func teamsByName(_ fixtures: Fixtures) throws -> Workload {
        try teams(fixtures) { db in
            try NamedTeam.including(all: NamedTeam.members).fetchAll(db).reduce(0) { $0 &+ $1.checksum }
        }
    }

    private static func teams(
        _ fixtures: Fixtures, _ body: @escaping @Sendable (Database) throws -> Int
    ) throws -> Workload {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: TeamTables.sql(players: fixtures.playerCount)) }
        return .sync { _ in try queue.read(body) }
    }
}

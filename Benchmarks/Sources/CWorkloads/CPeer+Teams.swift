import BenchSupport
import CSQLiteBench

/// Rows 9: teams, and their members in one more statement, handed to their teams.
extension CPeer {
    private struct Member {
        var id: Int64
        var teamId: Int64
        var name: String
        var score: Int
    }

    private struct Team {
        var id: Int64
        var name: String
        var members: [Member] = []
    }

    static func teams(_ fixtures: Fixtures) throws -> Workload {
        let connection = try Connection(":memory:")
        try connection.execute(TeamTables.sql(players: fixtures.playerCount))
        let count = try connection.integer("SELECT COUNT(*) FROM team")
        let marks = repeatElement("?", count: count).joined(separator: ", ")
        let sql = "SELECT id, teamId, name, score FROM member WHERE teamId IN (\(marks))"
        return .sync { _ in
            try connection.run(connection.cached("BEGIN DEFERRED TRANSACTION"))
            var teams: [Team] = []
            var places: [Int64: Int] = [:]
            let statement = try connection.cached("SELECT id, name FROM team")
            while try connection.step(statement) {
                let id = sqlite3_column_int64(statement, 0)
                places[id] = teams.count
                teams.append(Team(id: id, name: columnText(statement, 1)))
            }
            sqlite3_reset(statement)
            let members = try connection.cached(sql)
            for (index, team) in teams.enumerated() { sqlite3_bind_int64(members, Int32(index + 1), team.id) }
            while try connection.step(members) {
                let member = Member(
                    id: sqlite3_column_int64(members, 0), teamId: sqlite3_column_int64(members, 1),
                    name: columnText(members, 2), score: Int(sqlite3_column_int64(members, 3)))
                if let place = places[member.teamId] { teams[place].members.append(member) }
            }
            sqlite3_reset(members)
            try connection.run(connection.cached("COMMIT TRANSACTION"))
            return teams.reduce(0) { sum, team in
                team.members.reduce(sum) {
                    $0 &+ TeamTables.checksum(team: team.id, memberID: $1.id, name: $1.name, score: $1.score)
                }
            }
        }
    }
}

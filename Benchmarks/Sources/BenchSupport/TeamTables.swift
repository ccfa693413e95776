/// The tables of rows 9: teams of 50 members.
package enum TeamTables {
    /// The statements that make them.
    ///
    /// - parameter players: the number of players of the other rows, to shrink with: 100 for a team.
    package static func sql(players: Int) -> String {
        let teams = max(players / 100, 1)
        return """
            CREATE TABLE team(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE member(
                id INTEGER PRIMARY KEY, teamId INTEGER NOT NULL REFERENCES team(id), name TEXT NOT NULL,
                score INTEGER NOT NULL);
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(teams))
            INSERT INTO team SELECT n, printf('Team%06d', n) FROM numbers;
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(teams * 50))
            INSERT INTO member SELECT n, n * 7 % \(teams) + 1, printf('Member%06d', n), n * 7919 % 1000 FROM numbers;
            CREATE INDEX member_teamId ON member(teamId);
            """
    }

    /// A sum over the members of a team that shows whose they are.
    package static func checksum(team: Int64, memberID: Int64, name: String, score: Int) -> Int {
        Int(team) &* 31 &+ Int(memberID) &* 7 &+ score &* 3 &+ name.utf8.count
    }
}

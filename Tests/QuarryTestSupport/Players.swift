public import QuarryCore

/// The tables of players that tests share. Their rows have the ids 1, 2, and so on.
///
/// A test whose result depends on other columns or constraints creates its own table.
extension Database {
    /// Creates `player (id INTEGER PRIMARY KEY, name TEXT)` with a row for each name.
    public func makePlayers(_ names: String...) throws {
        let rows = names.map { _ in "(?)" }.joined(separator: ", ")
        try makePlayerTable("name TEXT", rows: "(name) VALUES \(rows)", StatementArguments(names))
    }

    /// Creates `player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)` with a row for each score.
    ///
    /// ```swift
    /// try db.makeScoredPlayers(["Arthur": 100, "Barbara": 1000])
    /// ```
    public func makeScoredPlayers(_ scores: KeyValuePairs<String, Int> = [:]) throws {
        try makePlayerTable("name TEXT, score INTEGER", scores)
    }

    /// Creates `player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)` with a row for each score.
    public func makeUniquePlayers(_ scores: KeyValuePairs<String, Int> = [:]) throws {
        try makePlayerTable("name TEXT UNIQUE, score INTEGER", scores)
    }

    /// Creates `team (id INTEGER PRIMARY KEY, name TEXT)` and
    /// `player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, teamId INTEGER REFERENCES team (id))`, both empty.
    public func makeTeamTables() throws {
        try execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT)")
        try makePlayerTable("name TEXT, score INTEGER, teamId INTEGER REFERENCES team (id)", [:])
    }

    private func makePlayerTable(_ columns: String, _ scores: KeyValuePairs<String, Int>) throws {
        let rows = scores.map { _ in "(?, ?)" }.joined(separator: ", ")
        let values = scores.flatMap { [$0.key, $0.value] as [(any DatabaseValueConvertible)?] }
        try makePlayerTable(columns, rows: "(name, score) VALUES \(rows)", StatementArguments(values))
    }

    /// All rows come from one statement, for tests that count or trace statements.
    private func makePlayerTable(_ columns: String, rows: String, _ values: StatementArguments) throws {
        try execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, \(columns))")
        if !values.isEmpty { try execute(sql: "INSERT INTO player \(rows)", arguments: values) }
    }
}

/// Runs `body` with two tables, for tests that observe their changes: players with scores, and teams with unique names.
///
/// Each has two rows, with the ids 1 and 2. The players are named `a` and `b`, the teams `red` and `blue`.
public func withObservedTables(_ body: (Database) throws -> Void) throws {
    try withConnection { db in
        try db.makeScoredPlayers(["a": 1, "b": 2])
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                INSERT INTO team VALUES (1, 'red'), (2, 'blue');
                """)
        try body(db)
    }
}

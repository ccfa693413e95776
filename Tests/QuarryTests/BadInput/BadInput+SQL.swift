import Quarry

/// SQL that is empty, double, or malformed, and changes that constraints refuse.
extension BadInput {
    static let sqlText: [BadInput] = [
        .connection(
            "a misspelt word",
            "SQLITE_ERROR: near \"SELEC\": syntax error - while executing `SELEC 1`"
        ) { db in try db.execute(sql: "SELEC 1") },
        .connection(
            "half a statement",
            "SQLITE_ERROR: incomplete input - while executing `SELECT name FROM`"
        ) { db in try db.execute(sql: "SELECT name FROM") },
        .connection(
            "a text without its end",
            "SQLITE_ERROR: unrecognized token: \"'Arthur\" - while executing `SELECT 'Arthur`"
        ) { db in _ = try String.fetchOne(db, sql: "SELECT 'Arthur") },
        .connection(
            "an identifier without its end",
            """
            SQLITE_ERROR: unrecognized token: ""name FROM player" - while executing `SELECT "name FROM player`
            """
        ) { db in try db.execute(sql: "SELECT \"name FROM player") },
        .connection(
            "a blob literal of odd length",
            "SQLITE_ERROR: unrecognized token: \"x'012'\" - while executing `SELECT x'012'`"
        ) { db in try db.execute(sql: "SELECT x'012'") },
        .connection(
            "a character that SQL lacks",
            "SQLITE_ERROR: unrecognized token: \"!\" - while executing `SELECT name ! score FROM player`"
        ) { db in try db.execute(sql: "SELECT name ! score FROM player") },
        .connection(
            "a NUL in SQL that runs",
            """
            SQLITE_MISUSE: SQL has a NUL character at byte 31 - while executing `DELETE FROM player WHERE id = \
            3\\0 OR 1`
            """
        ) { db in
            try db.execute(sql: "DELETE FROM player WHERE id = 3\0 OR 1")
        },
        .connection(
            "a NUL in SQL that is prepared",
            "SQLITE_MISUSE: SQL has a NUL character at byte 8 - while executing `SELECT 1\\0`"
        ) { db in _ = try db.makeStatement(sql: "SELECT 1\0") },
        .connection(
            "a NUL in SQL that is kept",
            "SQLITE_MISUSE: SQL has a NUL character at byte 8 - while executing `SELECT '\\0'`"
        ) { db in _ = try db.cachedStatement(sql: "SELECT '\0'") },
        .connection(
            "a NUL in SQL that is fetched from",
            "SQLITE_MISUSE: SQL has a NUL character at byte 0 - while executing `\\0SELECT 1`"
        ) { db in _ = try Row.fetchAll(db, sql: "\0SELECT 1") },
        .connection(
            "a NUL in a series of statements",
            "SQLITE_MISUSE: SQL has a NUL character at byte 16 - while executing `SELECT 1; SELECT\\0 2`"
        ) { db in
            let statements = try db.allStatements(sql: "SELECT 1; SELECT\0 2")
            while try statements.next() != nil {}
        },
        .connection(
            "no SQL to prepare",
            "SQLITE_ERROR: empty statement - while executing ``"
        ) { db in _ = try db.makeStatement(sql: "") },
        .connection(
            "no SQL to keep",
            "SQLITE_ERROR: empty statement - while executing ` ;\\n`"
        ) { db in _ = try db.cachedStatement(sql: " ;\n") },
        .connection(
            "no SQL to fetch from",
            "SQLITE_ERROR: empty statement - while executing `-- nothing`"
        ) { db in _ = try Int.fetchOne(db, sql: "-- nothing") },
        .connection(
            "a request without SQL",
            "SQLITE_ERROR: empty statement - while executing ``"
        ) { db in _ = try SQLRequest<Int>(sql: "").fetchAll(db) },
        .connection(
            "a literal without SQL",
            "SQLITE_ERROR: empty statement - while executing ``"
        ) { db in _ = try db.makeStatement(literal: "") },
        .connection(
            "a comment without its end hides the statement",
            "SQLITE_ERROR: empty statement - while executing `/* SELECT 1`"
        ) { db in
            _ = try db.makeStatement(sql: "/* SELECT 1")
        },
        .connection(
            "a table that isn't there",
            "SQLITE_ERROR: no such table: nowhere - while executing `DELETE FROM nowhere`"
        ) { db in try db.execute(sql: "DELETE FROM nowhere") },
        .connection(
            "a column that isn't there",
            "SQLITE_ERROR: no such column: age - while executing `SELECT age FROM player`"
        ) { db in _ = try Int.fetchAll(db, sql: "SELECT age FROM player") },
        .connection(
            "a text in double quotes",
            """
            SQLITE_ERROR: no such column: Arthur - while executing `SELECT * FROM player WHERE name = "Arthur"`
            """
        ) { db in
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE name = \"Arthur\"")
        }.or(
            """
            SQLITE_ERROR: no such column: "Arthur" - should this be a string literal in single-quotes? - while \
            executing `SELECT * FROM player WHERE name = "Arthur"`
            """),
        .connection(
            "a function that isn't there",
            "SQLITE_ERROR: no such function: age - while executing `SELECT age(1)`"
        ) { db in _ = try Int.fetchOne(db, sql: "SELECT age(1)") },
        .connection(
            "a collation that isn't there",
            """
            SQLITE_ERROR_MISSING_COLLSEQ: no such collation sequence: age - while executing `SELECT * FROM player \
            ORDER BY name COLLATE age`
            """
        ) { db in
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY name COLLATE age")
        },
        .connection(
            "a module that isn't there",
            "SQLITE_ERROR: no such module: nowhere - while executing `CREATE VIRTUAL TABLE v USING nowhere(a)`"
        ) { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE v USING nowhere(a)")
        },
        .connection(
            "a column of two tables",
            "SQLITE_ERROR: ambiguous column name: name - while executing `SELECT name FROM player, team`"
        ) { db in
            _ = try Row.fetchAll(db, sql: "SELECT name FROM player, team")
        },
        .connection(
            "a table that is there already",
            "SQLITE_ERROR: table team already exists - while executing `CREATE TABLE team (a)`"
        ) { db in try db.execute(sql: "CREATE TABLE team (a)") },
        .connection(
            "a name that SQLite keeps for itself",
            """
            SQLITE_ERROR: object name reserved for internal use: sqlite_mine - while executing `CREATE TABLE \
            sqlite_mine (a)`
            """
        ) { db in
            try db.execute(sql: "CREATE TABLE sqlite_mine (a)")
        },
        .connection(
            "an aggregate in WHERE",
            """
            SQLITE_ERROR: misuse of aggregate function MAX() - while executing `SELECT * FROM player WHERE \
            MAX(score) = 1`
            """
        ) { db in
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE MAX(score) = 1")
        },
        .connection(
            "more values than columns",
            """
            SQLITE_ERROR: table team has 2 columns but 3 values were supplied - while executing `INSERT INTO team \
            VALUES (9, 'a', 1)`
            """
        ) { db in try db.execute(sql: "INSERT INTO team VALUES (9, 'a', 1)")
        },
        .connection(
            "a value for no column",
            """
            SQLITE_ERROR: table team has no column named city - while executing `INSERT INTO team (city) VALUES \
            ('a')`
            """
        ) { db in try db.execute(sql: "INSERT INTO team (city) VALUES ('a')") },
        .connection(
            "two columns of one name",
            "SQLITE_ERROR: duplicate column name: A - while executing `CREATE TABLE t (a, A)`"
        ) { db in try db.execute(sql: "CREATE TABLE t (a, A)") },
        .connection(
            "an index on an expression that isn't deterministic",
            """
            SQLITE_ERROR: non-deterministic functions prohibited in index expressions - while executing `CREATE \
            INDEX i ON player (random())`
            """
        ) { db in
            try db.execute(sql: "CREATE INDEX i ON player (random())")
        },
        .connection(
            "a collation named by a literal that isn't there",
            """
            SQLITE_ERROR_MISSING_COLLSEQ: no such collation sequence: nowhere - while executing `SELECT name FROM \
            player ORDER BY name COLLATE nowhere`
            """
        ) { db in
            let collation = Database.CollationName("nowhere")
            try db.execute(literal: "SELECT name FROM player ORDER BY name COLLATE \(collation)")
        },
        .connection(
            "an identifier that is no column",
            "SQLITE_ERROR: no such column: na\"me - while executing `SELECT \"na\"\"me\" FROM player`"
        ) { db in
            try db.execute(literal: "SELECT \(identifier: "na\"me") FROM player")
        }.or(
            """
            SQLITE_ERROR: no such column: "na"me" - should this be a string literal in single-quotes? - while \
            executing `SELECT "na""me" FROM player`
            """),
        .connection(
            "a NUL in an identifier",
            "SQLITE_MISUSE: SQL has a NUL character at byte 12 - while executing `SELECT \"name\\0\" FROM player`"
        ) { db in
            try db.execute(literal: "SELECT \(identifier: "name\0") FROM player")
        },
    ]

    static let severalStatements: [BadInput] = [
        .connection(
            "two statements where one is prepared",
            """
            SQLITE_MISUSE: more than one statement: use execute(sql:) or allStatements(sql:) - while executing \
            `SELECT 1; SELECT 2`
            """
        ) { db in
            _ = try db.makeStatement(sql: "SELECT 1; SELECT 2")
        },
        .connection(
            "two statements where one is kept",
            """
            SQLITE_MISUSE: more than one statement: use execute(sql:) or allStatements(sql:) - while executing \
            `SELECT 1; SELECT 2`
            """
        ) { db in
            _ = try db.cachedStatement(sql: "SELECT 1; SELECT 2")
        },
        .connection(
            "two statements where one is fetched from",
            """
            SQLITE_MISUSE: more than one statement: use execute(sql:) or allStatements(sql:) - while executing \
            `SELECT 1; DELETE FROM player`
            """
        ) { db in
            _ = try Int.fetchAll(db, sql: "SELECT 1; DELETE FROM player")
        },
        .connection(
            "garbage behind a statement",
            """
            SQLITE_MISUSE: more than one statement: use execute(sql:) or allStatements(sql:) - while executing \
            `SELECT 1; garbage`
            """
        ) { db in _ = try db.makeStatement(sql: "SELECT 1; garbage") },
        .connection(
            "an error in the second statement",
            "SQLITE_ERROR: no such table: nowhere - while executing `DELETE FROM nowhere; SELECT 2`"
        ) { db in
            try db.execute(sql: "SELECT 1; DELETE FROM nowhere; SELECT 2")
        },
        .connection(
            "a trigger without END",
            """
            SQLITE_ERROR: incomplete input - while executing `CREATE TRIGGER r AFTER INSERT ON team BEGIN SELECT \
            1; SELECT 2`
            """
        ) { db in
            try db.execute(sql: "CREATE TRIGGER r AFTER INSERT ON team BEGIN SELECT 1; SELECT 2")
        },
        .connection(
            "a statement behind a text without its end",
            """
            SQLITE_ERROR: unrecognized token: "'a; DELETE FROM player" - while executing `SELECT 'a; DELETE FROM \
            player`
            """
        ) { db in
            try db.execute(sql: "SELECT 'a; DELETE FROM player")
        },
        .connection(
            "an error in a series, where it stands",
            "SQLITE_ERROR: near \"SELEC\": syntax error - while executing `SELEC 2; SELECT 3`"
        ) { db in
            let statements = try db.allStatements(sql: "SELECT 1; SELEC 2; SELECT 3")
            while let statement = try statements.next() { try statement.execute() }
        },
    ]

    static let constraints: [BadInput] = [
        .connection(
            "a value that is there already",
            """
            SQLITE_CONSTRAINT_UNIQUE: UNIQUE constraint failed: team.name - while executing `INSERT INTO team \
            (name) VALUES (?)`
            """
        ) { db in
            try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: ["Reds"])
        },
        .connection(
            "a primary key that is there already",
            """
            SQLITE_CONSTRAINT_PRIMARYKEY: UNIQUE constraint failed: player.id - while executing `INSERT INTO \
            player (id, name) VALUES (1, 'a')`
            """
        ) { db in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (1, 'a')")
        },
        .connection(
            "NULL where it isn't allowed",
            """
            SQLITE_CONSTRAINT_NOTNULL: NOT NULL constraint failed: player.name - while executing `INSERT INTO \
            player (name) VALUES (?)`
            """
        ) { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [nil])
        },
        .connection(
            "a value that a CHECK refuses",
            """
            SQLITE_CONSTRAINT_CHECK: CHECK constraint failed: score >= 0 - while executing `UPDATE player SET \
            score = -1 WHERE id = 1`
            """
        ) { db in
            try db.execute(sql: "UPDATE player SET score = -1 WHERE id = 1")
        },
        .connection(
            "a foreign key without its parent",
            """
            SQLITE_CONSTRAINT_FOREIGNKEY: FOREIGN KEY constraint failed - while executing `UPDATE player SET \
            teamId = 99 WHERE id = 1`
            """
        ) { db in
            try db.execute(sql: "UPDATE player SET teamId = 99 WHERE id = 1")
        },
        .connection(
            "a deferred foreign key at the commit",
            "SQLITE_CONSTRAINT_FOREIGNKEY: FOREIGN KEY constraint failed - while executing `COMMIT TRANSACTION`"
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO player (name, teamId) VALUES ('a', 99)")
                return .commit
            }
        },
        .connection(
            "text as a rowid",
            "SQLITE_MISMATCH: datatype mismatch - while executing `UPDATE player SET id = 'one' WHERE id = 1`"
        ) { db in try db.execute(sql: "UPDATE player SET id = 'one' WHERE id = 1") },
        .connection(
            "a STRICT column of another type",
            """
            SQLITE_CONSTRAINT_DATATYPE: cannot store TEXT value in INTEGER column strict.a - while executing \
            `INSERT INTO strict VALUES (?)`
            """
        ) { db in
            try db.execute(sql: "CREATE TABLE strict (a INTEGER) STRICT")
            defer { try? db.execute(sql: "DROP TABLE strict") }
            try db.execute(sql: "INSERT INTO strict VALUES (?)", arguments: ["many"])
        },
        .connection(
            "RAISE in a trigger",
            "SQLITE_CONSTRAINT_TRIGGER: players stay - while executing `DELETE FROM player`"
        ) { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER r BEFORE DELETE ON player BEGIN SELECT RAISE(ABORT, 'players stay'); END
                    """)
            defer { try? db.execute(sql: "DROP TRIGGER r") }
            try db.execute(sql: "DELETE FROM player")
        },
        .connection(
            "a failed change in the midst of RETURNING",
            """
            SQLITE_CONSTRAINT_UNIQUE: UNIQUE constraint failed: team.name - while executing `INSERT INTO team \
            (name) VALUES ('Greens'), ('Reds') RETURNING name`
            """
        ) { db in
            _ = try String.fetchAll(db, sql: "INSERT INTO team (name) VALUES ('Greens'), ('Reds') RETURNING name")
        },
        .connection(
            "an integer that overflows",
            "SQLITE_ERROR: integer overflow - while executing `SELECT abs(-9223372036854775807 - 1)`"
        ) { db in
            _ = try Int.fetchOne(db, sql: "SELECT abs(-9223372036854775807 - 1)")
        },
        .connection(
            "malformed JSON in SQL",
            "SQLITE_ERROR: malformed JSON - while executing `SELECT json_extract(?, '$.a')`"
        ) { db in
            _ = try String.fetchOne(db, sql: "SELECT json_extract(?, '$.a')", arguments: ["{a"])
        },
    ]
}

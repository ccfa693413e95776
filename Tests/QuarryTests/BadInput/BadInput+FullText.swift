import Quarry
import QuarryCJKTokenizer

/// Patterns that are wrong, tokenizers that fail or are missing, settings that don't exist.
extension BadInput {
    static let fullText: [BadInput] = [
        .connection(
            "a pattern that is wrong, in SQL",
            """
            SQLITE_ERROR: fts5: syntax error near "AND": FTS5Pattern(matchingAllTokensIn:) makes a pattern of any \
            text - while executing `SELECT * FROM document('AND')`
            """
        ) { db in
            try makeDocuments(db)
            try db.execute(sql: "SELECT * FROM document('AND')")
        },
        .connection(
            "a pattern that names a column that isn't there", "SQLITE_ERROR: no such column: titel"
        ) { db in
            try makeDocuments(db)
            _ = try db.makeFTS5Pattern(rawPattern: "titel : x", forTable: "document")
        },
        .connection("a raw pattern that is none", "SQLITE_ERROR: unterminated string") { _ in
            _ = try FTS5Pattern(rawPattern: "\"a")
        },
        .connection("a raw pattern of FTS3 that is none", "SQLITE_ERROR: malformed MATCH expression: [a OR]") { _ in
            _ = try FTS3Pattern(rawPattern: "a OR")
        },
        .connection(
            "a match of a table that is none of full text",
            #"SQLITE_ERROR: no such column: player - while executing `SELECT * FROM "player" WHERE "player" MATCH ?`"#
        ) { db in
            _ = try Table("player").matching(FTS5Pattern(matchingAnyTokenIn: "x")).fetchAll(db)
        }.or(
            """
            SQLITE_ERROR: no such column: "player" - should this be a string literal in single-quotes? - while \
            executing `SELECT * FROM "player" WHERE "player" MATCH ?`
            """),
        .connection(
            "a tokenizer that nobody has added",
            """
            SQLITE_ERROR: no such tokenizer: cjk - while executing \
            `CREATE VIRTUAL TABLE "document" USING fts5(a, tokenize='''cjk'' ''bigram''')`
            """
        ) { db in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.column("a")
                t.tokenizer = .cjk()
            }
        },
        .connection(
            "an option that a tokenizer doesn't have",
            """
            SQLITE_ERROR: tokenizer cjk has no option trigram - while executing \
            `CREATE VIRTUAL TABLE "document" USING fts5(a, tokenize='''cjk'' ''trigram''')`
            """
        ) { db in
            db.add(tokenizer: FTS5CJKTokenizer.self)
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.column("a")
                t.tokenizer = FTS5CJKTokenizer.tokenizerDescriptor(arguments: ["trigram"])
            }
        },
        .connection(
            "an auxiliary function that throws",
            "SQLITE_FULL: enough - while executing `SELECT f(document) FROM document('x')`"
        ) { db in
            try makeDocuments(db)
            db.add(
                function: FTS5Function("f") { _ in
                    throw DatabaseError(resultCode: .SQLITE_FULL, message: "enough")
                })
            try db.execute(sql: "SELECT f(document) FROM document('x')")
        },
        .connection(
            "the setting of a database that isn't attached",
            #"SQLITE_ERROR: unknown database "archive" - while executing `PRAGMA "archive".page_size`"#
        ) { db in _ = try db.pageSize(of: "archive") },
        .connection(
            "detaching what isn't attached",
            #"SQLITE_ERROR: no such database: archive - while executing `DETACH DATABASE "archive"`"#
        ) { db in try db.detach("archive") },
        .read(
            "a setting that is changed in a read",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `PRAGMA \
            "main".user_version = 1`
            """
        ) { db in try db.setUserVersion(1) },
    ]

    private static func makeDocuments(_ db: Database) throws {
        try db.create(virtualTable: "document", using: FTS5()) { t in t.column("title") }
        try db.execute(sql: "INSERT INTO document VALUES ('x')")
    }
}

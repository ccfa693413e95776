import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// The content of a dump, and its order.
@Suite struct DumpTests {
    // MARK: - SQL

    @Test func sql() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        try dbQueue.write { (db) throws in
            let text = try DumpedText.of {
                try db.dumpSQL(
                    """
                    -- The first
                    SELECT name FROM player WHERE score > \(10) ORDER BY id;
                    DELETE FROM award WHERE id > \(1) RETURNING id, title;
                    UPDATE player SET score = 0; ;
                    SELECT count(*) AS n, sum(score) FROM player
                    """, format: .debug(header: true), to: $0)
            }
            #expect(text == "name\nArthur\nBarbara\nid|title\n2|b\n3|c\nn|sum(score)\n4|0\n")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM award") == 1)
            #expect(try DumpedText.of { try db.dumpSQL("", to: $0) } == "")
        }
    }

    // MARK: - Requests

    @Test func aRequest() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        func dump(_ request: some FetchRequest, _ format: some DumpFormat = .debug(header: true)) throws -> String {
            try DumpedText.of { try dbQueue.dumpRequest(request, format: format, to: $0) }
        }
        #expect(
            try dump(DumpedPlayer.filter(Column("score") > 10).select(Column("name")).limit(1), .quote())
                == "'Arthur'\n")
        #expect(
            try dump(DumpedPlayer.including(optional: DumpedPlayer.team)) == """
                id|name|score|teamId|id|name
                1|Arthur|100|1|1|Reds
                2|Barbara|1000|1|1|Reds
                3|Craig||2|2|Blues
                4|Dan|5|||

                """)
        let adapted = SQLRequest<Row>(sql: "SELECT 1 AS a, 2 AS b", adapter: SuffixRowAdapter(fromIndex: 1))
        #expect(try dump(adapted) == "a|b\n1|2\n")
    }

    /// As in GRDB 7.10, whose headers also name columns that its rows don't have: `grdb_teamId`.
    @Test func aRequestWithPrefetches() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        func dump(_ request: some FetchRequest, _ format: some DumpFormat = .debug(header: true)) throws -> String {
            try DumpedText.of { try dbQueue.dumpRequest(request, format: format, to: $0) }
        }
        #expect(
            try dump(
                DumpedTeam.including(
                    all: DumpedTeam.players.including(all: DumpedPlayer.awards).order(Column("name").desc))) == """
                    id|name
                    1|Reds
                    2|Blues
                    3|None

                    players
                    id|name|score|teamId
                    3|Craig||2
                    2|Barbara|1000|1
                    1|Arthur|100|1

                    awards
                    id|title|playerId
                    1|a|1
                    2|b|2
                    3|c|2

                    """)
        #expect(
            try dump(DumpedTeam.including(all: DumpedTeam.awards), .line()) == """
                  id = 1
                name = Reds

                  id = 2
                name = Blues

                  id = 3
                name = None

                players.awards
                      id = 1
                   title = a
                playerId = 1

                      id = 2
                   title = b
                playerId = 2

                      id = 3
                   title = c
                playerId = 2

                """)
        #expect(
            try dump(
                DumpedPlayer.filter(Column("teamId") != 2)
                    .including(optional: DumpedPlayer.team.including(all: DumpedTeam.players))
                    .including(all: DumpedPlayer.awards), .json()) == """
                    [{"id":1,"name":"Arthur","score":100,"teamId":1,"id":1,"name":"Reds"},
                    {"id":2,"name":"Barbara","score":1000,"teamId":1,"id":1,"name":"Reds"}]

                    team.players
                    [{"id":1,"name":"Arthur","score":100,"teamId":1},
                    {"id":2,"name":"Barbara","score":1000,"teamId":1}]

                    awards
                    [{"id":1,"title":"a","playerId":1},
                    {"id":2,"title":"b","playerId":2},
                    {"id":3,"title":"c","playerId":2}]

                    """)
    }

    @Test func columnsThatOnlyPrefetchesNeedAreNotDumped() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        let request = DumpedPlayer.select(Column("name"))
            .including(all: DumpedPlayer.awards.select(Column("title")))
        #expect(
            try DumpedText.of { try dbQueue.dumpRequest(request, format: .csv(), to: $0) }
                .replacing("\r\n", with: "\n") == """
                    name
                    Arthur
                    Barbara
                    Craig
                    Dan

                    awards
                    title
                    a
                    b
                    c

                    """)
    }

    @Test func aRequestWithPrefetchesForNoRow() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        let none = DumpedPlayer.none().including(all: DumpedPlayer.awards)
        #expect(try DumpedText.of { try dbQueue.dumpRequest(none, format: .json(), to: $0) } == "[]\n")
        // Dan has no team.
        let noTeam = DumpedPlayer.filter(key: 4)
            .including(optional: DumpedPlayer.team.including(all: DumpedTeam.players))
        #expect(
            try DumpedText.of { try dbQueue.dumpRequest(noTeam, format: .json(), to: $0) } == """
                [{"id":4,"name":"Dan","score":5,"teamId":null,"id":null,"name":null}]

                team.players
                []

                """)
    }

    /// More keys than a statement has parameters for: the rows come from several statements, and so do those below.
    @Test func aRequestWithPrefetchesForManyRows() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { (db) throws in
            try db.makeTeamTables()
            try db.execute(
                sql: """
                    CREATE TABLE award (id INTEGER PRIMARY KEY, title TEXT, playerId INTEGER REFERENCES player(id));
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
                    INSERT INTO team SELECT i, 't' FROM n;
                    INSERT INTO player SELECT id, 'p', NULL, id FROM team;
                    INSERT INTO award SELECT id, 'a', id FROM player;
                    """)
            let request = DumpedTeam.including(all: DumpedTeam.players.including(all: DumpedPlayer.awards))
            let text = try DumpedText.of { try db.dumpRequest(request, format: .debug(header: true), to: $0) }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 3 * 40_000 + 3 + 4 + 1)
            #expect(lines.count { $0 == "players" } == 1)
            #expect(lines.count { $0 == "awards" } == 1)
            #expect(lines.count { $0.hasPrefix("id|") } == 3)
            #expect(Set(lines).count == 3 * 40_000 + 3 + 2 + 1)
        }
    }

    // MARK: - Tables

    @Test func tables() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        func dump(_ tables: [String], _ header: DumpTableHeaderOptions = .automatic) throws -> String {
            try DumpedText.of { try dbQueue.dumpTables(tables, tableHeader: header, to: $0) }
        }
        #expect(try dump(["team"]) == "1|Reds\n2|Blues\n3|None\n")
        #expect(try dump(["TEAM"], .always) == "TEAM\n1|Reds\n2|Blues\n3|None\n")
        #expect(try dump([]) == "")
        try dbQueue.write { try $0.execute(sql: "CREATE TABLE empty (a)") }
        #expect(
            try dump(["team", "empty", "award"]) == """
                team
                1|Reds
                2|Blues
                3|None

                empty

                award
                1|a|1
                2|b|2
                3|c|2

                """)
    }

    @Test func tablesInAStableOrder() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE noKey (x, y);
                    INSERT INTO noKey VALUES (2, 'b'), (1, 'z');
                    CREATE TABLE pair (a, b, c, PRIMARY KEY (b, a));
                    INSERT INTO pair VALUES (2, 'a', 1), (1, 'b', 2), (1, 'a', 3);
                    CREATE TABLE "the ""code"" t" (code TEXT PRIMARY KEY) WITHOUT ROWID;
                    INSERT INTO "the ""code"" t" VALUES ('FR'), ('AU');
                    CREATE TABLE rowid (rowid);
                    INSERT INTO rowid VALUES (2), (1);
                    CREATE VIEW v AS SELECT b, a FROM pair;
                    CREATE VIRTUAL TABLE doc USING fts5(title);
                    INSERT INTO doc VALUES ('t');
                    CREATE TEMP TABLE scratch (x);
                    INSERT INTO scratch VALUES (8);
                    """)
            let tables = ["noKey", "pair", "the \"code\" t", "rowid", "v", "doc", "scratch", "json_each"]
            let text = try DumpedText.of {
                try db.dumpTables(tables, stableOrder: true, to: $0)
            }
            #expect(
                text == """
                    noKey
                    2|b
                    1|z

                    pair
                    1|a|3
                    2|a|1
                    1|b|2

                    the "code" t
                    AU
                    FR

                    rowid
                    2
                    1

                    v
                    a|1
                    a|2
                    b|1

                    doc
                    t

                    scratch
                    8

                    json_each

                    """)
        }
    }

    // MARK: - All

    @Test func contentAndSchema() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT, x);
                    CREATE INDEX z ON b (x);
                    CREATE INDEX a1 ON b (x) WHERE x > 1;
                    CREATE TRIGGER a0 AFTER INSERT ON b BEGIN SELECT 1; END;
                    CREATE TABLE "A ""b"" c" (x UNIQUE);
                    CREATE TABLE Zed (x);
                    CREATE VIEW v AS SELECT 1 -- one
                    ;
                    CREATE VIRTUAL TABLE doc USING fts5(title);
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    CREATE INDEX grdb_x ON grdb_migrations (identifier);
                    CREATE TEMP TABLE b (x);
                    INSERT INTO main.b VALUES (2, 'two'), (1, 'one');
                    INSERT INTO doc VALUES ('t');
                    INSERT INTO temp.b VALUES ('temporary');
                    ANALYZE;
                    """)
            let schema = """
                sqlite_master
                CREATE TABLE "A ""b"" c" (x UNIQUE);
                CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT, x);
                CREATE INDEX a1 ON b (x) WHERE x > 1;
                CREATE INDEX z ON b (x);
                CREATE TRIGGER a0 AFTER INSERT ON b BEGIN SELECT 1; END;
                CREATE VIRTUAL TABLE doc USING fts5(title);
                CREATE VIEW v AS SELECT 1 -- one
                ;
                CREATE TABLE Zed (x);

                """
            #expect(try DumpedText.of { try db.dumpSchema(to: $0) } == schema)
            #expect(
                try DumpedText.of { try db.dumpContent(format: .quote(header: true), to: $0) } == schema + """

                    A "b" c

                    b
                    'id','x'
                    1,'one'
                    2,'two'

                    doc
                    'title'
                    't'

                    Zed

                    """)
            // The schema makes the same schema.
            try DatabaseQueue().write { (copy) throws in
                try copy.execute(sql: String(schema.dropFirst("sqlite_master\n".count)))
                #expect(try DumpedText.of { try copy.dumpSchema(to: $0) } == schema)
            }
        }
        #expect(try DumpedText.of { try DatabaseQueue().dumpContent(to: $0) } == "sqlite_master\n")
    }

    // MARK: - Readers

    @Test func readersDumpOneState() throws {
        let folder = try TemporaryFolder()
        let dbPool = try DatabasePool(path: folder.file("db.sqlite"))
        try dbPool.write { try $0.execute(sql: "CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1)") }
        // Writes into the second table as soon as the first is read.
        final class Writer: TextOutputStream {
            let dbPool: DatabasePool
            var text = ""
            var result: Result<Void, any Error>?
            init(_ dbPool: DatabasePool) { self.dbPool = dbPool }
            func write(_ string: String) {
                text += string
                if result == nil, string == "1\n" {
                    result = Result { try dbPool.write { try $0.execute(sql: "INSERT INTO b VALUES (2)") } }
                }
            }
        }
        let stream = Writer(dbPool)
        try dbPool.dumpTables(["a", "b"], to: stream)
        try stream.result?.get()
        #expect(stream.text == "a\n1\n\nb\n")
        #expect(try DumpedText.of { try dbPool.dumpTables(["b"], to: $0) } == "2\n")
    }

    @Test func insideAnAccessItsConnectionIsDumped() throws {
        let dbQueue = try DatabaseQueue.withPlayers()
        try dbQueue.write { (db) throws in
            try db.execute(sql: "DELETE FROM award")
            #expect(try DumpedText.of { try dbQueue.dumpTables(["award"], to: $0) } == "")
            #expect(try DumpedText.of { try dbQueue.dumpSQL("SELECT COUNT(*) FROM award", to: $0) } == "0\n")
        }
    }

    @Test func asynchronously() async throws {
        let folder = try TemporaryFolder()
        let file = try DumpFile(path: folder.file("dump"))
        let dbQueue = try DatabaseQueue.withPlayers()
        try await dbQueue.dumpSQL("SELECT 1", to: file)
        try await dbQueue.dumpTables(["team"], format: .json(), to: file)
        try await dbQueue.dumpRequest(DumpedAward.limit(1), format: .quote(), to: file)
        try await dbQueue.dumpSchema(to: file)
        try await dbQueue.dumpContent(format: .list(), to: file)
        do {
            try await dbQueue.dumpSQL("DELETE FROM award", to: file)
            Issue.record("asynchronous dumps read")
        } catch let error as DatabaseError {
            #expect(error.resultCode == .SQLITE_READONLY)
        }
        try file.close()
        let text = try String(contentsOfFile: folder.file("dump"), encoding: .utf8)
        #expect(text.hasPrefix("1\n[{\"id\":1,\"name\":\"Reds\"},\n"))
        #expect(text.contains("]\n1,'a',1\nsqlite_master\nCREATE TABLE award"))
        #expect(text.hasSuffix("team\n1|Reds\n2|Blues\n3|None\n"))
    }
}

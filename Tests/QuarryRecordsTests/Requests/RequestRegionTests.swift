import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryCore
@testable import QuarryRecords

/// The regions of requests: when a condition on a key limits them to rows, and when it must not.
@Suite struct RequestRegionTests {
    private struct Team: TableRecord, FetchableRecord, Decodable {
        static let databaseTableName = "team"
        static let players = hasMany(Player.self)
        var id: Int64
    }

    private struct Player: TableRecord, FetchableRecord, Decodable {
        static let databaseTableName = "player"
        static let team = belongsTo(Team.self)
        var id: Int64
    }

    private func withTables(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team INTEGER REFERENCES team);
                    CREATE TABLE word (name TEXT PRIMARY KEY, n INTEGER);
                    CREATE TABLE number (value NUMERIC PRIMARY KEY, n INTEGER);
                    CREATE TABLE backward (id INTEGER PRIMARY KEY DESC, n INTEGER);
                    CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
                    CREATE TABLE keyed (id INTEGER PRIMARY KEY, n INTEGER) WITHOUT ROWID;
                    CREATE TABLE item (rowid INTEGER, n INTEGER);
                    CREATE TABLE named (rowid TEXT PRIMARY KEY, n INTEGER);
                    CREATE TABLE plain (n INTEGER);
                    CREATE VIEW adult AS SELECT * FROM player;
                    CREATE VIRTUAL TABLE page USING fts5(body);
                    INSERT INTO team VALUES (1, 'red');
                    INSERT INTO player VALUES (1, 'a', 1), (2, 'b', NULL);
                    """)
            try body(db)
        }
    }

    /// Compares the region of a request, and the region that its fetch records.
    private func expect(
        _ request: QueryInterfaceRequest<some Any>, _ region: String, _ db: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try request.databaseRegion(db).description == region, sourceLocation: sourceLocation)
        let recorded = try db.recordingRegion { _ = try request.asRequest(of: Row.self).fetchAll(db) }
        #expect(recorded.region.description == region, "recorded", sourceLocation: sourceLocation)
    }

    private let id = Column("id")
    private let name = Column("name")
    private let rowID = Column.rowID

    @Test func conditionsOnTheKeyLimitTheRows() throws {
        let player = Table("player").all()
        try withTables { db throws in
            try expect(player.filter(key: 1), "player(id,name,team)[1]", db)
            try expect(player.filter(keys: [1, 2]), "player(id,name,team)[1,2]", db)
            try expect(player.filter(key: ["id": 1, "name": "a"]), "player(id,name,team)[1]", db)
            try expect(player.filter(id == 1 && name == "a"), "player(id,name,team)[1]", db)
            try expect(player.filter(id == 1 || id == 2), "player(id,name,team)[1,2]", db)
            try expect(player.filter([1, 2].contains(id)).filter(rowID == 2), "player(id,name,team)[2]", db)
            try expect(player.filter(1 == Column("ID")).order(name), "player(id,name,team)[1]", db)
            try expect(player.filter(id == 1).select(name), "player(id,name)[1]", db)
        }
    }

    @Test func otherConditionsDoNot() throws {
        let player = Table("player").all()
        try withTables { db throws in
            for condition in [
                id == 1 || name == "a", id != 1, !(id == 1), id > 1, (1...1).contains(id), id == "1", id == 1.0,
                id + 0 == 1, abs(id) == 1, [1, 2.0].contains(id), ![1].contains(id), name == 1, id == name,
            ] {
                try expect(player.filter(condition), "player(id,name,team)", db)
            }
            try expect(player.filter(sql: "id = 1"), "player(id,name,team)", db)
            try expect(player.filter(key: 1).filter(sql: "name = 'a'"), "player(id,name,team)", db)
            let raw = SQLRequest<Row>(sql: "SELECT * FROM player WHERE id = ?", arguments: [1])
            #expect(try raw.databaseRegion(db).description == "player(id,name,team)")
        }
    }

    /// A row with a NULL key doesn't exist, so nothing is read.
    @Test func nullKeysLimitTheRows() throws {
        let player = Table("player").all()
        try withTables { db throws in
            try expect(player.filter(id == nil), "empty", db)
            try expect(player.filter(key: nil as Int?), "empty", db)
            try expect(player.filter([1, nil].contains(id)), "player(id,name,team)[1]", db)
            try expect(player.filter(id == 1 && id == 2), "empty", db)
            // NULL is no key of other tables either, but it may be a value.
            try expect(Table("word").filter(name == nil), "word(n,name)", db)
            try expect(Table("pair").filter(Column("a") == nil), "pair(a,b)", db)
        }
    }

    @Test func queriesInsideTheRequestReadOtherRows() throws {
        let player = Table("player").all()
        try withTables { db throws in
            let other = Table("player").filter(name == "b").select(id)
            try expect(player.filter(id == 1 && other.contains(id)), "player(id,name,team)", db)
            try expect(player.filter(id == 1 && other.exists()), "player(id,name,team)", db)
            try expect(player.filter(id == other), "player(id,name,team)", db)
            try expect(player.filter(id == 1).order(other), "player(id,name,team)", db)
            try expect(player.filter(id == 1).select(id, other), "player(id,name)", db)
            try expect(
                player.filter(id == 1).select(sql: "(SELECT COUNT(*) FROM player)"), "player(id)", db)
            try expect(player.filter(id == 1).union(player.filter(id == 2)), "player(id,name,team)", db)
        }
    }

    /// The rows of joined tables aren't known, and those of the request's own table are, as long as nothing else reads
    /// it.
    @Test func joinedTablesAreReadWhole() throws {
        try withTables { db throws in
            let all = "player(id,name,team)[1],team(id,name)"
            let player = Player.filter(key: 1)
            try expect(player.including(required: Player.team), all, db)
            try expect(player.including(optional: Player.team), all, db)
            try expect(
                player.joining(required: Player.team), "player(id,name,team)[1],team(id)", db)
            try expect(player.annotated(withRequired: Player.team.select(name)), all, db)
            try expect(player.annotated(withOptional: Player.team.select(name)), all, db)
            try expect(
                Player.filter(keys: [1, 2]).including(optional: Player.team),
                "player(id,name,team)[1,2],team(id,name)", db)
            let alias = TableAlias()
            try expect(
                Player.all().aliased(alias).filter(alias[id] == 1).joining(required: Player.team),
                "player(id,name,team)[1],team(id)", db)
        }
    }

    /// SQLite prepares a kept statement again after another connection has changed the schema, and tells whole tables.
    @Test func aStatementThatSQLitePreparesAgain() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (
            try DatabaseQueue(path: folder.file("a.sqlite")), try DatabaseQueue(path: folder.file("a.sqlite"))
        )
        try first.write { db in
            try db.makePlayers("a", "b")
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE VIEW v AS SELECT name FROM team;
                    INSERT INTO team VALUES (1, 'red')
                    """)
        }
        let request = Table("player").all().filter(key: 1)
        func record(_ db: Database, _ body: () throws -> Void) throws -> String {
            try db.recordingRegion { try body() }.region.description
        }
        try first.read { (db) throws in
            // Recorded, too: the first recording of a connection forgets its statements.
            #expect(try record(db) { _ = try request.fetchAll(db) } == "player(id,name)[1]")
            _ = try String.fetchAll(db.cachedStatement(sql: "SELECT name FROM v"))
        }
        try second.write { db in try db.execute(sql: "CREATE TABLE other (x)") }
        try first.read { (db) throws in
            let region = try record(db) { () throws in _ = try request.fetchAll(db) }
            #expect(region == "player(id,name)[1]")
        }
        // A cursor that takes its first step later reads another table since then.
        try second.write { db in
            try db.execute(sql: "DROP VIEW v; CREATE VIEW v AS SELECT name FROM player WHERE id > 1")
        }
        try first.read { (db) throws in
            let region = try record(db) { () throws in
                let names = try String.fetchCursor(db.cachedStatement(sql: "SELECT name FROM v"))
                _ = try request.fetchAll(db)
                #expect(try names.next() == "b")
            }
            #expect(region.contains("player(id,name)") && !region.contains("["), "\(region)")
        }
    }

    @Test func joinsThatReadTheTableAgain() throws {
        try withTables { db throws in
            let player = Player.filter(key: 1)
            // The condition is one on the joined table.
            let alias = TableAlias()
            try expect(
                Player.including(required: Player.team.aliased(alias)).filter(alias[id] == 1),
                "player(id,name,team),team(id,name)", db)
            // The same table, a view of it, a query of it, and a virtual table.
            let teamMates = Player.hasMany(Player.self, using: ForeignKey(["team"], to: ["team"]))
            try expect(player.joining(optional: teamMates), "player(id,name,team)", db)
            try expect(
                player.joining(required: Player.team.joining(required: Team.players)), "player(id,name,team),team(id)",
                db)
            let adult = Player.hasOne(Table("adult"), using: ForeignKey(["team"], to: ["id"]))
            #expect(
                try player.joining(optional: adult).databaseRegion(db).description
                    == "adult(team),player(id,name,team)")
            let other = Table("player").filter(name == "b").select(id)
            #expect(
                try !player.joining(required: Player.team.filter(other.contains(id))).databaseRegion(db).description
                    .contains("["))
            let page = Player.hasOne(Table("page"), using: ForeignKey(["rowid"], to: ["id"]))
            #expect(try !player.joining(optional: page).databaseRegion(db).description.contains("["))
        }
    }

    /// The lists of rows that don't exist yet, and of the tables on the way to them.
    @Test func prefetchedListsOfNoRows() throws {
        try withTables { db throws in
            let all = "player(id,name,team),team(id,name)"
            let request = Team.including(all: Team.players).asRequest(of: Row.self)
            try expect(request, all, db)
            try db.execute(sql: "DELETE FROM player; DELETE FROM team")
            try expect(request, all, db)
            try expect(Player.including(required: Player.team.including(all: Team.players)), all, db)
            #expect(try db.recordingRegion { _ = try request.fetchOne(db) }.region.description == all)
            #expect(
                try db.recordingRegion { while try request.fetchCursor(db).next() != nil {} }.region.description == all)
        }
    }

    /// SQLite doesn't report the columns beside a condition that is always false.
    @Test func prefetchedListsThroughATable() throws {
        struct Country: TableRecord {
            static let databaseTableName = "country"
            static let citizenships = hasMany(Citizenship.self, using: ForeignKey(["country"]))
            static let citizens = hasMany(Player.self, through: citizenships, using: Citizenship.player)
        }
        struct Citizenship: TableRecord {
            static let databaseTableName = "citizenship"
            static let player = belongsTo(Player.self, using: ForeignKey(["player"]))
        }
        try withTables { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT PRIMARY KEY);
                    CREATE TABLE citizenship (id INTEGER PRIMARY KEY, country TEXT, player INTEGER)
                    """)
            let citizens = "citizenship(country,player),country(code),player(id,name,team)"
            for _ in 0..<2 {
                try expect(Country.including(all: Country.citizens), citizens, db)
                try expect(Country.including(all: Country.citizens.filter(name == "a").limit(1)), citizens, db)
                try expect(
                    Country.including(all: Country.citizenships.joining(required: Citizenship.player)),
                    "citizenship(country,id,player),country(code),player(id)", db)
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO country VALUES ('de'); INSERT INTO citizenship VALUES (NULL, 'de', 1)
                        """)
            }
        }
    }

    @Test func prefetchedListsOfOneRow() throws {
        try withTables { db throws in
            #expect(
                try Team.filter(key: 1).including(all: Team.players).databaseRegion(db).description
                    == "player(id,name,team),team(id,name)[1]")
            let row = try db.recordingRegion {
                _ = try Row.fetchAll(db, Team.filter(key: 1).including(all: Team.players))
            }
            #expect(row.region.description == "player(id,name,team),team(id,name)[1]")
        }
    }

    /// The key of these tables isn't the rowid, even if its values look like one.
    @Test func otherKeysDoNotLimitTheRows() throws {
        try withTables { db throws in
            try expect(Table("word").filter(key: "a"), "word(n,name)", db)
            try expect(Table("word").filter(key: 5), "word(n,name)", db)
            try expect(Table("word").filter(keys: [5, 6]), "word(n,name)", db)
            try expect(Table("number").filter(key: 5), "number(n,value)", db)
            try expect(Table("backward").filter(key: 5), "backward(id,n)", db)
            try expect(Table("backward").filter(id == 5), "backward(id,n)", db)
            try expect(Table("pair").filter(Column("a") == 5), "pair(a,b)", db)
            try expect(Table("pair").filter(key: ["a": 5, "b": 6]), "pair(a,b)", db)
            try expect(Table("keyed").filter(key: 5), "keyed(id,n)", db)
            try expect(Table("keyed").filter(id == 5), "keyed(id,n)", db)
            try expect(Table("named").filter(key: 5), "named(n,rowid)", db)
            try expect(Table("named").filter(key: "a"), "named(n,rowid)", db)
            try expect(Table("named").filter(Column("rowid") == 5), "named(n,rowid)", db)
            try expect(Table("adult").filter(id == 1), "adult(id,name,team),player(id,name,team)", db)
        }
    }

    @Test func rowidsOfTheseTablesDo() throws {
        try withTables { db throws in
            try expect(Table("word").filter(rowID == 5), "word(n,name,rowid)[5]", db)
            try expect(Table("backward").filter(rowID == 5), "backward(id,n,rowid)[5]", db)
            try expect(Table("pair").filter(Column("oid") == 5), "pair(a,b,rowid)[5]", db)
            try expect(Table("plain").filter(key: 5), "plain(n,rowid)[5]", db)
            try expect(Table("plain").filter(rowID == 5), "plain(n,rowid)[5]", db)
        }
    }

    /// A column named `rowid` hides the rowid.
    @Test func anOrdinaryColumnNamedRowid() throws {
        try withTables { db throws in
            try expect(Table("item").filter(Column("rowid") == 5), "item(n,rowid)", db)
            try expect(Table("item").filter(rowID == 5), "item(n,rowid)", db)
            try expect(Table("item").filter(Column("_rowid_") == 5), "item(n,rowid)[5]", db)
            try expect(Table("item").filter(key: 5), "item(n,rowid)[5]", db)
        }
    }

    /// Changes of the row count, and those of other rows don't, whatever names the key.
    @Test func rowsOfAnIndexedTextAreNotLimited() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: "CREATE TABLE word (name TEXT PRIMARY KEY, n INTEGER); INSERT INTO word VALUES ('a', 1), ('5', 1)")
        }
        let received = Received<Int?>()
        let cancellable = ValueObservation.tracking { db in
            try Table("word").filter(key: 5).select(Column("n"), as: Int.self).fetchOne(db)
        }.start(in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.write { db in try db.execute(sql: "UPDATE word SET n = 7 WHERE name = '5'") }
        #expect(try await received.value(2) == [1, 7])
        cancellable.cancel()
    }
}

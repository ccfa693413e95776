import QuarryTestSupport
import Testing

@testable import Quarry
@testable import QuarryCore

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
        _ request: QueryInterfaceRequest<Row>, _ region: String, _ db: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try request.databaseRegion(db).description == region, sourceLocation: sourceLocation)
        let recorded = try db.recordingRegion { _ = try request.fetchAll(db) }
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

    @Test func joinsReadOtherRows() throws {
        try withTables { db throws in
            let all = "player(id,name,team),team(id,name)"
            let request = Player.filter(key: 1)
            #expect(try request.including(required: Player.team).databaseRegion(db).description == all)
            #expect(try request.including(optional: Player.team).databaseRegion(db).description == all)
            #expect(
                try request.joining(required: Player.team).databaseRegion(db).description
                    == "player(id,name,team),team(id)")
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

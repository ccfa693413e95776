import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Rows as trees: row adapters, scopes, prefetched rows, and joined SQL that is decoded by hand.
enum RowTreesProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.belongsTo("team")
            }
            try db.execute(
                sql: """
                    INSERT INTO team VALUES (1, 'Red'), (2, 'Blue');
                    INSERT INTO player VALUES (1, 'Arthur', 1), (2, 'Barbara', 1), (3, 'Craig', NULL);
                    """)
        }

        try dbQueue.read { db in
            let mapped = try Row.fetchOne(
                db, sql: "SELECT 'foo' AS base_a, 'bar' AS base_b, 3 AS c",
                adapter: ColumnMapping(["a": "base_a", "b": "base_b"]))!
            print(mapped, mapped.unadapted, mapped.count)
            print(try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c", adapter: SuffixRowAdapter(fromIndex: 1))!)
            print(try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c", adapter: RangeRowAdapter(0..<2))!)
            print(try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b", adapter: RenameColumnAdapter { $0 + "rrr" })!)
            print(try Int.fetchAll(db, sql: "SELECT 1, 2 UNION SELECT 3, 4", adapter: SuffixRowAdapter(fromIndex: 1)))
            let adapter = ScopeAdapter([
                "left": RangeRowAdapter(0..<2), "right": SuffixRowAdapter(fromIndex: 2), "none": EmptyRowAdapter(),
            ])
            let scoped = try Row.fetchOne(db, sql: "SELECT 1 AS id, 'a' AS x, 2 AS id, NULL AS y", adapter: adapter)!
            print(scoped["id"] as Int, scoped.scopes["left"] ?? [:], scoped.scopes["right"]?["id"] as Int? ?? -1)
            print(scoped.scopes.names.sorted(), scoped.scopes["none"]?.isEmpty ?? false, scoped.scopes["other"] == nil)
            let nested = SuffixRowAdapter(fromIndex: 0).addingScopes([
                "b": SuffixRowAdapter(fromIndex: 1).addingScopes(["c": SuffixRowAdapter(fromIndex: 2)])
            ])
            let tree = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: nested)!
            print(tree.scopesTree["c"] ?? [:], tree.scopes["c"] == nil, tree.scopesTree.names.sorted())
            print(tree.unscoped, tree.unscoped == ["a": 1, "b": 2, "c": 3], tree == tree.copy())
        }

        // Columns of joined SQL are given to records.
        try dbQueue.read { db in
            let sql = "SELECT player.*, team.* FROM player LEFT JOIN team ON team.id = player.teamId ORDER BY player.id"
            let adapters = try splittingRowAdapters(columnCounts: [
                Player.numberOfSelectedColumns(db), Team.numberOfSelectedColumns(db),
            ])
            let request = SQLRequest<PlayerInfo>(
                sql: sql, adapter: ScopeAdapter(["player": adapters[0], "team": adapters[1]]))
            for info in try request.fetchAll(db) {
                print(info.player.name, info.team?.name ?? "no team")
            }
            let parts = splittingRowAdapters(columnCounts: [1, 2])
            let row = try Row.fetchOne(
                db, sql: "SELECT 1, 2, 3, 4, 5",
                adapter: ScopeAdapter(["a": parts[0], "b": parts[1], "rest": parts[2]]))!
            print(["a", "b", "rest"].map { row.scopes[$0]?.count ?? -1 })
            let adapted = SQLRequest<Row>(sql: "SELECT 1 AS a, 2 AS b").adapted { db in
                try SuffixRowAdapter(fromIndex: Int.fetchOne(db, sql: "SELECT 1") ?? 0)
            }
            print(try adapted.fetchAll(db))
            print(try Player.fetchAll(db, SQLRequest(sql: "SELECT * FROM player WHERE teamId IS NULL")).map(\.name))
        }

        // The rows of requests of the query interface.
        try dbQueue.read { db in
            let request = Player.including(optional: Player.team).order(Column("id"))
            for row in try Row.fetchAll(db, request) {
                let player = try Player(row: row)
                let team: Team? = row["team"]
                print(player.name, team?.name ?? "-", row.scopes["team"]?.containsNonNullValue ?? false)
            }
            for info in try request.asRequest(of: HandMadeInfo.self).fetchAll(db) {
                print(info.player.name, info.team?.name ?? "-")
            }
            let teams = try Row.fetchAll(
                db, Team.including(all: Team.players.order(Column("name").desc)).order(Column("id")))
            for row in teams {
                let players: [Player] = row["players"]
                print(
                    row["name"] as String, players.map(\.name), row.prefetchedRows.keys.sorted(),
                    row.prefetchedRows["players"]?.count ?? -1)
            }
            let row = teams[0]
            print(row.unscoped == ["id": 1, "name": "Red"], try Team(row: row).name)
            print(row.prefetchedRows["players"]?.first?["name"] as String? ?? "none")
            let info = try TeamInfo(row: row)
            print(info.team.name, info.players.count)
            let sets: Set<Player> = row["players"]
            print(sets.map(\.id).sorted())
        }
    }
}

private struct Team: Codable, FetchableRecord, PersistableRecord {
    static let players = hasMany(Player.self)
    var id: Int64
    var name: String
}

private struct Player: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let team = belongsTo(Team.self)
    var id: Int64
    var name: String
    var teamId: Int64?
}

private struct PlayerInfo: FetchableRecord {
    var player: Player
    var team: Team?

    init(row: Row) throws {
        player = row["player"]
        team = row["team"]
    }
}

private struct HandMadeInfo: FetchableRecord {
    var player: Player
    var team: Team?

    init(row: Row) throws {
        player = try Player(row: row)
        team = row["team"]
    }
}

private struct TeamInfo: FetchableRecord {
    var team: Team
    var players: [Player]

    init(row: Row) throws {
        team = try Team(row: row)
        players = row["players"]
    }
}

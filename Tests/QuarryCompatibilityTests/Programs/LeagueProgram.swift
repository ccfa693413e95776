import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Players with automatic identifiers: the first pages of the documentation.
enum LeagueProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0)
                t.column("team", .text)
                t.column("createdAt", .datetime)
            }
        }

        try dbQueue.write { db in
            var arthur = Player(
                name: "Arthur", score: 100, team: "red", createdAt: Date(timeIntervalSince1970: 86400.5))
            try arthur.insert(db)
            print("inserted", arthur.id ?? -1)

            let barbara = try Player(name: "Barbara", score: 1000, team: "blue").inserted(db)
            print("inserted", barbara.id ?? -1, barbara.name)

            for (index, name) in ["Craig", "David", "Elena", "O'Brien"].enumerated() {
                var player = Player(name: name, score: index * 250, team: index.isMultiple(of: 2) ? "red" : nil)
                try player.insert(db)
            }

            arthur.score += 50
            try arthur.update(db)
            try arthur.updateChanges(db) { $0.name = "King Arthur" }
            print("changes", try arthur.updateChanges(db) { $0.name = "King Arthur" })

            var unknown = Player(id: 99, name: "Zoe", score: 1)
            do {
                try unknown.update(db)
            } catch RecordError.recordNotFound(let databaseTableName, let key) {
                print("not found in \(databaseTableName):", key["id"] ?? .null)
            }
            try unknown.save(db)
            print("saved", unknown.id ?? -1, try unknown.exists(db))
            print("deleted", try unknown.delete(db), try unknown.delete(db))
        }

        try dbQueue.read { db in
            let players = try Player.order(Player.Columns.score.desc, Player.Columns.name).fetchAll(db)
            for player in players {
                print(player.id ?? -1, player.name, player.score, player.team ?? "no team")
            }
            print("date", try Player.fetchOne(db, key: 1)?.createdAt?.timeIntervalSince1970 ?? -1)
            print("one", try Player.fetchOne(db, key: 42)?.name ?? "none")
            do {
                _ = try Player.find(db, key: 42)
            } catch let error as RecordError {
                print(error)
            }
            print("count", try Player.fetchCount(db), try Player.filter(Player.Columns.team == nil).fetchCount(db))
            print(
                "teams",
                try Player.select(Player.Columns.team, as: String?.self).distinct().fetchAll(db).map { $0 ?? "-" }
                    .sorted())
            print("max", try Player.select(max(Player.Columns.score)).asRequest(of: Int.self).fetchOne(db) ?? -1)
            print("empty", try Player.filter(Player.Columns.score > 5000).isEmpty(db))
            print(
                "names",
                try Player.all().wellScored().filter(Player.Columns.name.like("%a%")).orderedByName()
                    .selectNames().fetchAll(db))
            print(
                "ids",
                try Player.filter([1, 2, 3].contains(Player.Columns.id)).selectPrimaryKey(as: Int64.self).fetchSet(db)
                    .sorted())
            print("between", try Player.filter((100...800).contains(Player.Columns.score)).fetchCount(db))
            print("not", try Player.filter(!(Player.Columns.team == "red")).fetchCount(db))
            print("page", try Player.order(Player.Columns.id).limit(2, offset: 2).fetchAll(db).map(\.name))
            print("reversed", try Player.order(Player.Columns.id).reversed().fetchOne(db)?.name ?? "none")
            print("none", try Player.none().fetchAll(db).count)
            print(
                "sql",
                try Player.fetchAll(db, sql: "SELECT * FROM player WHERE score >= ? ORDER BY id", arguments: [500]).map(
                    \.name))
            print(
                "where",
                try Player.filter(sql: "name LIKE ?", arguments: ["%n%"]).order(sql: "id").fetchAll(db).map(\.name))
            print("literal", try Player.filter(literal: "name = \("O'Brien")").fetchOne(db)?.id ?? -1)
        }

        let all = try dbQueue.read(Player.fetchAll)
        print(all.count, try dbQueue.read(Player.fetchCount), try dbQueue.read(Player.fetchOne) != nil)
        print(try dbQueue.read(Player.all().wellScored().fetchCount), try dbQueue.read(all[0].exists))

        let groups = try dbQueue.read { db in
            try Row.fetchAll(
                db,
                Player.select(
                    Player.Columns.team, count(Column("id")).forKey("size"), sum(Column("score")).forKey("total")
                )
                .group(Player.Columns.team).having(count(Column("id")) > 1).order(Player.Columns.team))
        }
        for row in groups {
            print(row["team"] as String? ?? "-", row["size"] as Int, row["total"] as Int)
        }

        try dbQueue.write { db in
            print("updated", try Player.filter(Player.Columns.team == "red").updateAll(db, Player.Columns.score += 1))
            print("deleted", try Player.filter(Player.Columns.score < 200).deleteAll(db))
            print("deleted", try Player.deleteOne(db, key: 2), try Player.deleteAll(db, keys: [3, 4, 5]))
            print("left", try Player.fetchAll(db).map(\.name))
        }
    }
}

private struct Player: Codable, Equatable {
    var id: Int64?
    var name: String
    var score: Int
    var team: String?
    var createdAt: Date?
}

extension Player: FetchableRecord, MutablePersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
        static let team = Column(CodingKeys.team)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension DerivableRequest<Player> {
    fileprivate func wellScored() -> Self {
        filter(Player.Columns.score >= 100)
    }

    fileprivate func orderedByName() -> Self {
        order(Player.Columns.name.collating(.nocase))
    }
}

extension QueryInterfaceRequest<Player> {
    fileprivate func selectNames() -> QueryInterfaceRequest<String> {
        select(Player.Columns.name)
    }
}

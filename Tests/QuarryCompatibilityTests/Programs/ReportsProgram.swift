import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// SQL: plain, with arguments, and interpolated; requests and conditions that are made of SQL.
enum ReportsProgram: Program {
    static func run() throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer)
                t.column("createdAt", .text)
            }
            for (name, score) in [("Arthur", 100), ("Barbara", 300), ("Craig", nil), ("O'Brien", 300)]
                as [(String, Int?)]
            {
                try db.execute(
                    sql: "INSERT INTO player (name, score, createdAt) VALUES (:name, :score, :date)",
                    arguments: ["name": name, "score": score, "date": "2020-02-0\(name.count - 4)"])
            }
            print(db.changesCount, db.totalChangesCount, db.lastInsertedRowID)
            try db.execute(
                literal: "UPDATE player SET score = \(10) WHERE name = \("Craig") AND score IS \(nil as Int?)")
        }

        try dbQueue.read { db in
            print(try Player.leaders().fetchAll(db).map(\.name).sorted(), try Player.maximumScore().fetchOne(db) ?? -1)
            print(
                try Player.filter(ids: [1, 3]).fetchAll(db).map(\.name), try Player.filter(ids: []).fetchAll(db).count)
            var query: SQL = "SELECT * FROM \(Player.self) "
            query += "WHERE \(Column("name").collating(.nocase)) = \("arthur") "
            query.append(literal: "ORDER BY \(Column("id").desc)")
            print(try SQLRequest<Player>(literal: query).fetchAll(db).map(\.name))
            print(try query.build(db).sql, try query.build(db).arguments)
            let parts: [SQL] = ["SELECT COUNT(*)", "FROM player", "WHERE score > \(50)"]
            print(try Int.fetchOne(db, SQLRequest(literal: parts.joined(separator: " "))) ?? -1)
            let conditions: [SQL] = ["score > \(50)", "name LIKE \("%r%")"]
            print(try Player.filter(conditions.joined(operator: .and)).fetchCount(db))
            let column: SQL = "\(sql: "score + ?", arguments: [1])"
            print(
                try Int.fetchAll(db, SQLRequest(literal: "SELECT \(column) FROM player ORDER BY \(identifier: "id")")))
            print(
                try Player.select(Column("name"), SQL("score * \(2)").forKey("double")).asRequest(of: Row.self)
                    .fetchAll(db)[0])
            print(
                try Row.fetchOne(
                    db, SQLRequest(literal: "SELECT \(columnsOf: Player.self), \(AllColumns()) FROM player"))!.count)
            print(
                try Row.fetchOne(
                    db, SQLRequest(literal: "SELECT \(columnsOf: Player.self, tableAlias: "p") FROM \(Player.self) p"))!
                    .count)
            let bonus = 5
            print(
                try Int.fetchAll(
                    db, SQLRequest(literal: "SELECT \(Column("score") + bonus) FROM player WHERE id IN \([1, 2])")))
            print(
                try Int.fetchOne(
                    db, SQLRequest(literal: "SELECT COUNT(*) FROM (\(Player.filter(Column("score") > 50)))")) ?? -1)
            let names: SQLRequest<String> =
                "SELECT name FROM player WHERE score IN (\(Player.select(max(Column("score"))))) ORDER BY name"
            print(try names.fetchAll(db), try names.fetchCount(db), try names.fetchSet(db).count)
            print(
                try Player.filter(Column("score") == SQLRequest<Int>("SELECT MIN(score) FROM player")).fetchAll(db).map(
                    \.name))
        }

        // Arguments by position and by name, in requests too.
        try dbQueue.read { db in
            print(try Player.filter(sql: "id <> :id", arguments: ["id": 1]).order(sql: "id").fetchAll(db).map(\.id))
            print(
                try Player.filter(sql: "score > :low", arguments: ["low": 50]).filter(
                    sql: "name <> :name", arguments: ["name": "Arthur"]
                ).fetchCount(db))
            print(
                try Player.select(sql: "name || :suffix", arguments: ["suffix": "!"]).asRequest(of: String.self)
                    .fetchAll(db)[0])
            print(try Player.order(sql: "ABS(score - ?)", arguments: [290]).fetchOne(db)?.name ?? "none")
            print(
                try Int.fetchAll(
                    db,
                    Player.select(sql: "COUNT(*)").group(sql: "score > ?", arguments: [50]).having(
                        sql: "COUNT(*) > ?", arguments: [0])))
            print(try Row.fetchOne(db, sql: "SELECT ?1 AS a, ?2 AS b, ?1 AS c", arguments: ["x", "y"])!)
            print(try Row.fetchOne(db, sql: "SELECT @a AS a, $b AS b", arguments: ["a": 1, "b": 2.5])!)
            var arguments: StatementArguments = ["low": 200]
            arguments += ["name": "O'Brien"]
            print(
                try Player.fetchAll(
                    db, sql: "SELECT * FROM player WHERE score > :low AND name <> :name", arguments: arguments
                ).map(\.name))
            print(try Player.fetchCount(db), try String.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? "none")
            do {
                try print(Row.fetchAll(db, sql: "SELECT ?", arguments: [1, 2]))
            } catch let error as DatabaseError {
                print(error.resultCode == .SQLITE_MISUSE, error.message ?? "")
            }
            do {
                try print(Row.fetchAll(db, sql: "SELECT :a", arguments: ["b": 2]))
            } catch let error as DatabaseError {
                print(error.message ?? "")
            }
            print(databaseQuestionMarks(count: 3))
        }

        // Expressions of a program's own.
        try dbQueue.read { db in
            print(try Player.filter(date(Column("createdAt")) == "2020-02-02").fetchAll(db).map(\.name))
            print(
                try Player.select(date(Column("createdAt")).forKey("day"), .allColumns).asRequest(of: Row.self)
                    .fetchOne(db)?["day"] as String? ?? "-")
            print(
                try String.fetchAll(
                    db,
                    Player.select(concatenated([Column("name"), "-".databaseValue, Column("score")])).order(
                        Column("id"))))
            let either = [Column("id") == 1, Column("name") == "Craig"].joined(operator: .or)
            print(
                try Player.filter(either).fetchCount(db),
                try Player.filter(Column("id") == Column("score")).fetchCount(db))
            print(
                try Player.filter(
                    ([Column("score") != Column("id"), Column("id") != Column("id")] as [SQLExpression]).joined(
                        operator: .and)
                ).fetchCount(db))
            let search: any SQLExpressible = "Arthur"
            print(try Player.fetchAll(db, SQLRequest(literal: "SELECT * FROM player WHERE name = \(search)")).map(\.id))
        }
    }
}

private func date(_ value: some SQLSpecificExpressible) -> SQLExpression {
    SQL("DATE(\(value))").sqlExpression
}

private func concatenated(_ values: [any SQLExpressible]) -> SQLExpression {
    values.map(\.sqlExpression).joined(operator: .concat)
}

private struct Player: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
    var score: Int?

    static func filter(ids: [Int64]) -> SQLRequest<Player> {
        "SELECT * FROM \(self) WHERE \(CodingKeys.id) IN \(ids)"
    }

    static func maximumScore() -> SQLRequest<Int> {
        "SELECT MAX(\(CodingKeys.score)) FROM \(self)"
    }

    static func leaders() -> SQLRequest<Player> {
        """
        SELECT * FROM \(self)
        WHERE \(CodingKeys.score) = (\(maximumScore()))
        """
    }
}

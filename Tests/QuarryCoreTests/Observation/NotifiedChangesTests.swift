import QuarryCore
import QuarryTestSupport
import Testing

/// The observers that `notifyChanges(in:)` tells.
@Suite struct NotifiedChangesTests {
    /// All kinds of changes are asked for, with the columns as they were declared.
    @Test func notifiedChangesAreOfAllKinds() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER, name TEXT);
                    CREATE TABLE log (a); ATTACH ':memory:' AS more; CREATE TABLE more.page (body)
                    """)
            let player = TableName(schema: "main", name: "player")
            let columns: (String, Set<String>) -> DatabaseEventKind = { .update(tableName: $0, columnNames: $1) }
            let ofPlayer: [DatabaseEventKind] = [.insert(tableName: "player"), .delete(tableName: "player")]
            let ofOthers: [DatabaseEventKind] = [
                .insert(tableName: "log"), .delete(tableName: "log"), columns("log", ["a"]),
                .insert(tableName: "page"), .delete(tableName: "page"), columns("page", ["body"]),
            ]
            let all = columns("player", ["id", "teamId", "name"])
            let expected: [(DatabaseRegion, [DatabaseEventKind])] = [
                (DatabaseRegion(player), ofPlayer + [all]),
                (DatabaseRegion(player, columns: ["teamid"]), ofPlayer + [columns("player", ["teamId"])]),
                (
                    DatabaseRegion(player, columns: ["rowid", "name"], rowIDs: [1]),
                    ofPlayer + [columns("player", ["name"])]
                ),
                (DatabaseRegion(player, columns: []), ofPlayer),
                (DatabaseRegion(), []),
                (
                    DatabaseRegion(TableName(schema: "main", name: "nope")),
                    [
                        .insert(tableName: "nope"), .delete(tableName: "nope"),
                    ]
                ),
                (.fullDatabase, ofPlayer + [all] + ofOthers),
            ]
            for (region, kinds) in expected {
                var asked: [DatabaseEventKind] = []
                let observer = RecordingObserver {
                    asked.append($0)
                    return false
                }
                db.add(transactionObserver: observer)
                try db.notifyChanges(in: region)
                #expect(asked == kinds, "\(region)")
                #expect(observer.takeLog() == [])
                db.remove(transactionObserver: observer)
            }
            // Each kind is enough, and an observer of other kinds is told nothing.
            for kind in ofPlayer + [all] {
                let observer = RecordingObserver { $0 == kind }
                let other = RecordingObserver { $0.tableName == "log" }
                db.add(transactionObserver: observer)
                db.add(transactionObserver: other)
                try db.notifyChanges(in: DatabaseRegion(player))
                #expect(observer.takeLog() == ["unknown changes"])
                #expect(other.takeLog() == [])
                try db.notifyChanges(in: DatabaseRegion.fullDatabase)
                #expect(observer.takeLog() == ["unknown changes"])
                #expect(other.takeLog() == ["unknown changes"])
                db.remove(transactionObserver: observer)
                db.remove(transactionObserver: other)
            }
        }
    }
}

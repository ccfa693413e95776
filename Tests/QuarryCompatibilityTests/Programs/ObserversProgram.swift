import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Transaction observers: events, filters, savepoints, vetoes, extents; the regions of statements and requests.
enum ObserversProgram: Program {
    static func run() async throws { try observe() }

    private static func observe() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER);
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE TABLE log (teamId INTEGER);
                    CREATE VIEW names AS SELECT name FROM player;
                    CREATE TRIGGER logged AFTER INSERT ON team BEGIN INSERT INTO log VALUES (new.id); END;
                    """)
        }
        try regions(queue)
        try events(queue)
        try savepoints(queue)
        try vetoes(queue)
        try filters(queue)
        try extents(queue)
        try ends(queue)
    }

    private static func step(_ name: String, _ body: () throws -> Void) {
        print(name)
        do { try body() } catch { print("  throws \(error)") }
    }

    private static func regions(_ queue: DatabaseQueue) throws {
        let statements = [
            "SELECT * FROM player", "SELECT name FROM PLAYER WHERE score > 1", "SELECT name FROM names", "SELECT 1",
            "SELECT p.name, t.name FROM player p JOIN team t", "INSERT INTO player SELECT * FROM player",
            "UPDATE player SET name = 'a' WHERE score = 1", "DELETE FROM player WHERE name = 'a'",
            "WITH top AS (SELECT name FROM player) SELECT * FROM top",
        ]
        try queue.read { db in
            for sql in statements {
                let region = try db.makeStatement(sql: sql).databaseRegion
                print(sql, "->", region, region.isEmpty, region.isFullDatabase)
            }
            let requests: [QueryInterfaceRequest<Player>] = [
                Player.all(), Player.filter(key: 1), Player.filter(keys: [1, 2]), Player.filter(Column("id") == 1),
                Player.filter(Column("id") == 1 || Column("id") == 2), Player.filter([1, 2].contains(Column("id"))),
                Player.filter(Column("id") == 1 && Column("name") == "a").select(Column("name")),
                Player.filter(Column.rowID == 3), Player.filter(Column("score") > 10), Player.limit(1),
            ]
            for request in requests { print(try request.databaseRegion(db)) }
            print(try Player.filter(key: 1).databaseRegion(db).union(Player.filter(key: 2).databaseRegion(db)))
            print(
                try Player.filter(key: 1).databaseRegion(db).union(
                    Player.select(Column("name")).databaseRegion(db)))
            print(try Player.filter(key: 1).databaseRegion(db) == Player.filter(Column("id") == 1).databaseRegion(db))
            print(try Table("player").databaseRegion(db), DatabaseRegion.fullDatabase, DatabaseRegion())
            let region = try Player.select(Column("name")).databaseRegion(db)
            print(
                region.isModified(byEventsOfKind: .insert(tableName: "player")),
                region.isModified(byEventsOfKind: .delete(tableName: "team")),
                region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])),
                region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["name", "score"])))
        }
    }

    private static func events(_ queue: DatabaseQueue) throws {
        let observer = Observer()
        queue.add(transactionObserver: observer)
        step("insert") { try queue.write { try $0.execute(sql: "INSERT INTO player VALUES (1, 'a', 1)") } }
        step("insert without a transaction") {
            try queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO player VALUES (2, 'b', 1)") }
        }
        step("two statements without a transaction") {
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE player SET score = 5; DELETE FROM player WHERE id = 2")
            }
        }
        step("update of no row") {
            try queue.writeWithoutTransaction { try $0.execute(sql: "UPDATE player SET name = 'z' WHERE id = 99") }
        }
        step("trigger") { try queue.write { try $0.execute(sql: "INSERT INTO team VALUES (1, 'red')") } }
        step("upsert") {
            try queue.write {
                try $0.execute(
                    sql: "INSERT INTO player VALUES (1, 'u', 1) ON CONFLICT DO UPDATE SET name = 'v'")
            }
        }
        step("insert from a query") {
            try queue.write { try $0.execute(sql: "INSERT INTO player (name) SELECT name FROM team") }
        }
        step("delete all") { try queue.write { _ = try Player.deleteAll($0) } }
        step("records") {
            try queue.write { db in
                try Player(id: 5, name: "e", score: 1).insert(db)
                try Player(id: 5, name: "f", score: 1).update(db)
                try Player(id: 6, name: "g", score: 1).save(db)
                try Player(id: 5, name: "f", score: 1).delete(db)
            }
        }
        step("nothing") { try queue.write { _ in } }
        step("nothing, deferred") { try queue.inTransaction(.deferred) { _ in .commit } }
        step("read") { try queue.read { _ = try Player.fetchCount($0) } }
        step("rollback") {
            try queue.inTransaction { db in
                try db.execute(sql: "INSERT INTO player VALUES (100, 'x', 1)")
                return .rollback
            }
        }
        step("error") {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO player VALUES (100, 'x', 1)")
                throw Problem()
            }
        }
        step("COMMIT in SQL") {
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "BEGIN; INSERT INTO player VALUES (7, 'h', 1); COMMIT")
            }
        }
        step("notifyChanges") {
            try queue.write { db in
                try db.notifyChanges(in: Table("player"))
                print("  after")
            }
        }
        queue.remove(transactionObserver: observer)
        step("removed") { try queue.write { try $0.execute(sql: "UPDATE player SET score = 0") } }
    }

    private static func savepoints(_ queue: DatabaseQueue) throws {
        let observer = Observer()
        queue.add(transactionObserver: observer)
        step("savepoints in a transaction") {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO player VALUES (21, 'a', 1)")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO player VALUES (22, 'b', 1)")
                    print("  inside")
                    return .commit
                }
                print("  released")
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO player VALUES (23, 'c', 1)")
                    return .rollback
                }
                print("  rolled back")
            }
        }
        step("nested savepoints") {
            try queue.write { db in
                try db.execute(
                    sql: """
                        SAVEPOINT a; INSERT INTO player VALUES (31, 'a', 1);
                        SAVEPOINT b; INSERT INTO player VALUES (32, 'b', 1);
                        SAVEPOINT c; INSERT INTO player VALUES (33, 'c', 1);
                        ROLLBACK TO b; INSERT INTO player VALUES (34, 'd', 1);
                        RELEASE b
                        """)
                print("  b is released")
                try db.execute(sql: "RELEASE a")
                print("  a is released")
            }
        }
        step("a savepoint as a transaction, with one name twice") {
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        SAVEPOINT a; INSERT INTO player VALUES (41, 'a', 1);
                        SAVEPOINT "A"; INSERT INTO player VALUES (42, 'b', 1);
                        ROLLBACK TO a; INSERT INTO player VALUES (43, 'c', 1);
                        RELEASE A; RELEASE a
                        """)
            }
        }
        step("COMMIT with an open savepoint") {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN; SAVEPOINT a; INSERT INTO player VALUES (51, 'a', 1); COMMIT")
            }
        }
    }

    private static func vetoes(_ queue: DatabaseQueue) throws {
        let observer = Observer()
        observer.refusal = Problem()
        queue.add(transactionObserver: observer)
        step("veto") { try queue.write { try $0.execute(sql: "DELETE FROM player WHERE id = 21") } }
        step("veto of nothing") { try queue.write { _ in } }
        step("veto of nothing, deferred") { try queue.inTransaction(.deferred) { _ in .commit } }
        step("veto without a transaction") {
            try queue.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM player WHERE id = 21") }
        }
        step("veto of a savepoint") {
            try queue.writeWithoutTransaction { db in
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM player WHERE id = 21")
                    return .commit
                }
            }
        }
        observer.refusal = nil
        print(try queue.read { try Player.filter(key: 21).fetchCount($0) })
    }

    private static func filters(_ queue: DatabaseQueue) throws {
        let observer = Observer()
        observer.filter = { kind in
            if case .update(let table, let columns) = kind {
                table == "player" && columns.contains("name")
            } else {
                false
            }
        }
        queue.add(transactionObserver: observer)
        step("other columns") { try queue.write { try $0.execute(sql: "UPDATE player SET score = 5 WHERE id = 21") } }
        step("the column") { try queue.write { try $0.execute(sql: "UPDATE player SET name = 'q' WHERE id = 21") } }
        observer.filter = { $0.tableName == "log" }
        step("by a trigger") { try queue.write { try $0.execute(sql: "INSERT INTO team VALUES (8, 'blue')") } }
        step("deletions of another table") { try queue.write { try $0.execute(sql: "DELETE FROM team") } }
        observer.filter = { _ in true }
        observer.stopsAfter = 1
        step("stops") {
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 6 WHERE id IN (21, 22)") }
        }
        step("goes on in the next transaction") {
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 6 WHERE id IN (21, 22)") }
        }
    }

    private static func extents(_ queue: DatabaseQueue) throws {
        step("observerLifetime") {
            queue.add(transactionObserver: Observer(name: "released "))
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 7 WHERE id = 21") }
        }
        step("nextTransaction") {
            queue.add(transactionObserver: Observer(name: "once "), extent: .nextTransaction)
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 8 WHERE id = 21") }
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 9 WHERE id = 21") }
        }
        step("added in a transaction") {
            let observer = Observer(name: "late ")
            try queue.write { db in
                try db.execute(sql: "UPDATE player SET score = 10 WHERE id = 21")
                db.add(transactionObserver: observer)
                try db.execute(sql: "UPDATE player SET score = 11 WHERE id = 22")
            }
        }
        step("two observers") {
            let observers = [Observer(name: "first "), Observer(name: "second ")]
            for observer in observers { queue.add(transactionObserver: observer) }
            try queue.write { try $0.execute(sql: "UPDATE player SET score = 12 WHERE id IN (21, 22)") }
            withExtendedLifetime(observers) {}
        }
    }

    private static func ends(_ queue: DatabaseQueue) throws {
        let observer = Observer()
        observer.afterCommit = { db in
            print("  in didCommit:", try Player.filter(key: 99).fetchCount(db), db.isInsideTransaction)
        }
        queue.add(transactionObserver: observer)
        step("uses the connection") {
            try queue.write { try $0.execute(sql: "INSERT INTO player VALUES (99, 'z', 1)") }
        }
        observer.afterCommit = nil
        step("afterNextTransaction") {
            try queue.write { db in
                db.afterNextTransaction { _ in print("  after the transaction") }
                try db.execute(sql: "DELETE FROM player WHERE id = 99")
            }
        }
    }
}

private struct Problem: Error {}

private struct Player: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
    var score: Int
}

// Sendable: the program has one thread.
private final class Observer: TransactionObserver, @unchecked Sendable {
    let name: String
    var filter: (DatabaseEventKind) -> Bool = { _ in true }
    var refusal: (any Error)?
    var stopsAfter = Int.max
    var afterCommit: ((Database) throws -> Void)?
    private var count = 0

    init(name: String = "") { self.name = name }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { filter(eventKind) }

    func databaseDidChange(with event: DatabaseEvent) {
        print("  \(name)\(event.kind) \(event.databaseName).\(event.tableName) \(event.rowID)")
        count += 1
        if count == stopsAfter {
            count = 0
            stopObservingDatabaseChangesUntilNextTransaction()
        }
    }

    func databaseDidChange() { print("  \(name)change of unknown rows") }

    func databaseWillCommit() throws {
        print("  \(name)will commit")
        if let refusal { throw refusal }
    }

    func databaseDidCommit(_ db: Database) {
        print("  \(name)did commit")
        do { try afterCommit?(db) } catch { print("  \(error)") }
    }

    func databaseDidRollback(_ db: Database) { print("  \(name)did roll back") }
}

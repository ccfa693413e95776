import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@Suite struct TransactionObserversSamples {
    let dbQueue: DatabaseQueue

    init() throws {
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.makeScoredPlayers(["Arthur": 100, "Barbara": 1000])
            try db.execute(sql: "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT)")
        }
    }

    final class ScoreObserver: TransactionObserver {
        private(set) var changedPlayers: Set<Int64> = []
        private var pending: Set<Int64> = []

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            switch eventKind {
            case .insert(let table), .delete(let table): table == "player"
            case .update(let table, let columns): table == "player" && columns.contains("score")
            }
        }

        func databaseDidChange(with event: DatabaseEvent) { pending.insert(event.rowID) }

        func databaseDidCommit(_ db: Database) {
            changedPlayers.formUnion(pending)
            pending = []
        }

        func databaseDidRollback(_ db: Database) { pending = [] }
    }

    @Test func eachChange() throws {
        let observer = ScoreObserver()
        dbQueue.add(transactionObserver: observer)
        try dbQueue.write { db in
            try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = 1")
            try db.execute(sql: "UPDATE player SET name = 'Eve' WHERE id = 2")
        }
        print(observer.changedPlayers)  // [1]
        #expect(observer.changedPlayers == [1])
    }

    final class ScoreLimit: TransactionObserver {
        struct Exceeded: Error {}
        private var highest: Int64 = 0

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }

        func databaseWillChange(with event: DatabasePreUpdateEvent) {
            let score = event.finalDatabaseValue(atIndex: 2).flatMap { Int64.fromDatabaseValue($0) }
            highest = max(highest, score ?? 0)
        }

        func databaseDidChange(with event: DatabaseEvent) {}

        func databaseWillCommit() throws {
            if highest > 1000 { throw Exceeded() }
        }

        func databaseDidCommit(_ db: Database) { highest = 0 }
        func databaseDidRollback(_ db: Database) { highest = 0 }
    }

    @Test func refusingACommit() throws {
        let limit = ScoreLimit()
        dbQueue.add(transactionObserver: limit)
        #expect(throws: ScoreLimit.Exceeded.self) {
            try dbQueue.write { db in try db.execute(sql: "UPDATE player SET score = score + 1") }
        }
        try dbQueue.write { db in try db.execute(sql: "UPDATE player SET score = score - 1") }
        #expect(try dbQueue.read { db in try Int.fetchAll(db, sql: "SELECT score FROM player") } == [99, 999])
    }

    @Test func regionObservation() throws {
        let observation = DatabaseRegionObservation(tracking: Player.all())
        let cancellable = observation.start(in: dbQueue) { error in
            print("the observation couldn't start: \(error)")
        } onChange: { db in
            print("there are \(try! Player.fetchCount(db)) players")
        }
        try dbQueue.write { db in try db.execute(sql: "DELETE FROM player") }
        withExtendedLifetime(cancellable) {}
    }

    @Test func regions() throws {
        try dbQueue.read { db in
            print(try Player.select(Column("name")).databaseRegion(db))  // player(name)
            print(try Player.filter(key: 1).databaseRegion(db))  // player(id,name,score)[1]
            print(try Player.all().databaseRegion(db).union(Table("team").databaseRegion(db)))
        }
    }
}

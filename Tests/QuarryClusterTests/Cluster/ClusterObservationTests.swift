import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Synchronization
import Testing

@Suite("Observations of a cluster", .timeLimit(.minutes(5))) struct ClusterObservationTests {
    @Test func ownChanges() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        var counts = ValueObservation.tracking { db in try Player.fetchCount(db) }.values(in: cluster)
            .makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(try await counts.next() == 1)
        struct Stop: Error {}
        try? await cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
            throw Stop()
        }
        try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara'), ('Craig')") }
        #expect(try await counts.next() == 3)
    }

    @Test func changesOfOthers() async throws {
        let fixture = try ClusterFixture { $0.changePollingInterval = .milliseconds(5) }
        let (cluster, other) = (fixture.cluster, try fixture.other())
        try await cluster.countChanges()
        var counts = ValueObservation.tracking { db in try Player.fetchCount(db) }.removeDuplicates()
            .values(in: cluster).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await other.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(try await counts.next() == 1)
        try await other.write { db in try db.execute(sql: "DELETE FROM player") }
        #expect(try await counts.next() == 0)
        #expect(
            try fixture.nodes.query("SELECT name, count FROM quarry_change") == [[.text("player"), .integer(2)]])
        // Once more changes nothing.
        try await cluster.countChanges(in: ["player"])
        let triggers = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
        #expect(try fixture.nodes.query(triggers) == [[.integer(3)]])
    }

    @Test func observersOfRowsAreRefused() throws {
        final class Observer: TransactionObserver {
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        final class Failures: DatabaseTracer {
            let options = DatabaseTracing.Options(.errors)
            let messages = Mutex<[String]>([])
            func receive(_ event: DatabaseTraceEvent) {
                if case .failure(let failure) = event { messages.withLock { $0.append(failure.error.message ?? "") } }
            }
        }
        let fixture = try ClusterFixture()
        let message = "a TransactionObserver, which is told of rows: not in a cluster"
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.writeWithoutTransaction { db in db.add(transactionObserver: Observer()) }
        }
        #expect(error?.message == message)
        // DatabaseCluster itself has no such method. That of any writer can't throw: inside a write, the write does.
        let writer: any DatabaseWriter = fixture.cluster
        let inside = #expect(throws: DatabaseError.self) {
            try writer.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
                writer.add(transactionObserver: Observer())
            }
        }
        #expect(inside?.message == message)
        // Otherwise tracers learn of it.
        let failures = Failures()
        fixture.cluster.addTracer(failures)
        writer.add(transactionObserver: Observer())
        writer.remove(transactionObserver: Observer())
        #expect(failures.messages.withLock { $0 } == [message])
        try writer.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')") }
    }
}

import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import Testing

@Suite("Counters of changes", .timeLimit(.minutes(5))) struct ClusterCounterTests {
    /// A counter of a table that was dropped doesn't hide the changes of others.
    @Test func changesOfOthersAfterATableWasDropped() async throws {
        let fixture = try ClusterFixture(schema: ClusterFixture.schema + "; CREATE TABLE a (x); CREATE TABLE z (x)") {
            $0.changePollingInterval = .milliseconds(5)
        }
        let (cluster, other) = (fixture.cluster, try fixture.other())
        try await cluster.countChanges()
        try await other.write { db in
            try db.execute(sql: "INSERT INTO a VALUES (1); INSERT INTO z VALUES (1); DROP TABLE a; DROP TABLE z")
        }
        var counts = ValueObservation.tracking { db in try Player.fetchCount(db) }.removeDuplicates()
            .values(in: cluster).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await other.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        #expect(try await counts.next() == 1)
    }
}

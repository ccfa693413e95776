import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Synchronization
import Testing

/// Closing while accesses wait for their nodes.
@Suite("Closing a cluster", .timeLimit(.minutes(5))) struct ClusterClosingTests {
    private static let insertion = "INSERT INTO player (name) VALUES ('Arthur')"

    private func delay(_ prefix: String, of nodes: EmulatedCluster) -> Gate {
        let gate = Gate("\(prefix) has arrived")
        nodes.faults.once(.delay(gate), at: .received) { $0.sql?.hasPrefix(prefix) == true }
        return gate
    }

    private func expectClosed(_ cluster: DatabaseCluster) async {
        for isAsynchronous in [true, false] {
            let error = await #expect(throws: DatabaseError.self) {
                if isAsynchronous {
                    try await cluster.write { db in try db.execute(sql: Self.insertion) }
                } else {
                    try { try cluster.read { db in _ = try Player.fetchCount(db) } }()
                }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.message?.contains("clos") == true, "\(String(describing: error))")
        }
    }

    @Test func closingWaitsForAccesses() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let gate = delay("INSERT INTO player", of: fixture.nodes)
        let write = Task { try await cluster.write { db in try db.execute(sql: Self.insertion) } }
        try await gate.reached()
        let hasClosed = Mutex(false)
        let closing = Task {
            try await cluster.closeAsync()
            hasClosed.withLock { $0 = true }
        }
        #expect(!hasClosed.withLock { $0 })
        gate.open()
        try await write.value
        try await closing.value
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]])
        await expectClosed(cluster)
        // Once more has no effect.
        try await cluster.closeAsync()
        try { try cluster.close() }()
        cluster.interrupt()
        #expect(await fixture.nodes.connectionCountBecomes(0))
    }

    @Test func aGracePeriodEndsTheWait() async throws {
        for prefix in ["BEGIN", "PRAGMA", "INSERT INTO player", "INSERT INTO quarry_commit"] {
            let fixture = try ClusterFixture()
            let cluster = fixture.cluster
            let gate = delay(prefix, of: fixture.nodes)
            let write = Task { try await cluster.write { db in try db.execute(sql: Self.insertion) } }
            try await gate.reached()
            try await cluster.close(gracePeriod: .zero)
            let result = await write.result
            gate.open()
            let error = #expect(throws: DatabaseError.self, "\(prefix)") { try result.get() }
            #expect(error?.resultCode == .SQLITE_INTERRUPT, "\(prefix): \(String(describing: error))")
            #expect(error?.message?.contains("clos") == true, "\(prefix): \(String(describing: error))")
            await expectClosed(cluster)
            #expect(await fixture.nodes.connectionCountBecomes(0), "\(prefix)")
            #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(0)]], "\(prefix)")
        }
    }

    @Test func aGracePeriodEndsReads() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let gate = delay("SELECT", of: fixture.nodes)
        let read = Task { try await cluster.read { db in try Player.fetchCount(db) } }
        try await gate.reached()
        try await cluster.close(gracePeriod: .zero)
        let result = await read.result
        gate.open()
        let error = #expect(throws: DatabaseError.self) { try result.get() }
        #expect(error?.resultCode == .SQLITE_INTERRUPT, "\(String(describing: error))")
        await expectClosed(cluster)
    }

    @Test func aCommitIsFinished() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let gate = delay("COMMIT", of: fixture.nodes)
        let write = Task { try await cluster.write { db in try db.execute(sql: Self.insertion) } }
        try await gate.reached()
        let closing = Task { try await cluster.close(gracePeriod: .zero, interruptionTimeout: .seconds(60)) }
        gate.open()
        try await closing.value
        let kept = try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]]
        switch await write.result {
        case .success: #expect(kept)
        case .failure(let error):
            #expect(!kept, "\(error)")
            #expect((error as? DatabaseError)?.isRetryableInCluster == true, "\(error)")
        }
        await expectClosed(cluster)
    }

    @Test func fromInside() throws {
        let fixture = try ClusterFixture()
        let pool = try temporaryPool()
        let writers: [any DatabaseWriter] = [fixture.cluster, pool.pool]
        var errors: [[String]] = []
        for writer in writers {
            var messages: [String] = []
            func note(_ body: () throws -> Void) {
                do {
                    try body()
                    messages.append("done")
                } catch let error as DatabaseError {
                    messages.append("\(error.extendedResultCode)")
                } catch {
                    messages.append("\(error)")
                }
            }
            try writer.write { db in
                note { try writer.close() }
                note { try writer.close(gracePeriod: .zero) }
                try db.execute(sql: Self.insertion)
            }
            try writer.read { db in
                note { try writer.close() }
                let count = try Player.fetchCount(db)
                #expect(count == 1)
            }
            errors.append(messages)
        }
        #expect(errors[0] == errors[1])
    }
}

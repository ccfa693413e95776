import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryTestSupport
import Testing

/// A COMMIT loses its answer, and the access is ended while its outcome is being learned.
@Suite("Ends of settlements on a cluster", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterSettlementEndTests {
    enum End: CaseIterable, Sendable {
        case cancellation, interruption, closing
    }

    /// The write has been committed or not, and says so.
    @Test(arguments: End.allCases, [RequestInfo.Phase.received, .executed])
    func theOutcomeIsTrue(_ end: End, _ phase: RequestInfo.Phase) async throws {
        for prefix in ["BEGIN IMMEDIATE", "SELECT isFence", "COMMIT"] {
            // The fence is committed only if the transaction is not.
            if prefix == "COMMIT", phase == .executed { continue }
            let name = "\(end), the COMMIT was \(phase), \(prefix)"
            let fixture = try ClusterFixture()
            let cluster = fixture.cluster
            let gate = Gate("the settlement's \(prefix)")
            fixture.nodes.faults.once(.closeConnection, at: phase) { $0.sql == "COMMIT TRANSACTION" }
            fixture.nodes.faults.once(.delay(gate), at: .received) { request in
                // The write itself begins with BEGIN IMMEDIATE TRANSACTION.
                request.sql?.hasPrefix(prefix) == true && request.sql?.hasSuffix("TRANSACTION") == false
            }
            let write = Task {
                try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
            }
            try await gate.reached()
            var closing: Task<Void, any Error>?
            switch end {
            case .cancellation: write.cancel()
            case .interruption: for _ in 1...5 { cluster.interrupt() }
            case .closing:
                closing = Task { try await cluster.close(gracePeriod: .zero, interruptionTimeout: .seconds(120)) }
            }
            gate.open()
            let result = await write.result
            try await closing?.value
            fixture.nodes.faults.clear()
            let isKept = try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]]
            #expect(isKept == (phase == .executed), "\(name)")
            switch result {
            case .success: #expect(isKept, "\(name)")
            case .failure(let error):
                #expect(!isKept, "\(name): \(error)")
                #expect((error as? DatabaseError)?.isRetryableInCluster == true, "\(name): \(error)")
            }
            guard closing == nil else { continue }
            try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')") }
            #expect(try await cluster.read { db in try Player.fetchCount(db) } == (isKept ? 2 : 1), "\(name)")
        }
    }

    /// The writes of a task that is cancelled already don't begin.
    @Test func cancelledTasks() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await #expect(throws: CancellationError.self) {
                try await cluster.write { db in try db.execute(sql: "DELETE FROM player") }
            }
            await #expect(throws: CancellationError.self) {
                try await cluster.read { db in try Player.fetchCount(db) }
            }
        }
        task.cancel()
        await task.value
        #expect(fixture.nodes.log.statements == [])
    }

    /// A transaction that catches the error of its cancelled statement isn't committed.
    @Test func aCaughtCancellation() async throws {
        for isSavepoint in [false, true] {
            let fixture = try ClusterFixture()
            let cluster = fixture.cluster
            let gate = Gate("the update")
            fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql?.hasPrefix("UPDATE") == true }
            let write = Task {
                try await cluster.write { db in
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
                    func update() throws { try db.execute(sql: "UPDATE player SET score = 1") }
                    if isSavepoint {
                        try? db.inSavepoint {
                            try update()
                            return .commit
                        }
                    } else {
                        try? update()
                    }
                }
            }
            try await gate.reached()
            write.cancel()
            let result = await write.result
            gate.open()
            #expect(throws: (any Error).self) { try result.get() }
            #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
        }
    }

    /// The deadline of a statement ends its wait, and the transaction.
    @Test func statementTimeouts() async throws {
        // The looks move it too little for a timeout. They end the waits for the locks of earlier writes.
        let clock = ManualMonotonicClock(tick: .microseconds(50))
        let fixture = try ClusterFixture {
            $0.database.statementTimeout = 1
            $0.database.monotonicClock = clock.monotonicClock
        }
        let cluster = fixture.cluster
        for sql in ["SELECT count(*) FROM player", "UPDATE player SET score = 1", "DELETE FROM player RETURNING id"] {
            let gate = Gate(sql)
            fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql == sql }
            let write = Task {
                try await cluster.write { db in
                    _ = try Row.fetchAll(db, sql: "VALUES (1)") + Row.fetchAll(db, sql: sql)
                }
            }
            try await until(gate.name, by: write) { gate.isReached }
            clock.advance(by: .seconds(1))
            let error = await #expect(throws: DatabaseError.self) { try await write.value }
            gate.open()
            #expect(error?.resultCode == .SQLITE_INTERRUPT, "\(sql): \(String(describing: error))")
            #expect(error?.message?.hasPrefix("statement timeout") == true, "\(sql): \(String(describing: error))")
        }
        #expect(fixture.nodes.aborts == [])
    }
}

import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryTestSupport
import Synchronization
import Testing

/// One fault at each request of an access, in each way.
@Suite("Failures of a cluster") struct ClusterFailureTests {
    enum Fault: String, CaseIterable, Sendable {
        case closeBefore, closeAfter, killBefore, killAfter, truncate, loseLeadership, notLeader, leadershipLost

        var phase: RequestInfo.Phase {
            switch self {
            case .closeBefore, .killBefore, .loseLeadership, .notLeader: .received
            case .closeAfter, .killAfter, .truncate, .leadershipLost: .executed
            }
        }

        var action: FaultAction {
            switch self {
            case .closeBefore, .closeAfter: .closeConnection
            case .killBefore, .killAfter: .killNode
            case .truncate: .truncateAnswer
            case .loseLeadership: .loseLeadership
            case .notLeader: .fail(code: 10_250, message: "not leader")
            case .leadershipLost: .fail(code: 10_506, message: "disk I/O error")
            }
        }
    }

    /// Plans a fault at the request with a number, counted from now.
    private func plan(_ fault: Fault, at number: Int, _ nodes: EmulatedCluster) {
        let counter = Counter()
        nodes.faults.onRequest = { request in
            guard request.phase == fault.phase else { return .none }
            return counter.next() == number ? fault.action : .none
        }
    }

    @Test(arguments: Fault.allCases) func writesAreKeptOnceOrNotAtAll(_ fault: Fault) throws {
        var (acknowledged, refused) = (0, 0)
        for number in 1...7 {
            let fixture = try ClusterFixture()
            let cluster = fixture.cluster
            try cluster.write { db in try db.execute(sql: "INSERT INTO player (name, score) VALUES ('first', 0)") }
            plan(fault, at: number, fixture.nodes)
            let outcome = Result {
                try cluster.write { db in
                    try db.execute(sql: "UPDATE player SET score = score + 1")
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('second')")
                }
            }
            fixture.nodes.faults.clear()
            let kept = try fixture.nodes.query("SELECT count(*), max(score) FROM player")
            switch outcome {
            case .success:
                acknowledged += 1
                #expect(kept == [[.integer(2), .integer(1)]], "\(fault) at request \(number)")
            case .failure(let error):
                refused += 1
                #expect(kept == [[.integer(1), .integer(0)]], "\(fault) at request \(number): \(error)")
                let error = try #require(error as? DatabaseError, "\(fault) at request \(number)")
                #expect(error.isRetryableInCluster, "\(fault) at request \(number): \(error)")
            }
            // The cluster is in order.
            try cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('third')") }
            #expect(
                try cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player WHERE name = 'third'") }
                    == 1)
        }
        // Requests before the first acknowledged statement are repeated, and the COMMIT is settled.
        #expect(acknowledged > 0 && refused > 0, "\(fault): \(acknowledged) acknowledged, \(refused) refused")
    }

    @Test(arguments: Fault.allCases) func readsBeginAgain(_ fault: Fault) throws {
        for number in 1...4 {
            let fixture = try ClusterFixture { $0.retriesReads = true }
            try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('first')") }
            _ = try fixture.cluster.read { db in try Player.fetchCount(db) }
            plan(fault, at: number, fixture.nodes)
            let name = try fixture.cluster.read { db in try Player.fetchOne(db, key: 1)?.name }
            fixture.nodes.faults.clear()
            #expect(name == "first", "\(fault) at request \(number)")
            #expect(try fixture.cluster.read { db in try Player.fetchCount(db) } == 1)
        }
    }

    /// A program that catches the error of the lost leader learns from the next statement, or from the end of the
    /// write, that it may try again.
    @Test(arguments: [true, false]) func caughtErrors(hasNextStatement: Bool) throws {
        for retries in [true, false] {
            let fixture = try ClusterFixture { $0.retriesWrites = retries }
            let cluster = fixture.cluster
            fixture.nodes.faults.once(.closeConnection, at: .received) { $0.sql?.hasPrefix("UPDATE") == true }
            let result = Result {
                try cluster.write { db in
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('first')")
                    try? db.execute(sql: "UPDATE player SET score = 1")
                    if hasNextStatement { try db.execute(sql: "INSERT INTO player (name) VALUES ('second')") }
                }
            }
            let count = try fixture.nodes.query("SELECT count(*) FROM player").first
            switch result {
            case .success: #expect(retries && count == [.integer(hasNextStatement ? 2 : 1)])
            case .failure(let error):
                #expect(!retries && count == [.integer(0)])
                let error = error as? DatabaseError
                #expect(error?.isRetryableInCluster == true, "\(String(describing: error))")
                #expect(error?.message?.hasPrefix("Transaction was aborted: ") == true)
            }
            // The next transaction has a reason of its own.
            let conflict = #expect(throws: DatabaseError.self) {
                try cluster.write { db in
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('third')")
                    try? db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('third')")
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('fourth')")
                }
            }
            #expect(conflict?.extendedResultCode == .SQLITE_ABORT)
            #expect(conflict?.message == "Transaction was aborted")
        }
    }

    @Test func withoutAJournalTheOutcomeIsUnknown() throws {
        let fixture = try ClusterFixture { $0.keepsCommitJournal = false }
        fixture.nodes.faults.once(.closeConnection, at: .executed) { $0.sql == "COMMIT TRANSACTION" }
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        }
        #expect(error?.isOutcomeUnknown == true)
        #expect(error?.isRetryableInCluster == false)
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]])
    }

    @Test func noLeader() async throws {
        let clock = ManualMonotonicClock()
        let fixture = try ClusterFixture { $0.database.monotonicClock = clock.monotonicClock }
        fixture.nodes.killLeader(electing: nil)
        let insert: @Sendable (Database) throws -> Void = { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
        }
        let write = OwnThread { try fixture.cluster.write(insert) }
        try await clock.advance(until: write)
        clock.startTicking()
        let error = await #expect(throws: DatabaseError.self) { try await write.value }
        #expect(error?.isRetryableInCluster == true)
        #expect(error?.message?.hasPrefix("no leader was found in time") == true)
        fixture.nodes.elect(1)
        try await fixture.cluster.write(insert)
    }

    @Test func anotherClientWrites() throws {
        let fixture = try ClusterFixture {
            $0.database.busyMode = .timeout(0.05)
            $0.database.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        }
        let leader = try #require(fixture.nodes.leader)
        let client = try WireClient(fixture.nodes.addresses[leader])
        try client.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: DatabaseError.self) {
            try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(try fixture.cluster.read { db in try Player.fetchCount(db) } == 0)
        try client.execute("COMMIT")
        try fixture.cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')") }
    }

    @Test func cancellationEndsTheWait() async throws {
        let fixture = try ClusterFixture()
        let cluster = fixture.cluster
        let gate = Gate("the node is busy")
        fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql?.hasPrefix("UPDATE") == true }
        let task = Task {
            try await cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
                try db.execute(sql: "UPDATE player SET score = 1")
            }
        }
        try await gate.reached()
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        gate.open()
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
    }

    @Test func aStatementTakesTooLong() async throws {
        let clock = ManualMonotonicClock()
        let fixture = try ClusterFixture {
            $0.statementTimeout = .seconds(2)
            $0.database.monotonicClock = clock.monotonicClock
        }
        let cluster = fixture.cluster
        let gate = Gate("the node is busy")
        fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql?.hasPrefix("UPDATE") == true }
        let write = Task { try await cluster.write { db in try db.execute(sql: "UPDATE player SET score = 1") } }
        try await until(gate.name, by: write) { gate.isReached }
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: DatabaseError.self) { try await write.value }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        #expect(error?.message?.hasPrefix("statement timeout: node 127.0.0.1") == true)
        gate.open()
    }

    @Test func deadlinesOfAccesses() async throws {
        let clock = ManualMonotonicClock()
        let fixture = try ClusterFixture { $0.database.monotonicClock = clock.monotonicClock }
        let cluster = fixture.cluster
        let gate = Gate("the node is busy")
        fixture.nodes.faults.once(.delay(gate), at: .received) { $0.sql?.hasPrefix("UPDATE") == true }
        let write = Task {
            try await cluster.write(timeout: .milliseconds(50)) { db in
                try db.execute(sql: "UPDATE player SET score = 1")
            }
        }
        try await until(gate.name, by: write) { gate.isReached }
        clock.advance(by: .milliseconds(50))
        let error = await #expect(throws: DatabaseError.self) { try await write.value }
        #expect(error?.resultCode == .SQLITE_INTERRUPT)
        #expect(error?.message?.hasPrefix("access timeout") == true)
        gate.open()
    }
}

final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}

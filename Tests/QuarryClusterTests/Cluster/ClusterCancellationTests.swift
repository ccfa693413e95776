import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryCore
import QuarryTestSupport
import Testing

/// An access waits for the answer to each of its requests in turn, and is ended there.
@Suite("Cancellations on a cluster", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterCancellationTests {
    enum End: String, CaseIterable, Sendable {
        case cancellation, interruption, deadline
    }

    enum Phase: String, CaseIterable, Sendable {
        case received, executed

        var value: RequestInfo.Phase { self == .received ? .received : .executed }
    }

    /// A fixture whose time the test moves.
    private func makeFixture(
        _ clock: ManualMonotonicClock, _ change: (inout ClusterConfiguration) -> Void = { _ in }
    ) throws -> ClusterFixture {
        try ClusterFixture {
            $0.database.monotonicClock = clock.monotonicClock
            change(&$0)
        }
    }

    /// Lets the request with a number, counted from now, wait.
    private func delay(_ number: Int, _ phase: Phase, of nodes: EmulatedCluster) -> Gate {
        let (gate, counter) = (Gate("request \(number) was \(phase)"), Counter())
        nodes.faults.onRequest = { request in
            guard request.phase == phase.value else { return .none }
            return counter.next() == number ? .delay(gate) : .none
        }
        return gate
    }

    /// Runs an access, and ends it at a gate. The node goes on when the access has ended.
    private func run<T: Sendable>(
        _ cluster: DatabaseCluster, _ clock: ManualMonotonicClock, endedBy end: End, at gate: Gate,
        opensFirst: Bool = false,
        _ access: @escaping @Sendable (_ timeout: Duration?) async throws -> T
    ) async throws -> Result<T, any Error> {
        let task = Task { try await access(end == .deadline ? .milliseconds(50) : nil) }
        try await until(gate.name, by: task) { gate.isReached }
        switch end {
        case .cancellation: task.cancel()
        case .interruption: cluster.interrupt()
        case .deadline: clock.advance(by: .milliseconds(50))
        }
        // Later waits for locks end.
        clock.startTicking()
        if opensFirst { gate.open() }
        let result = await task.result
        gate.open()
        return result
    }

    private func expectEnd(_ end: End, _ error: any Error, _ name: String) {
        switch end {
        case .cancellation: #expect(error is CancellationError, "\(name): \(error)")
        case .interruption:
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT, "\(name): \(error)")
        case .deadline:
            let error = error as? DatabaseError
            // The deadline of the search for the leader says what was found.
            if error?.message?.hasPrefix("no leader was found in time") == true { return }
            #expect(error?.resultCode == .SQLITE_INTERRUPT, "\(name): \(String(describing: error))")
            #expect(
                error?.message?.hasPrefix("access timeout") == true, "\(name): \(String(describing: error))")
        }
    }

    /// Lets all requests of a kind, or with some SQL, wait: a search asks other nodes when one is slow.
    private func delay(_ name: String, _ phase: Phase, of nodes: EmulatedCluster) -> Gate {
        let gate = Gate("\(name) was \(phase)")
        nodes.faults.onRequest = { request in
            guard request.phase == phase.value, (request.sql ?? request.kind.rawValue).hasPrefix(name) else {
                return .none
            }
            return .delay(gate)
        }
        return gate
    }

    /// The requests of a connection's first read whose answers are waited for.
    private static let firstRead = [
        "LEADER", "OPEN", "SELECT zeroblob", "PRAGMA schema_version", "BEGIN", "SELECT type, name", "BEGIN DEFERRED",
        "SELECT COUNT",
    ]

    @Test(arguments: End.allCases, Phase.allCases) func reads(_ end: End, _ phase: Phase) async throws {
        for request in Self.firstRead {
            let name = "\(end), \(request) was \(phase)"
            let clock = ManualMonotonicClock()
            let fixture = try makeFixture(clock)
            let cluster = fixture.cluster
            let gate = delay(request, phase, of: fixture.nodes)
            let result = try await run(cluster, clock, endedBy: end, at: gate) { timeout in
                if let timeout { return try await cluster.read(timeout: timeout) { db in try Player.fetchCount(db) } }
                return try await cluster.read { db in try Player.fetchCount(db) }
            }
            switch result {
            case .success: Issue.record("\(name): no error")
            case .failure(let error): expectEnd(end, error, name)
            }
            fixture.nodes.faults.clear()
            #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0, "\(name)")
        }
    }

    @Test(arguments: End.allCases, Phase.allCases) func writes(_ end: End, _ phase: Phase) async throws {
        // Neither ends the wait for the answer to COMMIT, the sixth.
        for number in 1...(end == .deadline ? 5 : 6) {
            let name = "\(end) at \(phase) \(number)"
            let clock = ManualMonotonicClock()
            let fixture = try makeFixture(clock)
            let cluster = fixture.cluster
            try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('first')") }
            let gate = delay(number, phase, of: fixture.nodes)
            @Sendable func change(_ db: Database) throws {
                try db.execute(sql: "UPDATE player SET score = 1")
                try db.execute(sql: "INSERT INTO player (name) VALUES ('second')")
            }
            fixture.nodes.log.clear()
            let result = try await run(cluster, clock, endedBy: end, at: gate, opensFirst: number == 6) { timeout in
                if let timeout { return try await cluster.write(timeout: timeout, change) }
                return try await cluster.write(change)
            }
            fixture.nodes.faults.clear()
            let count = try fixture.nodes.query("SELECT count(*) FROM player")
            switch result {
            case .success:
                #expect(number == 6, "\(name): no error \(fixture.nodes.log.entries)")
                #expect(count == [[.integer(2)]], "\(name)")
            case .failure(let error):
                #expect(count == [[.integer(1)]], "\(name)")
                expectEnd(end, error, name)
            }
            try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('third')") }
            #expect(try await cluster.read { db in try Player.fetchCount(db) } > 1, "\(name)")
        }
    }

    /// How a write commits.
    enum Commit: String, CaseIterable, Sendable {
        case write, group, statement, release

        var sql: String { self == .release ? "RELEASE" : "COMMIT" }

        /// Without a transaction of the library's, the deadline is that of a statement.
        func run(_ cluster: DatabaseCluster, timeout: Duration?) async throws {
            let kind = self
            @Sendable func change(_ db: Database) throws {
                switch kind {
                case .write, .group: break
                case .statement: try db.execute(sql: "BEGIN IMMEDIATE")
                case .release: try db.execute(sql: "SAVEPOINT s")
                }
                try db.execute(sql: "INSERT INTO player (name) VALUES ('first')")
                switch kind {
                case .write, .group: break
                case .statement: try db.execute(sql: "COMMIT")
                case .release: try db.execute(sql: "RELEASE s")
                }
            }
            switch self {
            case .statement, .release: try await cluster.writeWithoutTransaction(change)
            case .write, .group:
                if let timeout {
                    try await cluster.write(timeout: timeout, change)
                } else {
                    try await cluster.write(change)
                }
            }
        }
    }

    /// A deadline that passes while COMMIT waits for its answer doesn't end the wait: the write is committed.
    @Test(arguments: Phase.allCases, Commit.allCases) func deadlineOfTheCommit(_ phase: Phase, _ kind: Commit)
        async throws
    {
        let clock = ManualMonotonicClock()
        let fixture = try makeFixture(clock) {
            $0.database.groupCommit = kind == .group
            $0.database.statementTimeout = 1
        }
        let gate = delay(kind.sql, phase, of: fixture.nodes)
        let task = Task { try await kind.run(fixture.cluster, timeout: .seconds(1)) }
        try await until(gate.name, by: task) { gate.isReached }
        clock.advance(by: .seconds(2))
        // The wait for the answer looks at the clock, and goes on.
        let lookCount = clock.lookCount
        try await until("it has looked at the clock twice", by: task) { clock.lookCount >= lookCount + 2 }
        gate.open()
        let result = await task.result
        fixture.nodes.faults.clear()
        #expect(throws: Never.self, "\(fixture.nodes.log.entries)") { try result.get() }
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]])
    }

    /// A cancellation or an interruption after the nodes have committed and before the shadow has: the write is
    /// committed, and the connection knows it.
    @Test(arguments: [End.cancellation, .interruption], Commit.allCases)
    func endAfterTheCommitOfTheNodes(_ end: End, _ kind: Commit) async throws {
        let fixture = try ClusterFixture { $0.database.groupCommit = kind == .group }
        let cluster = fixture.cluster
        let (known, continuation) = AsyncStream<Void>.makeStream()
        let write = Task {
            for await _ in known { break }
            try await kind.run(cluster, timeout: nil)
        }
        let commits = Counter()
        let client = try await cluster.writeWithoutTransaction { db in
            // The shadow's statement begins when the nodes have answered.
            db.hooks.onTrace(.statements) { event in
                guard case .statement(_, let text) = event, String(cString: text).hasPrefix(kind.sql) else { return }
                _ = commits.next()
                switch end {
                case .cancellation: write.cancel()
                case .interruption, .deadline: cluster.interrupt()
                }
            }
        }
        continuation.yield()
        await #expect(throws: Never.self) { try await write.value }
        #expect(commits.next() == 2)
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(1)]])
        try await cluster.writeWithoutTransaction { db in
            db.hooks.remove(client)
            #expect(!db.isInsideTransaction)
        }
        try await cluster.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('second')") }
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 2)
    }

    @Test(arguments: Phase.allCases) func opening(_ phase: Phase) async throws {
        for request in ["LEADER", "OPEN", "SELECT zeroblob", "PRAGMA schema_version", "SELECT type, name"] {
            let nodes = try EmulatedCluster(interruptsRunningQueries: false)
            try nodes.execute(ClusterFixture.schema)
            let gate = delay(request, phase, of: nodes)
            var configuration = ClusterConfiguration()
            configuration.statementTimeout = .seconds(60)
            configuration.connectTimeout = .seconds(60)
            let task = Task { [configuration] in
                try await DatabaseCluster.open(nodes: nodes.addresses, name: "app", configuration: configuration)
            }
            try await until(gate.name, by: task) { gate.isReached }
            task.cancel()
            let result = await task.result
            gate.open()
            #expect(throws: CancellationError.self, "\(request) \(phase)") { try result.get() }
        }
    }

    @Test func deadlineOfTheSearch() async throws {
        let clock = ManualMonotonicClock()
        let fixture = try makeFixture(clock)
        let cluster = fixture.cluster
        fixture.nodes.killLeader(electing: nil)
        let read = Task {
            try await cluster.read(timeout: .milliseconds(50)) { db in try Player.fetchCount(db) }
        }
        try await clock.advance(until: read)
        clock.startTicking()
        let error = await #expect(throws: DatabaseError.self) { try await read.value }
        #expect(error?.isRetryableInCluster == true)
        #expect(error?.message?.hasPrefix("no leader was found in time") == true)
        fixture.nodes.elect(1)
        #expect(try await cluster.read { db in try Player.fetchCount(db) } == 0)
    }

    /// A name that the shadow doesn't know is looked for at the node, and so is the schema of a version that it has
    /// not seen.
    @Test(arguments: End.allCases) func questionsAboutTheSchema(_ end: End) async throws {
        for request in ["BEGIN DEFERRED", "PRAGMA schema_version", "SELECT type, name", "SELECT count(*) FROM team"] {
            let name = "\(end), \(request)"
            let clock = ManualMonotonicClock()
            let fixture = try makeFixture(clock)
            let cluster = fixture.cluster
            _ = try await cluster.read { db in try Player.fetchCount(db) }
            try fixture.nodes.execute("CREATE TABLE team (id INTEGER PRIMARY KEY)")
            let gate = delay(request, .received, of: fixture.nodes)
            let result = try await run(cluster, clock, endedBy: end, at: gate) { timeout in
                @Sendable func count(_ db: Database) throws -> Int? {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM team")
                }
                if let timeout { return try await cluster.read(timeout: timeout) { db in try count(db) } }
                return try await cluster.read { db in try count(db) }
            }
            switch result {
            case .success: Issue.record("\(name): no error \(fixture.nodes.log.entries)")
            case .failure(let error): expectEnd(end, error, name)
            }
            fixture.nodes.faults.clear()
            let count = try await cluster.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM team") }
            #expect(count == 0, "\(name)")
        }
    }
}

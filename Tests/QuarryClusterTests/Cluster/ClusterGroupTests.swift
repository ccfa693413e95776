import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// Writes that share a transaction on a cluster.
@Suite("Shared transactions of a cluster", .timeLimit(.minutes(5))) struct ClusterGroupTests {
    typealias Write = @Sendable (Database) throws -> Void

    private func insertion(_ name: String) -> Write {
        { db in try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name]) }
    }

    private func script(_ sql: String) -> Write { { db in try db.execute(sql: sql) } }

    /// Runs writes that wait in line behind one named "first", and so share its transaction.
    private func run(
        _ writes: [Write], _ fixture: ClusterFixture, willGoOn: () -> Void = {}
    ) async throws -> [Result<Void, any Error>] {
        let (cluster, faults) = (fixture.cluster, fixture.nodes.faults)
        let gate = Gate("the first write has begun")
        faults.once(.delay(gate), at: .received) { $0.sql?.contains("'first'") == true }
        let first = script("INSERT INTO player (name) VALUES ('first')")
        var tasks = [Task { try await cluster.write(first) }]
        try await gate.reached()
        for write in writes {
            tasks.append(Task { try await cluster.write(write) })
            while cluster.statistics.writer.waiters < tasks.count - 1 { await Task.yield() }
        }
        willGoOn()
        gate.open()
        var results: [Result<Void, any Error>] = []
        for task in tasks { results.append(await task.result) }
        faults.clear()
        return results
    }

    private func names(_ fixture: ClusterFixture) throws -> [WireValue] {
        try fixture.nodes.query("SELECT name FROM player ORDER BY id").flatMap { $0 }
    }

    /// Each acknowledged write is kept, and no other.
    @Test(arguments: 1...14, [false, true]) func aLostLink(at number: Int, retries: Bool) async throws {
        let fixture = try ClusterFixture { $0.retriesWrites = retries }
        let counter = Counter()
        let all = ["first", "a", "b", "c"]
        let results = try await run(all.dropFirst().map(insertion), fixture) {
            fixture.nodes.faults.onRequest = { request in
                request.phase == .received && counter.next() == number ? .closeConnection : .none
            }
        }
        let kept = zip(all, results).filter { (try? $0.1.get()) != nil }.map { WireValue.text($0.0) }
        #expect(Set(try names(fixture)) == Set(kept))
        #expect(try names(fixture).count == kept.count)
        for case .failure(let error as DatabaseError) in results {
            #expect(error.isRetryableInCluster, "\(error)")
        }
        if retries { #expect(kept.count == all.count) }
    }

    @Test func deferredForeignKeysAreBlamedOnTheirWrite() async throws {
        for (clause, pragma) in [
            ("DEFERRABLE INITIALLY DEFERRED", ""), ("DEFERRABLE /* a */ INITIALLY\n/* b */ DEFERRED", ""),
            ("", "PRAGMA defer_foreign_keys = ON;"),
        ] {
            let schema = "\(ClusterFixture.schema); CREATE TABLE c (a REFERENCES player \(clause))"
            let fixture = try ClusterFixture(schema: schema)
            let results = try await run(
                [insertion("a"), script("\(pragma) INSERT INTO c VALUES (77)"), insertion("b")], fixture)
            let codes = results.map { result in
                if case .failure(let error as DatabaseError) = result { error.resultCode } else { ResultCode.SQLITE_OK }
            }
            #expect(codes[2] == .SQLITE_CONSTRAINT, "\(clause)")
            // Others lose a shared transaction at most, which they may repeat.
            for code in [codes[0], codes[1], codes[3]] {
                #expect([.SQLITE_OK, .SQLITE_ABORT].contains(code), "\(clause)")
            }
            if pragma.isEmpty { #expect(try names(fixture).count == 3, "\(clause)") }
        }
    }

    @Test func membersThatFail() async throws {
        struct Stop: Error {}
        let fixture = try ClusterFixture()
        let results = try await run(
            [
                insertion("a"), insertion("a"),
                { db in
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('stopped')")
                    throw Stop()
                }, script("CREATE TABLE u (x)"), insertion("b"),
            ], fixture)
        #expect(results.map { (try? $0.get()) != nil } == [true, true, false, false, true, true])
        #expect(try names(fixture) == [.text("first"), .text("a"), .text("b")])
        #expect(try await fixture.cluster.read { db in try db.tableExists("u") })
    }

    /// A member's task is cancelled while a request of the shared transaction waits.
    @Test(arguments: 1...12, [RequestInfo.Phase.received, .executed])
    func aCancelledMember(at number: Int, phase: RequestInfo.Phase) async throws {
        let all = ["first", "a", "b", "c"]
        for member in all.indices {
            let fixture = try ClusterFixture()
            let (cluster, faults) = (fixture.cluster, fixture.nodes.faults)
            let (begun, gate) = (Gate("the first write has begun"), Gate("request \(number)"))
            faults.once(.delay(begun), at: .received) { $0.sql?.contains("'first'") == true }
            var tasks = [Task { try await cluster.write(script("INSERT INTO player (name) VALUES ('first')")) }]
            try await begun.reached()
            for name in all.dropFirst() {
                tasks.append(Task { try await cluster.write(insertion(name)) })
                while cluster.statistics.writer.waiters < tasks.count - 1 { await Task.yield() }
            }
            let counter = Counter()
            faults.onRequest = { request in
                request.phase == phase && counter.next() == number ? .delay(gate) : .none
            }
            let running = tasks
            let cancelling = Task {
                // The writes may need fewer requests.
                try? await gate.reached()
                running[member].cancel()
                gate.open()
            }
            begun.open()
            var results: [Result<Void, any Error>] = []
            for task in tasks { results.append(await task.result) }
            if !gate.isReached {
                // Lets the other task end.
                faults.onRequest = { _ in .delay(gate) }
                gate.open()
                _ = try await cluster.read { db in try Player.fetchCount(db) }
            }
            await cancelling.value
            faults.clear()
            let kept = zip(all, results).filter { (try? $0.1.get()) != nil }.map { WireValue.text($0.0) }
            let name = "\(all[member]) at \(number), \(phase)"
            #expect(Set(try names(fixture)) == Set(kept), "\(name): \(results)")
            for (index, result) in results.enumerated() {
                guard case .failure(let error) = result else { continue }
                #expect(index == member && error is CancellationError, "\(name): \(all[index]) \(error)")
            }
            try await cluster.write(insertion("next"))
            #expect(try names(fixture).count == kept.count + 1, "\(name)")
        }
    }

    /// The link is lost while a member skips rows that it doesn't want.
    @Test func unreadRowsOfAMember() async throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
        for position in 0...2 {
            let fixture = try ClusterFixture()
            var writes = ["a", "b"].map(insertion)
            writes.insert(
                { db in
                    fixture.nodes.faults.onPage = { _, _ in .closeConnection }
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('lost')")
                    _ = try Int.fetchOne(db, sql: rows)
                }, at: position)
            var all = ["first", "a", "b"]
            all.insert("lost", at: position + 1)
            let results = try await run(writes, fixture)
            let kept = zip(all, results).filter { (try? $0.1.get()) != nil }.map { WireValue.text($0.0) }
            #expect(Set(try names(fixture)) == Set(kept), "\(position): \(results)")
            for case .failure(let error as DatabaseError) in results {
                #expect(error.isRetryableInCluster, "\(position): \(error)")
            }
        }
    }
}

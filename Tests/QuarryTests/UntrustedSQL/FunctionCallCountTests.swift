import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryUntrustedSQL

/// How many functions a statement of a user may call: SQLite doesn't look at the timeout within a row.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct FunctionCallCountTests {
    private func players(_ clock: ManualMonotonicClock? = nil) throws -> DatabaseQueue {
        var configuration = Configuration()
        if let clock { configuration.monotonicClock = clock.monotonicClock }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in try db.makePlayers("Arthur", "Barbara") }
        return queue
    }

    private var policy: UntrustedSQLPolicy {
        var policy = UntrustedSQLPolicy()
        policy.allowTable("player")
        return policy
    }

    /// SQLite copies the expressions of a subquery, and asks the authorizer about one of them.
    @Test(arguments: [
        ("SELECT \(Array(repeating: "abs(id)", count: 101).joined(separator: " + ")) FROM player", 101),
        (
            "SELECT \(Array(repeating: "x", count: 150).joined(separator: " + ")) FROM (SELECT name LIKE '%a' AS x FROM player)",
            150
        ),
        ("SELECT (SELECT \(manyCalls) FROM player) + \(manyCalls) FROM player", 120),
        ("WITH t AS (SELECT id, \(manyCalls) AS x FROM player) SELECT x + \(manyCalls) FROM t", 120),
        (
            "SELECT 1 FROM player WHERE \(Array(repeating: "name GLOB 'a*b'", count: 101).joined(separator: " AND "))",
            101
        ),
    ])
    func tooManyCalls(_ sql: String, _ count: Int) throws {
        let queue = try players()
        var policy = policy
        policy.maximumExpressionDepth = 1_000
        let error = expectError(.SQLITE_TOOBIG) { try queue.fetchUntrusted(sql, policy: policy) }
        let message = try #require(error?.message)
        #expect(message.hasPrefix("the statement has "), "\(message)")
        #expect(
            message.hasSuffix(" calls of functions, more than 100 (UntrustedSQLPolicy.maximumFunctionCallCount)"),
            "\(message)")
        policy.maximumFunctionCallCount = count
        _ = try queue.fetchUntrusted(sql, policy: policy)
        // Nothing is left behind.
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") } == 2)
    }

    private static let manyCalls = Array(repeating: "abs(id)", count: 60).joined(separator: " + ")

    @Test func noCallOrNoSensibleNumber() throws {
        let queue = try players()
        var policy = policy
        policy.maximumFunctionCallCount = 0
        #expect(try queue.fetchUntrusted("SELECT id FROM player", policy: policy).rows.count == 2)
        expectError(.SQLITE_TOOBIG) { try queue.fetchUntrusted("SELECT abs(id) FROM player", policy: policy) }
        policy.maximumFunctionCallCount = -1
        expectError(.SQLITE_MISUSE) { try queue.fetchUntrusted("SELECT id FROM player", policy: policy) }
    }

    /// The look at the program ends with the timeout, too, and says so.
    @Test func theTimeoutEndsBeforeTheStatement() throws {
        var policy = policy
        policy.timeout = .zero
        policy.maximumExpressionDepth = 1_000
        let queue = try players()
        let error = expectError(.SQLITE_INTERRUPT) {
            try queue.fetchUntrusted("SELECT \(Self.manyCalls) FROM player", policy: policy)
        }
        #expect(error?.message?.hasPrefix("timeout of untrusted SQL") ?? false, "\(error?.message ?? "")")
    }

    /// The task is cancelled while a statement is prepared, looked at, or run.
    @Test(.blocksSwiftThreads) func aTaskCancelledAtAnyMomentThrowsThatItWas() async throws {
        let queue = try players(ManualMonotonicClock())
        var policy = policy
        policy.maximumExpressionDepth = 1_000
        for _ in 0..<50 {
            let begun = Step("statements are being prepared")
            let task = Task { [policy] in
                try await queue.read { db in
                    try db.withUntrustedSQL(policy) {
                        for _ in 0..<100_000 {
                            begun.reach()
                            _ = try db.makeStatement(sql: "SELECT \(Self.manyCalls) FROM player WHERE id = 0")
                            _ = try Row.fetchOne(db, sql: "SELECT 1 FROM player")
                        }
                    }
                }
            }
            try await begun.reached()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await queue.fetchUntrusted("SELECT abs(id) FROM player", policy: policy).rows.count == 2)
    }

    /// The library puts a word before the statement in order to look at it.
    @Test func aStatementAsLongAsThePolicyAllows() throws {
        let queue = try players()
        var policy = policy
        let sql = "SELECT abs(id) FROM player"
        for length in [sql.utf8.count, sql.utf8.count + 7] {
            policy.maximumSQLLength = length
            #expect(try queue.fetchUntrusted(sql, policy: policy).rows.count == 2)
        }
        policy.maximumSQLLength = sql.utf8.count - 1
        expectError(.SQLITE_TOOBIG) { try queue.fetchUntrusted(sql, policy: policy) }
    }

    /// The names of operations in a program are longer than these values.
    @Test(arguments: [0, 1, 4, 7, 8, 30]) func valuesMayBeShorterThanNamesOfOperations(length: Int) throws {
        let queue = try players()
        var policy = policy
        policy.maximumExpressionDepth = 1_000
        policy.maximumValueLength = length
        let error = expectError(.SQLITE_TOOBIG) {
            try queue.fetchUntrusted("SELECT \(Self.manyCalls) + \(Self.manyCalls) AS x FROM player", policy: policy)
        }
        let message = try #require(error?.message)
        #expect(message.hasPrefix("the statement has 120 calls of functions"), "\(message)")
        #expect(try queue.fetchUntrusted("SELECT abs(id) AS x FROM player", policy: policy).rows.count == 2)
    }

    @Test func limitsThatTheProgramHasSetAreTheSameAfterwards() throws {
        let queue = try players()
        // Longer than the library's own statements.
        let sql = "SELECT abs(id) /* \(String(repeating: "-", count: 500)) */ FROM player"
        try queue.write { db in
            try db.setLimit(.sqlLength, to: sql.utf8.count)
            try db.setLimit(.length, to: 1_000)
        }
        var policy = policy
        policy.maximumSQLLength = Int(CInt.max)
        policy.maximumValueLength = Int(CInt.max)
        #expect(try queue.fetchUntrusted(sql, policy: policy).rows.count == 2)
        expectError(.SQLITE_TOOBIG) { try queue.fetchUntrusted(" " + sql, policy: policy) }
        try queue.read { db in
            #expect(db.limit(.sqlLength) == sql.utf8.count)
            #expect(db.limit(.length) == 1_000)
        }
    }

    /// A row of the most expensive calls that are allowed ends soon, and then the timeout counts.
    @Test func aRowOfTheMostExpensiveCalls() throws {
        var policy = policy
        policy.timeout = .milliseconds(100)
        policy.maximumExpressionDepth = 1_000
        let calls = Array(repeating: "(name LIKE '%_00000000000000000000000000000000000000000000001')", count: 100)
        let sql = "SELECT \(calls.joined(separator: " + ")) FROM player ORDER BY 1"
        let clock = ManualMonotonicClock()
        let queue = try players(clock)
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = hex(zeroblob(49999)) || id") }
        clock.startTicking(.milliseconds(100))
        expectError(.SQLITE_INTERRUPT) { try queue.fetchUntrusted(sql, policy: policy) }
    }
}

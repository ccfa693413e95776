import QuarryTestSupport
import Testing

@testable import QuarryCore

/// How often SQL of users looks at its end.
@Suite struct UntrustedSQLProgressTests {
    /// SQLite doesn't interrupt a function, of which one call may take a fifth of a second.
    @Test func fewFunctionsAreCalledAfterTheEnd() throws {
        let connection = try TestConnection()
        var policy = UntrustedSQLPolicy()
        policy.allowFunctions(["stop"])
        policy.timeout = .seconds(600)
        let calls = Lock(0)
        let values = (0..<90).map { "(\($0))" }.joined(separator: ", ")
        let sql = "WITH a(v) AS (VALUES \(values)) SELECT sum(stop(a.v)) FROM a, a AS b"

        /// The calls in an access that the first of them cancels.
        func count(_ body: (Database) throws -> Void) throws -> Int {
            calls.withLock { $0 = 0 }
            let token = AccessToken()
            try connection.access { db in
                db.add(
                    function: DatabaseFunction("stop", argumentCount: 1) { _ in
                        token.cancel()
                        calls.withLock { $0 += 1 }
                        return 1
                    })
            }
            expectError(CancellationError.self) { try connection.access(token, body) }
            return calls.withLock { $0 }
        }

        let untrusted = try count { db in try db.withUntrustedSQL(policy) { _ = try Int.fetchOne(db, sql: sql) } }
        #expect((1...10).contains(untrusted), "SQLite looks each 20 steps, and a row has more than two")
        let trusted = try count { db in _ = try Int.fetchOne(db, sql: sql) }
        #expect(trusted > 10, "each 1000 steps, as before the SQL of users")
    }
}

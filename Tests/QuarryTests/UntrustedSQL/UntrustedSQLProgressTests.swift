import QuarryTestSupport
import Testing

@testable import QuarryCore
@testable import QuarryUntrustedSQL

/// How often SQL of users looks at its end.
@Suite struct UntrustedSQLProgressTests {
    /// SQLite doesn't interrupt a function, of which one call may take a fifth of a second.
    @Test func fewFunctionsAreCalledAfterTheEnd() throws {
        let clock = ManualMonotonicClock()
        let connection = try TestConnection(path: ":memory:", clock)
        var policy = UntrustedSQLPolicy()
        policy.allowFunctions(["last"])
        policy.timeout = .milliseconds(5)
        let calls = Lock(0)
        let values = (0..<90).map { "(\($0))" }.joined(separator: ", ")
        let sql = "WITH a(v) AS (VALUES \(values)) SELECT sum(last(a.v)) FROM a, a AS b"
        try connection.access { db in
            db.add(
                function: DatabaseFunction("last", argumentCount: 1) { _ in
                    let isFirst = calls.withLock { count in
                        count += 1
                        return count == 1
                    }
                    // The first call lasts until the time has passed.
                    if isFirst { clock.advance(by: .milliseconds(6)) }
                    return 1
                })
            expectError(.SQLITE_INTERRUPT) {
                try db.withUntrustedSQL(policy) { _ = try Int.fetchOne(db, sql: sql) }
            }
        }
        // SQLite looks each 20 steps, and a row has more than two.
        #expect(calls.withLock { $0 } <= 10)
    }
}

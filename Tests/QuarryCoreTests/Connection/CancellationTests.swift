import Foundation
import QuarryTestSupport
import Testing

@testable import QuarryCore

/// A statement that would run for very long: a test that isn't ended by what it tests doesn't end.
let endlessSQL = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1e15) SELECT COUNT(*) FROM c"

@Suite("Cancelling an access")
struct CancellationTests {
    private func table() throws -> TestConnection {
        let connection = try TestConnection()
        try connection.access { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        return connection
    }

    private func expectUntouched(_ connection: TestConnection, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        try connection.access { db throws in
            #expect(!db.isInsideTransaction, sourceLocation: sourceLocation)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1], sourceLocation: sourceLocation)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                return .commit
            }
        }
    }

    @Test func accessCancelledBeforeItBeginsRunsNoStatement() throws {
        let connection = try table()
        let token = AccessToken()
        token.cancel()
        #expect(token.isCancelled)
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        }
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in try db.inTransaction { .commit } }
        }
        try expectUntouched(connection)
    }

    @Test func cancellationBetweenStatementsRollsBack() throws {
        let connection = try table()
        for swallows in [false, true] {
            let token = AccessToken()
            #expect(throws: CancellationError.self) {
                try connection.access(token) { db in
                    try db.inTransaction {
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        token.cancel()
                        do {
                            try db.execute(sql: "INSERT INTO t VALUES (3)")
                        } catch {
                            if !swallows { throw error }
                        }
                        return .commit
                    }
                }
            }
            try connection.access { db throws in
                #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
            }
        }
        try expectUntouched(connection)
    }

    @Test func cancellationTakesASavepointBack() throws {
        let connection = try table()
        let token = AccessToken()
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                try db.inTransaction {
                    try db.inSavepoint {
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        token.cancel()
                        return .rollback
                    }
                    return .commit
                }
            }
        }
        try expectUntouched(connection)
    }

    @Test func readCancelledAfterItsLastStatementEndsWithoutError() throws {
        let connection = try table()
        let token = AccessToken()
        let values = try connection.access(token) { db in
            try db.beginRead(pinned: true)
            return try db.finishRead {
                let values = try Int.fetchAll(db, sql: "SELECT a FROM t")
                token.cancel()
                return values
            }
        }
        #expect(values == [1])
        try expectUntouched(connection)
    }

    @Test func anotherThreadCancelsASteppingStatement() throws {
        let connection = try table()
        let token = AccessToken()
        let running = DispatchSemaphore(value: 0)
        let canceller = OtherThread {
            running.wait()
            token.cancel()
        }
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                var hasSignalled = false
                _ = db.hooks.onProgress {
                    if !hasSignalled { running.signal() }
                    hasSignalled = true
                    return true
                }
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    try db.execute(sql: endlessSQL)
                    return .commit
                }
            }
        }
        try canceller.join()
        try expectUntouched(connection)
    }

    @Test func cancellationEndsAWaitForALock() throws {
        try withTemporaryFolder { folder throws in
            let holder = try TestConnection(path: folder + "/db")
            try holder.access { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            var options = ConnectionOptions()
            // Longer than any test runs.
            options.busyMode = .timeout(3600)
            let connection = try TestConnection(path: folder + "/db", options: options)
            let token = AccessToken()
            let waiting = DispatchSemaphore(value: 0)
            _ = connection.database.hooks.onBusy { tries in
                if tries == 0 { waiting.signal() }
                return true
            }
            let canceller = OtherThread {
                waiting.wait()
                token.cancel()
            }
            try holder.access { db throws in
                try db.inTransaction {
                    #expect(throws: CancellationError.self) {
                        try onOtherThread {
                            try connection.access(token) { db in
                                try db.inTransaction {
                                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                                    return .commit
                                }
                            }
                        }
                    }
                    return .commit
                }
            }
            try canceller.join()
            try expectUntouched(connection)
        }
    }

    @Test func cancellationAfterTheEndTouchesNobody() throws {
        let connection = try table()
        let token = AccessToken()
        try connection.access(token) { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
        try connection.access(AccessToken()) { db throws in
            let cursor = try Int.fetchCursor(db, sql: "SELECT 1 UNION ALL SELECT 2")
            #expect(try cursor.next() == 1)
            token.cancel()
            #expect(try cursor.next() == 2)
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1])
        }
        try expectUntouched(connection)
    }

    @Test(.timeLimit(.minutes(1 * TestTime.factor))) func randomCancellationNeverTouchesTheNextAccess() throws {
        let connection = try table()
        var random = SeededGenerator()
        print("CancellationTests.neighbours seed: \(random.seed)")
        for _ in 0..<200 {
            let token = AccessToken()
            let go = DispatchSemaphore(value: 0)
            let spins = Int.random(in: 0..<3000, using: &random)
            let canceller = OtherThread {
                go.wait()
                for _ in 0..<spins { _ = token.isCancelled }
                token.cancel()
            }
            do {
                try connection.access(token) { db in
                    go.signal()
                    try db.inTransaction {
                        for n in 0..<5 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [n]) }
                        return .rollback
                    }
                }
            } catch is CancellationError {}
            // Without a wait for the canceller: it may come during this access.
            try connection.access(AccessToken()) { db throws in
                #expect(!db.isInsideTransaction)
                for _ in 0..<5 { #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1]) }
            }
            try canceller.join()
        }
    }

    @Test func handlersOfARollbackAreNotCancelled() throws {
        let connection = try table()
        let token = AccessToken()
        let count = Lock(-1)
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                try db.inTransaction {
                    db.afterNextTransaction { _ in
                    } onRollback: { db in
                        count.withLock { $0 = (try? Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")) ?? -2 }
                    }
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    token.cancel()
                    return .commit
                }
            }
        }
        #expect(count.withLock { $0 } == 1)
    }
}

import Quarry
import QuarryIncrementalWrites
import Testing

@Suite struct TransactionsSamples {
    let dbQueue: DatabaseQueue

    init() throws {
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
                    INSERT INTO account VALUES (1, 100), (2, 0);
                    """)
        }
    }

    var balances: [Int] {
        get throws {
            try dbQueue.read { db in try Int.fetchAll(db, sql: "SELECT balance FROM account ORDER BY id") }
        }
    }

    @Test func write() throws {
        try dbQueue.write { db in
            try db.execute(sql: "UPDATE account SET balance = balance - 10 WHERE id = 1")
            try db.execute(sql: "UPDATE account SET balance = balance + 10 WHERE id = 2")
        }
        #expect(try balances == [90, 10])
    }

    @Test func rollback() throws {
        try dbQueue.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "DELETE FROM account")
                return .rollback  // or .commit
            }
        }
        #expect(try balances == [100, 0])
    }

    @Test func savepoint() throws {
        try dbQueue.write { db in
            try db.execute(sql: "UPDATE account SET balance = balance + 1")
            try? db.inSavepoint {
                try db.execute(sql: "UPDATE account SET balance = balance - 50")  // account 2 can't
                return .commit
            }
            // The first update remains.
        }
        #expect(try balances == [101, 1])
    }

    @Test func incrementalWrites() async throws {
        let print = { @Sendable (_: Any...) in }
        try await dbQueue.write { db in
            try db.execute(sql: "CREATE TABLE event (id INTEGER PRIMARY KEY, day INTEGER)")
            for day in 0..<30 { try db.execute(sql: "INSERT INTO event (day) VALUES (?)", arguments: [day]) }
        }
        let result = try await dbQueue.writeIncrementally { step in
            try step.db.execute(sql: "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE day < 20 LIMIT 5)")
            return step.db.changesCount == 0 ? .done : .next
        }
        print("\(result.stepCount) steps in \(result.transactionCount) transactions")
        #expect(result.stepCount == 5)
        try await dbQueue.writeIncrementally(20..<30) { db, day in
            try db.execute(sql: "INSERT INTO event (day) VALUES (?)", arguments: [day])
        }
        let count = try await dbQueue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM event") }
        #expect(count == 20)
    }

    @Test func completion() async throws {
        let (events, continuation) = AsyncStream<String>.makeStream()
        try await dbQueue.write { db in
            db.afterNextTransaction(
                onCommit: { _ in continuation.yield("committed") },
                onRollback: { _ in continuation.yield("rolled back") })
            try db.execute(sql: "UPDATE account SET balance = 5 WHERE id = 2")
        }
        continuation.finish()
        #expect(await events.reduce(into: []) { $0.append($1) } == ["committed"])
    }

    @Test func aborted() throws {
        let error = #expect(throws: DatabaseError.self) {
            try dbQueue.write { db in
                try? db.execute(sql: "INSERT OR ROLLBACK INTO account VALUES (1, 0)")  // ends the transaction
                try db.execute(sql: "UPDATE account SET balance = 0")  // throws SQLITE_ABORT
            }
        }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(try balances == [100, 0])
    }

    @Test func readOnly() throws {
        let error = #expect(throws: DatabaseError.self) {
            try dbQueue.write { db in
                try db.readOnly {
                    try db.execute(sql: "DELETE FROM account")  // throws SQLITE_READONLY
                }
            }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }
}

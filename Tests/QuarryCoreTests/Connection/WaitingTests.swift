import Foundation
import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Waiting: locks, deadlines, interruptions")
struct WaitingTests {
    /// Each look at a deadline takes a millisecond.
    private let clock = ManualMonotonicClock(tick: .milliseconds(1))

    /// Runs `body` while another connection holds the write lock of the same file.
    private func withLockedFile(
        _ mode: Database.BusyMode, statementTimeout: Double? = nil,
        _ body: (Database, _ holder: Database) throws -> Void
    ) throws {
        try withTemporaryFolder { folder throws in
            let holder = try TestConnection(path: folder + "/db")
            try holder.access { try $0.execute(sql: "CREATE TABLE t (a)") }
            var options = ConnectionOptions()
            options.busyMode = mode
            options.statementTimeout = statementTimeout
            options.monotonicClock = clock.monotonicClock
            let connection = try TestConnection(path: folder + "/db", options: options)
            try holder.access { holder in
                try holder.beginTransaction()
                try connection.access { db in try body(db, holder) }
                try holder.rollback()
            }
        }
    }

    private let insert = "INSERT INTO t VALUES (1)"

    @Test func immediateErrorDoesNotWait() throws {
        try withLockedFile(.immediateError) { db, holder throws in
            expectError(.SQLITE_BUSY, "database is locked", sql: insert) { try db.execute(sql: insert) }
            expectError(.SQLITE_BUSY, "database is locked", sql: "BEGIN IMMEDIATE TRANSACTION") {
                try db.inTransaction { .commit }
            }
            // Reading needs no write lock.
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
            try holder.commit()
            try db.execute(sql: insert)
            try holder.beginTransaction()
        }
    }

    @Test func timeoutEndsTheWaitWithTheError() throws {
        try withLockedFile(.timeout(0.02)) { db, _ throws in
            var tries = 0
            _ = db.hooks.onBusy { _ in
                tries += 1
                return true
            }
            expectError(.SQLITE_BUSY, "database is locked", sql: insert) { try db.execute(sql: insert) }
            #expect(tries > 1)
        }
        try withLockedFile(.timeout(0)) { db, _ throws in
            expectError(.SQLITE_BUSY) { try db.execute(sql: insert) }
        }
    }

    @Test func waitEndsWithTheLock() throws {
        try withLockedFile(.timeout(3600)) { db, holder throws in
            _ = db.hooks.onBusy { tries in
                // The holder's connection belongs to this thread too.
                if tries == 2 { try? holder.commit() }
                return true
            }
            try db.execute(sql: insert)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 1)
            try holder.beginTransaction()
        }
    }

    @Test func callbackIsToldTheTriesAndDecides() throws {
        let tries = Lock<[Int]>([])
        try withLockedFile(
            .callback { number in
                tries.withLock { $0.append(number) }
                return number < 3
            }
        ) { db, _ throws in
            expectError(.SQLITE_BUSY, "database is locked", sql: insert) { try db.execute(sql: insert) }
            #expect(tries.withLock { $0 } == [0, 1, 2, 3])
        }
    }

    @Test func accessThatMustNotWaitFailsAtOnce() throws {
        try withLockedFile(.timeout(3600)) { db, _ throws in
            db.refusesToWait = true
            expectError(.SQLITE_BUSY) { try db.execute(sql: insert) }
            db.refusesToWait = false
        }
    }

    // MARK: - Deadlines of statements

    private func withTimeout(_ seconds: Double, _ body: (Database) throws -> Void) throws {
        var options = ConnectionOptions()
        options.statementTimeout = seconds
        options.monotonicClock = clock.monotonicClock
        try TestConnection(options: options).access(body)
    }

    @Test func statementTimeoutCountsTheWaitForALock() throws {
        for mode in [Database.BusyMode.timeout(3600), .callback { _ in true }] {
            try withLockedFile(mode, statementTimeout: 0.05) { db, holder throws in
                for _ in 0..<2 {
                    expectError(
                        .SQLITE_INTERRUPT, "statement timeout: it waited for a lock for longer than 0.05 seconds",
                        sql: insert
                    ) { try db.execute(sql: insert) }
                    expectError(
                        .SQLITE_INTERRUPT, "statement timeout: it waited for a lock for longer than 0.05 seconds",
                        sql: "BEGIN IMMEDIATE TRANSACTION"
                    ) { try db.inTransaction { .commit } }
                }
                try holder.rollback()
                try db.execute(sql: insert)
                try holder.beginTransaction()
            }
        }
    }

    @Test func timeoutOfAnEndedStatementIsNotTheNextOne() throws {
        try withLockedFile(.timeout(3600), statementTimeout: 0.01) { db, holder throws in
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete")
            try holder.rollback()
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal")
            try db.execute(sql: insert)
            try holder.beginTransaction()
            try holder.execute(sql: insert)
            expectError(.SQLITE_INTERRUPT) { try db.execute(sql: insert) }
            var tries = 0
            _ = db.hooks.onBusy { _ in
                tries += 1
                // Longer than the statement's time has passed.
                if tries == 4 { try? holder.commit() }
                return true
            }
            try db.checkpoint(.full)
            #expect(tries == 4)
            try holder.beginTransaction()
        }
    }

    @Test func statementTimeoutThrowsWithItsSQLAndLimit() throws {
        try withTimeout(0.02) { db throws in
            for _ in 0..<2 {
                let error = expectError(
                    .SQLITE_INTERRUPT, "statement timeout: it ran longer than 0.02 seconds", sql: endlessSQL
                ) { try db.execute(sql: endlessSQL) }
                #expect(error?.isInterruptionError == true)
                expectError(.SQLITE_INTERRUPT) { try Int.fetchAll(db, sql: endlessSQL) }
                #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
            }
        }
    }

    @Test func statementTimeoutRollsItsTransactionBack() throws {
        try withTimeout(0.02) { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            expectError(
                .SQLITE_INTERRUPT, "statement timeout: it ran longer than 0.02 seconds",
                sql: "INSERT INTO t " + endlessSQL
            ) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO t VALUES (1)")
                    try db.execute(sql: "INSERT INTO t " + endlessSQL)
                    return .commit
                }
            }
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
        }
    }

    @Test func otherInterruptionIsNoTimeout() throws {
        try withTimeout(3600) { db throws in
            let client = db.hooks.onProgress { false }
            expectError(.SQLITE_INTERRUPT, "interrupted", sql: endlessSQL) { try db.execute(sql: endlessSQL) }
            db.hooks.remove(client)
        }
    }

    // MARK: - Interruptions

    @Test func interruptEndsTheRunningStatementAlone() throws {
        let connection = try TestConnection()
        let running = DispatchSemaphore(value: 0)
        let database = connection.database
        let interrupter = OtherThread {
            running.wait()
            database.interrupt()
        }
        try connection.access { db throws in
            var hasSignalled = false
            _ = db.hooks.onProgress {
                if !hasSignalled { running.signal() }
                hasSignalled = true
                return true
            }
            let error = expectError(.SQLITE_INTERRUPT, "interrupted", sql: endlessSQL) {
                try db.execute(sql: endlessSQL)
            }
            #expect(error?.isInterruptionError == true)
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
        try interrupter.join()
        database.interrupt()
        try connection.access { db throws in #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1) }
    }

    @Test func interruptionRollsBackWithOpenCursors() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            var kept: FetchCursor<Int>?
            expectError(.SQLITE_INTERRUPT) {
                try db.inTransaction {
                    kept = try Int.fetchCursor(db, sql: "SELECT a FROM t")
                    _ = try kept?.next()
                    db.interrupt()
                    try db.execute(sql: "DELETE FROM t")
                    return .commit
                }
            }
            #expect(!db.isInsideTransaction)
            // It doesn't begin again.
            expectError(
                .SQLITE_MISUSE, "The cursor has ended: its statement has been run again, or its access has ended.",
                sql: "SELECT a FROM t"
            ) { try kept?.next() }
            kept = nil
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2, 3])
        }
    }
}

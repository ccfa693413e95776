import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// How a pool gets its file into WAL mode, and shares it.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct WALTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Reads come first: nothing has been written by the pool.
    @Test(arguments: [true, false]) func aFileThatHasAnotherJournal(isEmpty: Bool) throws {
        let path = folder.file("a.sqlite")
        if !isEmpty {
            let queue = try DatabaseQueue(path: path)
            try queue.makeTable(1)
            #expect(try queue.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "delete")
            try queue.close()
        }
        for _ in 0..<3 {
            let pool = try DatabasePool(path: path)
            let count = try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }
            #expect(count == (isEmpty ? 0 : 1))
            let snapshot = try pool.makeSnapshot()
            #expect(try snapshot.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } == "wal")
            try snapshot.close()
            try pool.close()
        }
    }

    @Test func aDatabaseWithoutLog() throws {
        // Without a path, the journal is a file or in memory: SQLite's versions differ.
        let queue = try DatabaseQueue(path: "")
        let unnamed = try #require(try queue.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") })
        for (path, mode) in [(":memory:", "memory"), ("", unnamed)] {
            let error = expectError(.SQLITE_ERROR, "could not activate WAL Mode at path: \(path)") {
                try DatabasePool(path: path)
            }
            let reason = mode == "memory" ? ": a pool needs a file." : " (its journal mode is \(mode))"
            #expect(error?.description.contains("at path: \(path)" + reason) == true)
        }
    }

    /// SQLite doesn't always ask the busy handler while the journal is switched: the pool tries again by itself.
    @Test func aFileThatIsLocked() async throws {
        let path = folder.file("a.sqlite")
        let holder = try DatabaseQueue(path: path)
        try await holder.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        let hasLock = Step("a lock is taken")
        let mayRelease = Step("the pool finds it taken")
        let reader = OwnThread {
            try holder.read { db in
                _ = try db.values()
                hasLock.reach()
                try mayRelease.wait()
            }
        }
        try await hasLock.reached()
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        let trace = Recorded(0)
        configuration.prepareDatabase { db in
            _ = db.hooks.onTrace(.statements) { event in
                guard case .statement(_, let text) = event else { return }
                guard String(cString: text) == "PRAGMA main.journal_mode = WAL" else { return }
                let count = trace.update { count in
                    count += 1
                    return count
                }
                // The first try has failed.
                if count == 2 { mayRelease.reach() }
            }
        }
        let opened = configuration
        let pool = try await onOwnThread { try DatabasePool(path: path, configuration: opened) }
        #expect(try await pool.read { db in try db.values() } == [])
        #expect(trace.value >= 2)
        try await reader.value
    }

    /// A process that can't write needs the log and its index; opening makes them, and writes nothing into them.
    @Test func theLogIsThereAfterOpening() throws {
        let path = folder.file("a.sqlite")
        let size: (String) throws -> UInt64 = { suffix in
            try #require(FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? UInt64)
        }
        for _ in 0..<2 {
            let pool = try DatabasePool(path: path)
            #expect(FileManager.default.fileExists(atPath: path + "-shm"))
            #expect(try size("-wal") == 0)
            try pool.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    /// Many pools on one new file, at a time.
    @Test func manyPoolsOnANewFile() async throws {
        let path = folder.file("a.sqlite")
        let threads = (0..<8).map { index in
            OwnThread {
                let pool = try DatabasePool(path: path)
                try pool.write { db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a INTEGER)")
                    try db.insert(index)
                }
                return try pool.read { db in try db.values().contains(index) }
            }
        }
        for thread in threads { #expect(try await thread.value) }
        let pool = try DatabasePool(path: path)
        #expect(try await pool.read { db in try db.values() } == Array(0..<8))
    }

    #if os(Linux) || os(macOS)
    /// Another process writes to the same file: both see what is committed, and none loses anything.
    @Test func twoProcesses() async throws {
        let path = folder.file("a.sqlite")
        let pool = try DatabasePool(path: path)
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
        // The child finds the file by the folder's path, which it inherits.
        setenv("QUARRY_TEST_FILE", path, 1)
        async let child = #expect(processExitsWith: .success) {
            let path = try #require(ProcessInfo.processInfo.environment["QUARRY_TEST_FILE"])
            let pool = try DatabasePool(path: path)
            for index in 0..<100 {
                try await pool.write { db in try db.insert(1_000 + index) }
                let found = try await pool.read { db in
                    try Int.fetchOne(db, sql: "SELECT a FROM t WHERE a = ?", arguments: [1_000 + index])
                }
                guard found == 1_000 + index else { exit(2) }
            }
        }
        for index in 0..<100 {
            try await pool.write { db in try db.insert(index) }
            let found = try await pool.read { db in
                try Int.fetchOne(db, sql: "SELECT a FROM t WHERE a = ?", arguments: [index])
            }
            #expect(found == index)
        }
        _ = await child
        #expect(try await pool.read { db in try db.values() } == Array(0..<100) + Array(1_000..<1_100))
        #expect(
            try await pool.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") } == ["ok"])
    }
    #endif

    @Test func transactionDates() async throws {
        let seconds = Recorded(0.0)
        var configuration = Configuration()
        configuration.clock = { _ in
            seconds.update { seconds in
                seconds += 1
                return seconds
            }
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        try await pool.write { db in
            let first = try db.secondsOfTransaction
            let second = try db.secondsOfTransaction
            #expect(first == second, "one date in a transaction")
        }
        try await pool.writeWithoutTransaction { db in
            let first = try db.secondsOfTransaction
            let second = try db.secondsOfTransaction
            #expect(first < second, "the date of now outside of it")
        }
        try await pool.read { db in
            let first = try db.secondsOfTransaction
            let second = try db.secondsOfTransaction
            #expect(first == second)
        }
    }
}

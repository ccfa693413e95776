import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport

/// Files that others have locked, and disks that are full, read-only, or fail.
extension BadInput {
    static let faults: [BadInput] = [
        .pool(
            "a lock of another process",
            """
            SQLITE_BUSY: database is locked: FOLDER/b.sqlite, by another connection (another process or pool?), \
            while Configuration.busyMode is .immediateError - while executing `BEGIN IMMEDIATE TRANSACTION`
            """
        ) { _, folder in
            let (holder, queue) = try lockedPair(folder)
            defer { try? holder.writeWithoutTransaction { db in try db.rollback() } }
            try queue.write { db in try db.execute(sql: "DELETE FROM player") }
        },
        .pool(
            "a lock that is needed for a commit",
            """
            SQLITE_BUSY: database is locked: FOLDER/b.sqlite, by another connection (another process or pool?), \
            while Configuration.busyMode is .immediateError - while executing `COMMIT TRANSACTION`
            """
        ) { _, folder in
            let (holder, queue) = try lockedPair(folder, "BEGIN; SELECT * FROM player")
            defer { try? holder.writeWithoutTransaction { db in try db.rollback() } }
            try queue.write { db in try db.execute(sql: "DELETE FROM player") }
        },
        .pool(
            "a lock that keeps readers out",
            """
            SQLITE_BUSY: database is locked: FOLDER/b.sqlite, by another connection (another process or pool?), \
            while Configuration.busyMode is .immediateError - while executing `SELECT * FROM player`
            """
        ) { _, folder in
            let (holder, queue) = try lockedPair(folder, "BEGIN EXCLUSIVE")
            defer { try? holder.writeWithoutTransaction { db in try db.rollback() } }
            try queue.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM player") }
        },
        .pool(
            "a file that another process has locked when it is opened",
            "SQLITE_BUSY: database is locked - while opening FOLDER/b.sqlite"
        ) { _, folder in
            let (holder, _) = try lockedPair(folder, "BEGIN EXCLUSIVE")
            defer { try? holder.writeWithoutTransaction { db in try db.rollback() } }
            _ = try DatabaseQueue(path: folder.file("b.sqlite"), configuration: impatient)
        },
        .pool(
            "a lock of the pool's writer",
            """
            SQLITE_BUSY: database is locked: FOLDER/a.sqlite, by another connection (another process or pool?), \
            while Configuration.busyMode is .immediateError - while executing `BEGIN IMMEDIATE TRANSACTION`
            """
        ) { pool, folder in
            try pool.write { _ in
                try DatabaseQueue(path: folder.file("a.sqlite"), configuration: impatient).write { _ in }
            }
        },
        .pool(
            "a read that has to become a write too late",
            "SQLITE_BUSY_SNAPSHOT: database is locked - while executing `UPDATE player SET score = 7`"
        ) { pool, folder in
            let other = try DatabaseQueue(path: folder.file("a.sqlite"), configuration: impatient)
            try other.writeWithoutTransaction { db in
                try db.inTransaction(.deferred) {
                    _ = try Row.fetchAll(db, sql: "SELECT * FROM player")
                    try pool.write { db in try db.execute(sql: "UPDATE player SET score = 101 WHERE id = 1") }
                    try db.execute(sql: "UPDATE player SET score = 7")
                    return .commit
                }
            }
        },
        .pool(
            "a busy callback that gives up",
            """
            SQLITE_BUSY: database is locked: FOLDER/b.sqlite, by another connection (another process or pool?) - \
            while executing `BEGIN IMMEDIATE TRANSACTION`
            """
        ) { _, folder in
            let (holder, _) = try lockedPair(folder)
            defer { try? holder.writeWithoutTransaction { db in try db.rollback() } }
            var configuration = Configuration()
            configuration.busyMode = .callback { $0 < 3 }
            try DatabaseQueue(path: folder.file("b.sqlite"), configuration: configuration).write { _ in }
        },
        .pool(
            "a shared cache that another connection has locked",
            """
            SQLITE_LOCKED_SHAREDCACHE: database schema is locked: main - while executing `BEGIN DEFERRED \
            TRANSACTION`
            """
        ) { _, _ in
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            let name = "bad-input-\(UUID().uuidString)"
            let one = try DatabaseQueue(named: name, configuration: configuration)
            let two = try DatabaseQueue(named: name, configuration: configuration)
            try one.write { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                try two.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM sqlite_master") }
            }
        },
        .pool(
            "a disk that is full",
            "SQLITE_FULL: database or disk is full - while executing `UPDATE player SET score = 7`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                faults.arm(.write, nth: 1, code: .SQLITE_FULL, andAllAfter: true)
                try queue.write { db in try db.execute(sql: "UPDATE player SET score = 7") }
            }
        },
        .pool(
            "a disk that is full at the commit of the last page",
            "SQLITE_FULL: database or disk is full - while executing `COMMIT TRANSACTION`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                try queue.write { db in
                    try db.execute(sql: "INSERT INTO team (name) VALUES ('Greens')")
                    faults.arm(.write, nth: 1, code: .SQLITE_FULL, andAllAfter: true)
                }
            }
        },
        .pool(
            "a disk that can't be read",
            "SQLITE_IOERR_READ: disk I/O error - while executing `SELECT * FROM player`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                try queue.writeWithoutTransaction { db in
                    db.releaseMemory()
                    faults.arm(.read, nth: 1, andAllAfter: true)
                    _ = try Row.fetchAll(db, sql: "SELECT * FROM player")
                }
            }
        },
        .pool(
            "a disk that doesn't sync",
            "SQLITE_IOERR_FSYNC: disk I/O error - while executing `COMMIT TRANSACTION`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                faults.arm(.sync, nth: 1, andAllAfter: true)
                try queue.write { db in try db.execute(sql: "UPDATE player SET score = 7") }
            }
        },
        .pool(
            "a disk that is read-only",
            """
            SQLITE_READONLY: attempt to write a readonly database - while executing `UPDATE player SET score = 7`
            """
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                faults.arm([.open, .write], nth: 1, code: .SQLITE_READONLY, andAllAfter: true)
                try queue.write { db in try db.execute(sql: "UPDATE player SET score = 7") }
            }
        },
        .pool(
            "a journal that can't be deleted",
            "SQLITE_IOERR_DELETE: disk I/O error - while executing `COMMIT TRANSACTION`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                faults.arm(.delete, nth: 1, andAllAfter: true)
                try queue.write { db in try db.execute(sql: "UPDATE player SET score = 7") }
            }
        },
        .pool(
            "a file that can't be opened for a while",
            "SQLITE_CANTOPEN: unable to open database file - while opening FOLDER/c.sqlite"
        ) { _, folder in
            let faults = try FaultVFS()
            faults.arm(.open, nth: 1)
            defer { faults.disarm() }
            var configuration = Configuration()
            configuration.vfs = faults.name
            _ = try DatabaseQueue(path: folder.file("c.sqlite"), configuration: configuration)
        },
        .pool(
            "a file whose locks fail",
            "SQLITE_IOERR_LOCK: disk I/O error - while executing `SELECT * FROM player`"
        ) { _, folder in
            try withFaults(folder) { faults, queue in
                faults.arm(.lock, nth: 1, andAllAfter: true)
                _ = try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
            }
        },
        .pool(
            "a database without room for another page",
            "SQLITE_FULL: database or disk is full - while executing `UPDATE player SET photo = zeroblob(100000)`"
        ) { pool, _ in
            try pool.writeWithoutTransaction { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count")!
                try db.execute(sql: "PRAGMA max_page_count = \(pages)")
                defer { try? db.execute(sql: "PRAGMA max_page_count = 1000000") }
                try db.execute(sql: "UPDATE player SET photo = zeroblob(100000)")
            }
        },
        .pool(
            "a checkpoint that a reader is in the way of",
            "SQLITE_BUSY: checkpoint of main in FOLDER/a.sqlite: database is locked"
        ) { pool, _ in
            try pool.read { db in
                _ = try Row.fetchAll(db, sql: "SELECT * FROM player")
                try pool.writeWithoutTransaction { db in
                    try db.execute(sql: "UPDATE player SET score = 100 WHERE id = 1; PRAGMA busy_timeout = 0")
                    try db.checkpoint(.truncate)
                }
            }
        },
        .pool(
            "a checkpoint in a transaction",
            "SQLITE_LOCKED: checkpoint of main in FOLDER/a.sqlite: database table is locked"
        ) { pool, _ in
            try pool.write { db in
                try db.execute(sql: "UPDATE player SET score = 100 WHERE id = 1")
                try db.checkpoint(.full)
            }
        },
        .queue(
            "a statement that runs too long",
            """
            SQLITE_INTERRUPT: statement timeout: it ran longer than 0.01 seconds - while executing `WITH \
            RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)\\nSELECT n FROM numbers WHERE \
            n < 0`
            """
        ) { _ in
            var configuration = Configuration()
            configuration.statementTimeout = 0.01
            configuration.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
            try DatabaseQueue(configuration: configuration).read { db in try db.runUntilTimeout() }
        },
        .pool(
            "more than may wait",
            """
            SQLITE_BUSY: too many accesses wait for the connection of waiting: at most 0 may \
            (Configuration.maximumWaiters)
            """
        ) { _, folder in
            var configuration = Configuration()
            configuration.maximumWaiters = 0
            configuration.label = "waiting"
            let other = try DatabaseQueue(path: folder.file("b.sqlite"), configuration: configuration)
            try other.read { _ in try onOtherThread { try other.read { _ in } } }
        },
        .pool(
            "a connection that isn't free in time",
            """
            SQLITE_BUSY: timeout while waiting for the connection of waiting: none was free within 0.0 seconds \
            (Configuration.acquireTimeout)
            """
        ) { _, folder in
            var configuration = Configuration()
            configuration.acquireTimeout = 0
            configuration.label = "waiting"
            let other = try DatabaseQueue(path: folder.file("b.sqlite"), configuration: configuration)
            try other.read { _ in try onOtherThread { try other.read { _ in } } }
        },
    ]

    private static var impatient: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        return configuration
    }

    /// Two queues on a file, the first of which has run some SQL that locks it.
    private static func lockedPair(
        _ folder: TemporaryFolder, _ sql: String = "BEGIN IMMEDIATE"
    ) throws -> (DatabaseQueue, DatabaseQueue) {
        var configuration = impatient
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: folder.file("b.sqlite"), configuration: configuration)
        try holder.write(makeTables)
        let queue = try DatabaseQueue(path: folder.file("b.sqlite"), configuration: impatient)
        try holder.writeWithoutTransaction { db in
            if sql.hasPrefix("BEGIN;") {
                // A reader whose cursor is open keeps its lock until its transaction ends.
                try db.beginTransaction(.deferred)
                _ = try Row.fetchAll(db, sql: "SELECT * FROM player")
            } else {
                try db.execute(sql: sql)
            }
        }
        return (holder, queue)
    }

    /// A queue on a file whose disk fails on demand, and which works afterwards.
    private static func withFaults(
        _ folder: TemporaryFolder, _ body: (FaultVFS, DatabaseQueue) throws -> Void
    ) throws {
        let faults = try FaultVFS()
        var configuration = Configuration()
        configuration.vfs = faults.name
        let queue = try DatabaseQueue(path: folder.file("faulty.sqlite"), configuration: configuration)
        try queue.write(makeTables)
        defer { faults.disarm() }
        do {
            try body(faults, queue)
        } catch {
            faults.disarm()
            try queue.write(probe)
            throw error
        }
    }
}

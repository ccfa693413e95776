import Foundation
import Quarry
import QuarryReplica

/// Four threads write, while a copy of the database in another file follows the commits; says the number of
/// transactions that the copy has after each step, until it is killed.
///
/// - parameter rounds: the number of steps after which the writers stop, and the copy has to be the same as the
///   database; nil for a process that is killed.
func replay(path: String, copy: String, rounds: Int?) throws {
    let pool = try DatabasePool(path: path)
    try pool.write { db in
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS clock (n INTEGER NOT NULL);
                INSERT INTO clock SELECT 0 WHERE NOT EXISTS (SELECT * FROM clock);
                CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, b BLOB);
                CREATE TABLE IF NOT EXISTS country (code TEXT PRIMARY KEY, n) WITHOUT ROWID;
                """)
    }
    let reader = try pool.makeStableReader(keys: true)
    // The numbers of commits begin anew with each process: all is copied.
    let replica = try DatabaseReplica(of: reader, path: copy)
    let writers = Writers()
    for index in 0..<4 { Thread.detachNewThread { writers.run(pool, index) } }
    var step = 0
    while step < rounds ?? .max {
        try replica.apply(try reader.advance().changes, from: reader)
        if let difference = try replica.difference(from: reader) { throw Wrong(difference) }
        say(try replica.copy.read { db in try Int.fetchOne(db, sql: "SELECT n FROM clock") ?? 0 })
        step += 1
    }
    writers.stop()
    try replica.apply(try reader.advance().changes, from: reader)
    if let difference = try replica.difference(from: pool) { throw Wrong(difference) }
    say("same")
}

/// The threads that write.
private final class Writers: @unchecked Sendable {
    // Sendable: the lock guards both fields.
    private let lock = NSCondition()
    private var runningCount = 4
    private var isStopped = false

    func run(_ pool: DatabasePool, _ index: Int) {
        do {
            while lock.withLock({ !isStopped }) {
                try pool.write { db in try change(db, index) }
                if Int.random(in: 0..<40) == 0 { try pool.vacuum() }
            }
        } catch {
            fail("\(error)")
        }
        lock.withLock {
            runningCount -= 1
            lock.broadcast()
        }
    }

    /// Waits until no thread writes.
    func stop() {
        lock.withLock {
            isStopped = true
            while runningCount > 0 { lock.wait() }
        }
    }

    private func change(_ db: Database, _ index: Int) throws {
        try db.execute(sql: "UPDATE clock SET n = n + 1")
        let number = Int.random(in: 1...60)
        switch Int.random(in: 0..<6) {
        case 0: try db.execute(sql: "DELETE FROM t WHERE id > ?", arguments: [number])
        case 1: try db.execute(sql: "DELETE FROM country")
        case 2:
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS own\(index);
                    CREATE TABLE own\(index) (a, b\(number)); INSERT INTO own\(index) VALUES (1, 2), (3, 4);
                    """)
        case 3:
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM t")
                return .rollback
            }
        default:
            try db.execute(sql: "REPLACE INTO t VALUES (?, randomblob(?))", arguments: [number, number * 50])
            try db.execute(sql: "REPLACE INTO country VALUES ('c' || ?, random())", arguments: [number])
        }
    }
}

import Foundation
import Quarry

/// Writes, reads and observes a file that other processes use in the same way, and says the number of each of its
/// commits, until it is killed or has done enough.
///
/// Each process adds rows to one table, moves amounts between two, and reads that their sum has stayed. A line is said
/// after each commit, so each line is a promise.
///
/// - parameter storesNumbers: whether the file keeps the number of the last commit: then each must be higher by one
///   than the id of the commit's row.
/// - parameter rounds: the number of commits; nil to write until it is killed.
func follow(path: String, kind: DatabaseKind, name: String, storesNumbers: Bool, rounds: Int?) throws {
    var configuration = Configuration()
    if storesNumbers { configuration.commitNumbers = .stored }
    let writer = try kind.open(path, configuration)
    let seen = SeenCount()
    let cancellable = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1
    }.start(
        in: writer, scheduling: .task, onError: { error in fail("observation: \(error)") },
        onChange: { seen.note($0) })
    var number = try writer.read { db in
        try Int.fetchOne(db, sql: "SELECT MAX(n) FROM entry WHERE name = ?", arguments: [name]) ?? 0
    }
    var round = 0
    while round < rounds ?? .max {
        number += 1
        round += 1
        let own = number
        if round.isMultiple(of: 3) {
            let (id, commitNumber) = try writer.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO entry (name, n) VALUES (?, ?)", arguments: [name, own])
                return (db.lastInsertedRowID, writer.lastCommitNumber.rawValue)
            }
            if storesNumbers, commitNumber != Int(id) + 1 { throw Wrong("row \(id) has number \(commitNumber)") }
        } else {
            let (id, commitNumber) = try writer.writeWithCommitNumber { db in
                let amount = Int.random(in: 1...9)
                try db.execute(sql: "UPDATE account SET amount = amount - ? WHERE id = 1", arguments: [amount])
                try db.execute(sql: "INSERT INTO entry (name, n) VALUES (?, ?)", arguments: [name, own])
                let id = db.lastInsertedRowID
                try db.execute(sql: "UPDATE account SET amount = amount + ? WHERE id = 2", arguments: [amount])
                return id
            }
            if storesNumbers, commitNumber.rawValue != Int(id) + 1 {
                throw Wrong("row \(id) has number \(commitNumber)")
            }
        }
        say("\(name) \(number)")
        let (sum, count) = try writer.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT SUM(amount) FROM account") ?? -1,
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1
            )
        }
        guard sum == 1000 else { throw Wrong("the sum is \(sum)") }
        if storesNumbers {
            let (stored, count) = try writer.read { db in
                (
                    try Int.fetchOne(db, sql: "SELECT CAST(number AS INTEGER) FROM grdb_commit_number") ?? -1,
                    try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1
                )
            }
            // The first commit has made the tables.
            guard stored == count + 1 else { throw Wrong("the file has number \(stored) with \(count) rows") }
        }
        // The observation sees this state, without another commit.
        if round.isMultiple(of: 5) { try seen.wait(for: count) }
        if round.isMultiple(of: 17) { try writer.vacuum() }
    }
    // All others may have ended: the truth is seen without another write.
    let count = try writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1 }
    try seen.wait(for: count)
    cancellable.cancel()
    try writer.close()
    say("done")
}

/// Observes a file that others write, and says each value, until its input is closed. Then it says the last one.
func watch(path: String, kind: DatabaseKind) throws {
    let writer = try kind.open(path)
    let seen = SeenCount()
    let cancellable = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1
    }.start(
        in: writer, scheduling: .task, onError: { error in fail("observation: \(error)") },
        onChange: { seen.note($0) })
    try seen.wait(for: 0)
    say("ready")
    waitForStart()
    let count = try writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") ?? -1 }
    try seen.wait(for: count)
    say("saw \(count)")
    cancellable.cancel()
    try writer.close()
}

/// The largest count that an observation has delivered: counts never shrink.
private final class SeenCount: @unchecked Sendable {
    // Sendable: the lock guards the field.
    private let lock = NSCondition()
    private var count = -1

    func note(_ value: Int) {
        lock.withLock {
            if value < count { fail("the observation went back from \(count) to \(value)") }
            count = value
            lock.broadcast()
        }
    }

    func wait(for value: Int) throws {
        let end = Date(timeIntervalSinceNow: 60)
        try lock.withLock {
            while count < value {
                guard lock.wait(until: end) else { throw Wrong("the observation is at \(count), not at \(value)") }
            }
        }
    }
}

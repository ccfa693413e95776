import Quarry
import QuarryTestSupport

/// The actions of threads in the bank: all synchronous accesses.
enum ThreadAction: String, CaseIterable {
    case write, unsafeWrite, barrier, read, unsafeRead, reentrantRead, snapshotRead
    case makeSnapshot, makeSnapshotPool, dropSnapshot, closeSnapshot
    case backup, checkpoint, releaseMemory, interruptSnapshot, misuse

    /// How often each is done.
    private var weight: Int {
        switch self {
        case .write, .read: 8
        case .unsafeWrite, .barrier, .unsafeRead, .reentrantRead, .snapshotRead, .misuse: 2
        default: 1
        }
    }

    static let weighted = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
}

extension Bank {
    /// A thread: one action after the other.
    func runThread(_ seed: UInt64, _ index: Int, until end: UInt64, _ shelf: SnapshotShelf) {
        var generator = SeededGenerator(seed: seed, index: 1_000_000 + index)
        while goesOn(until: end) {
            let action = ThreadAction.weighted.randomElement(using: &generator) ?? .read
            let entry = shelf.pick(&generator)
            do {
                try performHere(action, &generator, shelf, entry)
            } catch {
                var expected = entry?.expected ?? []
                if action == .checkpoint, (error as? DatabaseError)?.resultCode == .SQLITE_BUSY,
                    Refusal(error) == nil
                {
                    // Readers don't let it finish.
                    continue
                }
                if action == .closeSnapshot { expected.insert(.closed) }
                note(error, in: "\(action.rawValue) of a thread", expected: expected)
            }
        }
    }

    private func performHere(
        _ action: ThreadAction, _ generator: inout SeededGenerator, _ shelf: SnapshotShelf,
        _ entry: SnapshotShelf.Entry?
    ) throws {
        switch action {
        case .write, .unsafeWrite, .barrier:
            try moveHere(action, transfer(&generator))
        case .read:
            try writer.read { db in _ = try look(db) }
        case .unsafeRead:
            try writer.unsafeRead { db in try glance(db) }
        case .reentrantRead:
            try writer.read { db in
                try look(db)
                try writer.unsafeReentrantRead { inner in
                    if inner !== db { fault("a reentrant read has another connection") }
                    try look(inner)
                }
            }
        case .snapshotRead:
            try entry?.reader.reentrantRead { db in
                try entry?.look(self, db)
                try entry?.reader.reentrantRead { db in try entry?.look(self, db) }
            }
        case .makeSnapshot:
            if let pool = writer as? DatabasePool { shelf.put(try pool.makeSnapshot(), &generator) }
        case .makeSnapshotPool:
            if let pool = writer as? DatabasePool { shelf.put(try pool.makeSnapshotPool(), &generator) }
        case .dropSnapshot:
            _ = shelf.take()
        case .closeSnapshot:
            try entry?.close()
        case .interruptSnapshot:
            entry?.reader.interrupt()
        case .backup:
            try backup(&generator)
        case .checkpoint:
            let mode = [Database.CheckpointMode.passive, .full, .restart, .truncate].randomElement(using: &generator)
            try writer.writeWithoutTransaction { db in _ = try db.checkpoint(mode ?? .passive) }
        case .releaseMemory:
            if let pool = writer as? DatabasePool { pool.releaseMemory() }
            if let queue = writer as? DatabaseQueue { queue.releaseMemory() }
        case .misuse:
            try misuse(&generator)
        }
    }

    private func moveHere(_ action: ThreadAction, _ transfer: Transfer) throws {
        try settleHere(transfer) {
            switch action {
            case .barrier:
                try writer.barrierWriteWithoutTransaction { db in
                    try db.inTransaction(.exclusive) {
                        try transfer.run(db)
                        return .commit
                    }
                }
            case .unsafeWrite:
                try writer.writeWithoutTransaction { db in
                    try writer.unsafeReentrantWrite { inner in
                        if inner !== db { fault("a reentrant write has another connection") }
                        try inner.inSavepoint {
                            try transfer.run(inner)
                            return .commit
                        }
                    }
                }
            default:
                try writer.write { db in try transfer.run(db) }
            }
        }
    }

    /// Copies the bank while it works: the copy has all the money.
    private func backup(_ generator: inout SeededGenerator) throws {
        let copy = try DatabaseQueue()
        var steps = 0
        try writer.backup(to: copy, pagesPerStep: generator.isOne(in: 2) ? 2 : -1) { _ in steps += 1 }
        if steps == 0 { fault("a backup without a step") }
        try copy.read { db in _ = try look(db) }
    }

    /// Does what must not be done: each time the error says so, and the connection works on.
    private func misuse(_ generator: inout SeededGenerator) throws {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            try writer.read { db in
                expectMisuse("Database methods are not reentrant.") { try writer.read { _ in } }
                try look(db)
            }
        case 1:
            try writer.writeWithoutTransaction { db in
                expectMisuse("Database methods are not reentrant.") { try writer.write { _ in } }
            }
        case 2:
            try writer.read { db in
                expectMisuse("Database methods are not reentrant.") {
                    try writer.barrierWriteWithoutTransaction { _ in }
                }
                try look(db)
            }
        case 3:
            var escaped: Database?
            try writer.read { db in escaped = db }
            // Another access may have it now, on another thread.
            let messages = [
                "Database was used outside of its access.", "Database was not used on the correct thread.",
                "Connection is closed",
            ]
            do {
                try escaped?.execute(sql: "DELETE FROM account")
                fault("a connection was used after its access")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                if !messages.contains(error.message ?? "") { fault("\(error)") }
            }
        case 4:
            do {
                try writer.read { db in
                    try db.execute(sql: "DELETE FROM account")
                    fault("a read has written")
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
                if error.message != "attempt to write a readonly database" { fault("\(error)") }
            }
        default:
            do {
                try writer.writeWithoutTransaction { db in
                    try db.beginTransaction()
                    try db.execute(sql: "DELETE FROM account")
                }
                fault("a transaction was left open")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE && Refusal(error) == nil {
                let message = "A transaction has been left open at the end of a database access."
                if error.message != message { fault("\(error)") }
            }
        }
    }

    private func expectMisuse(_ message: String, _ body: () throws -> Void) {
        do {
            try body()
            fault("misuse has succeeded")
        } catch let error as DatabaseError {
            if error.resultCode != .SQLITE_MISUSE || error.message != message { fault("misuse: \(error)") }
        } catch {
            fault("misuse: \(error)")
        }
    }
}

import Quarry
import QuarryTestSupport

/// The actions of tasks in the bank: all asynchronous accesses.
enum TaskAction: String, CaseIterable {
    case write, writeAndLook, rollBack, savepoint, asyncWrite, asyncWriteWithoutTransaction
    case barrier, asyncBarrier, concurrentRead
    case read, asyncRead, unsafeRead, asyncUnsafeRead, snapshot
    case interrupt, dropConnections

    /// How often each is done.
    private var weight: Int {
        switch self {
        case .write, .read: 8
        case .asyncWrite, .asyncRead, .writeAndLook, .snapshot: 4
        case .barrier, .asyncBarrier, .rollBack, .savepoint, .asyncWriteWithoutTransaction: 2
        case .concurrentRead, .unsafeRead, .asyncUnsafeRead: 2
        case .interrupt, .dropConnections: 1
        }
    }

    static let weighted = allCases.flatMap { Array(repeating: $0, count: $0.weight) }
}

extension Bank {
    /// A task: one action after the other, each in a task of its own, some of which are cancelled.
    func runTask(_ seed: UInt64, _ index: Int, until end: UInt64, _ shelf: SnapshotShelf) async {
        var generator = SeededGenerator(seed: seed, index: index)
        while goesOn(until: end) {
            let action = TaskAction.weighted.randomElement(using: &generator) ?? .read
            let patience = generator.isOne(in: 4) ? Int.random(in: 0..<60, using: &generator) : nil
            let entry = action == .snapshot ? shelf.pick(&generator) : nil
            let step = SeededGenerator(seed: generator.next())
            let task = Task {
                var step = step
                try await perform(action, &step, entry)
            }
            if let patience {
                for _ in 0..<patience { await Task.yield() }
                task.cancel()
            }
            do {
                try await task.value
            } catch {
                var expected: Set<Refusal> = patience == nil ? [] : [.cancelled]
                if let entry { expected.formUnion(entry.expected) }
                // Where it may not wait, it gets a connection that refuses.
                if action == .asyncWriteWithoutTransaction, allowed.contains(.acquireTimeout) {
                    expected.insert(.foreignConnection)
                }
                note(error, in: action.rawValue, expected: expected)
            }
        }
    }

    private func perform(
        _ action: TaskAction, _ generator: inout SeededGenerator, _ entry: SnapshotShelf.Entry?
    ) async throws {
        switch action {
        case .write, .writeAndLook, .rollBack, .savepoint, .asyncWrite, .asyncWriteWithoutTransaction, .barrier,
            .asyncBarrier:
            try await move(action, transfer(&generator))
        case .concurrentRead:
            try await concurrentRead(transfer(&generator), transfer(&generator))
        case .snapshot:
            guard let entry else { return }
            try await entry.reader.read { db in try entry.look(self, db) }
        case .read:
            try await writer.read { db in _ = try look(db) }
        case .unsafeRead:
            try await writer.unsafeRead { db in try glance(db) }
        case .asyncRead:
            try await completion { done in
                writer.asyncRead { result in done(Result { _ = try self.look(try result.get()) }) }
            }.get()
        case .asyncUnsafeRead:
            try await completion { done in
                writer.asyncUnsafeRead { result in done(Result { try self.glance(try result.get()) }) }
            }.get()
        case .interrupt:
            writer.interrupt()
        case .dropConnections:
            guard let pool = writer as? DatabasePool else { return }
            if generator.isOne(in: 2) { pool.invalidateReadOnlyConnections() } else { pool.releaseMemoryEventually() }
        }
    }

    /// Moves money in one of the ways there are.
    private func move(_ action: TaskAction, _ transfer: Transfer) async throws {
        switch action {
        case .rollBack:
            // Refused, as the bank sees it, whatever happens.
            try? await settle(transfer) {
                try await writer.writeWithoutTransaction { db in
                    try db.inTransaction {
                        try transfer.run(db)
                        return .rollback
                    }
                }
                throw Poor()
            }
        case .savepoint:
            try await settle(transfer) {
                try await writer.write { db in
                    try db.inSavepoint {
                        try transfer.run(db)
                        return .rollback
                    }
                    try db.inSavepoint {
                        try transfer.run(db)
                        return .commit
                    }
                }
            }
        case .asyncWrite:
            try await settle(transfer) {
                try await completion { done in
                    writer.asyncWrite { db in
                        try transfer.run(db)
                    } completion: { _, result in
                        done(result)
                    }
                }.get()
            }
        case .asyncWriteWithoutTransaction:
            try await settle(transfer) {
                try await completion { done in
                    writer.asyncWriteWithoutTransaction { db in
                        done(Result { try self.moveInTransaction(db, transfer) })
                    }
                }.get()
            }
        case .barrier:
            try await settle(transfer) {
                try await writer.barrierWriteWithoutTransaction { db in try moveInTransaction(db, transfer) }
            }
        case .asyncBarrier:
            try await settle(transfer) {
                try await completion { done in
                    writer.asyncBarrierWriteWithoutTransaction { result in
                        done(Result { try self.moveInTransaction(try result.get(), transfer) })
                    }
                }.get()
            }
        default:
            try await settle(transfer) { try await writer.write { db in try transfer.run(db) } }
            guard action == .writeAndLook else { return }
            // All later reads see an acknowledged transfer.
            let isThere = try await writer.read { db in try self.has(transfer, db) }
            if !isThere { fault("transfer \(transfer.id) is acknowledged, and a later read doesn't see it") }
        }
    }

    /// Reads between two transfers of one write: the first is seen, the second isn't.
    private func concurrentRead(_ first: Transfer, _ second: Transfer) async throws {
        let read = Callback()
        let write: Result<Void, any Error>
        do {
            try await writer.writeWithoutTransaction { db in
                try settleHere(first) { try moveInTransaction(db, first) }
                read.willCome()
                writer.spawnConcurrentRead { result in
                    read.call(
                        Result {
                            let db = try result.get()
                            try self.look(db)
                            if try !self.has(first, db) { self.fault("a concurrent read sees too little") }
                            if try self.has(second, db) { self.fault("a concurrent read sees too much") }
                        })
                }
                try settleHere(second) { try moveInTransaction(db, second) }
            }
            write = .success(())
        } catch {
            write = .failure(error)
        }
        // Whatever becomes of the write: the read calls back, once. A queue reads in the write, which may be cancelled.
        if case .failure(let error) = await read.outcome() {
            note(error, in: "a concurrent read", expected: [.cancelled])
        }
        if read.count > 1 { fault("a concurrent read has called back \(read.count) times") }
        try write.get()
    }

    private func moveInTransaction(_ db: Database, _ transfer: Transfer) throws {
        try db.inTransaction {
            try transfer.run(db)
            return .commit
        }
    }
}

/// A call that comes later, once, if it comes at all: waiting for it can't be cancelled.
private final class Callback: Sendable {
    private struct State {
        var isExpected = false
        var count = 0
        var result = Result<Void, any Error>.success(())
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Recorded(State())

    /// From now on it has to come.
    func willCome() { state.update { $0.isExpected = true } }

    func call(_ result: Result<Void, any Error>) {
        let waiter = state.update { state in
            state.count += 1
            state.result = result
            return state.waiter.take()
        }
        waiter?.resume()
    }

    var count: Int { state.value.count }

    /// Waits for it, if it has to come.
    func outcome() async -> Result<Void, any Error> {
        await withCheckedContinuation { continuation in
            let isOver = state.update { state in
                guard state.isExpected, state.count == 0 else { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
        return state.value.result
    }
}

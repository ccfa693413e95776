import Quarry
import QuarryFixtures
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Readers that see one state until they advance.
@Suite struct StableReaderTests {
    let folder = try! TemporaryFolder()

    private func makePool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable()
        return pool
    }

    /// YapDatabase's example of snapshot numbers.
    @Test func numbersOfConnections() async throws {
        let pool = try makePool()
        let (first, second) = (try await pool.makeStableReader(), try await pool.makeStableReader())
        let start = pool.lastCommitNumber.rawValue
        func numbers() -> [Int] {
            [pool.lastCommitNumber, first.commitNumber, second.commitNumber].map { $0.rawValue - start }
        }
        #expect(numbers() == [0, 0, 0])
        try pool.add(1)
        #expect(numbers() == [1, 0, 0])
        try await first.advance()
        try await second.advance()
        #expect(numbers() == [1, 1, 1])
        let (begun, mayCommit) = (Step("the write has begun"), Step("the write may commit"))
        let writing = Task.detached {
            try await pool.writeWithCommitNumber { db in
                try db.insert(2)
                begun.reach()
                try mayCommit.wait()
            }.commitNumber
        }
        try await until("the write has begun") { begun.isReached }
        // Taking the newest state doesn't wait for the write, and doesn't see it.
        #expect(try await first.advance().isEmpty)
        #expect(numbers() == [1, 1, 1])
        mayCommit.reach()
        #expect(try await writing.value.rawValue == start + 2)
        #expect(numbers() == [2, 1, 1])
        #expect(try await second.read { db in try db.count() } == 1)
        #expect(try await second.advance(to: pool.lastCommitNumber).map(\.number.rawValue) == [start + 2])
        #expect(try await second.read { db in try db.count() } == 2)
        #expect(numbers() == [2, 1, 2])
    }

    @Test func advancingReturnsTheCommitsInBetween() async throws {
        let pool = try makePool()
        let reader = try await pool.makeStableReader(keys: true)
        #expect(try await reader.advance().isEmpty)
        for value in 1...3 { try pool.add(value) }
        #expect(try await reader.read { db in try db.count() } == 0)
        let commits = try await reader.advance()
        #expect(commits.map(\.changes.description) == ["t(*)", "t(*)", "t(*)"])
        #expect(commits.changes.changedKeys(in: "t") == [1: .inserted, 2: .inserted, 3: .inserted])
        #expect(try await reader.read { db in try db.count() } == 3)
        #expect(try await reader.advance().isEmpty)
        try reader.close()
        await #expect(throws: DatabaseError.self) { try await reader.advance() }
        await #expect(throws: DatabaseError.self) { try await reader.read { _ in } }
        try pool.add(4)
    }

    /// Nobody has recorded the keys of a write that began before the reader was made.
    @Test func theCommitOfAWriteThatRunsAlreadyMayHaveChangedEverything() async throws {
        let pool = try makePool()
        let (begun, mayCommit) = (Step("the write has begun"), Step("the write may commit"))
        let writing = Task.detached {
            try await pool.write { db in
                try db.insert(1)
                begun.reach()
                try mayCommit.wait()
            }
        }
        try await until("the write has begun") { begun.isReached }
        let reader = try await pool.makeStableReader(keys: true)
        mayCommit.reach()
        try await writing.value
        try pool.add(2)
        let commits = try await reader.advance()
        #expect(commits.map { $0.changes.changedKeys(in: "t") } == [nil, [2: .inserted]])
        #expect(commits.changes.changedKeys(in: "t") == nil)
        #expect(
            commits.changes.containsChange(in: "other") && commits[0].changes.isUnknown && !commits[1].changes.isUnknown
        )
        #expect(try await reader.read { db in try db.count() } == 2)
    }

    @Test func misuse() throws {
        let pool = try makePool()
        let reader = try pool.makeStableReader(bufferingAtMost: 2)
        _ = try reader.read { _ in #expect(throws: DatabaseError.self) { try reader.advance() } }
        #expect(throws: DatabaseError.self) { try pool.write { _ in _ = try pool.makeStableReader() } }
        for value in 1...5 { try pool.add(value) }
        #expect(try reader.advance().map(\.source) == [.missed, .database, .database])
        // SQL that ends the transaction loses the state, until the reader advances.
        try? reader.read { db in try db.execute(sql: "COMMIT") }
        #expect(throws: DatabaseError.self) { try reader.read { db in try db.count() } }
        try reader.advance()
        #expect(try reader.read { db in try db.count() } == 5)
        try pool.close()
        #expect(throws: DatabaseError.self) { try pool.makeStableReader() }
    }

    /// A reader keeps its state when its pool is closed, and learns of no other.
    @Test func aReaderOfAClosedPoolCannotAdvance() async throws {
        let pool = try makePool()
        let reader = try await pool.makeStableReader()
        let state = reader.commitNumber
        try pool.add(1)
        let number = pool.lastCommitNumber
        try pool.close()
        let other = try DatabasePool(path: folder.file("a.sqlite"))
        try other.add(2)
        for _ in 0..<2 {
            #expect(try await reader.read { db in try db.count() } == 0)
            expectError(.SQLITE_MISUSE, "Connection is closed") { try reader.advance() }
            await expectError(.SQLITE_MISUSE, "Connection is closed") { try await reader.advance() }
            await expectError(.SQLITE_MISUSE, "Connection is closed") { try await reader.advance(to: number) }
        }
        #expect(reader.commitNumber == state)
        try reader.close()
        #expect(throws: DatabaseError.self) { try reader.read { db in try db.count() } }
    }

    /// The article's copy of a table, whose key ignores case.
    @Test func aCopyFollowsKeysThatIgnoreCase() throws {
        let pool = try makePool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY, name)")
            try db.execute(sql: "INSERT INTO country VALUES ('fr', 'France'), ('de', 'Germany')")
        }
        let reader = try pool.makeStableReader(keys: true)
        func row(_ key: RowKey) throws -> Row? {
            try reader.read { db in
                try Row.fetchOne(db, sql: "SELECT * FROM country WHERE code = ?", arguments: [key.values[0]])
            }
        }
        var copy = try ["fr", "de"].reduce(into: [RowKey: Row]()) { copy, key in copy[key] = try row(key) }
        try pool.write { db in try db.execute(sql: "UPDATE country SET code = upper(code) WHERE code = 'fr'") }
        let changes = try reader.advance().changes.changedKeys(in: "country") ?? [:]
        #expect(changes == ["fr": .deleted, "FR": .inserted])
        for (key, change) in changes { copy[key] = try change == .deleted ? nil : row(key) }
        #expect(copy == ["FR": ["code": "FR", "name": "France"], "de": ["code": "de", "name": "Germany"]])
    }

    /// A reader that can't ask the connection that writes, since that is in use without a transaction, counts a commit
    /// of others, which may have changed everything; once it can ask, it counts exactly.
    @Test func aConnectionThatStaysInUse() async throws {
        let pool = try makePool()
        let other = try DatabasePool(path: folder.file("a.sqlite"))
        let reader = try await pool.makeStableReader(keys: true)
        pool.core.journal.settlingTime.store(0, ordering: .relaxed)
        let (isInUse, mayEnd) = (Step("the connection is in use"), Step("the access may end"))
        let holder = OwnThread {
            try pool.writeWithoutTransaction { _ in
                isInUse.reach()
                try mayEnd.wait()
            }
        }
        try await isInUse.reached()
        try await onOwnThread { try other.add(1) }
        let commits = try await reader.advance()
        #expect(commits.map(\.source) == [.other])
        #expect(commits.changes.changedKeys(in: "t") == nil)
        #expect(try await reader.read { db in try db.count() } == 1)
        mayEnd.reach()
        try await holder.value
        pool.core.journal.settlingTime.store(60_000_000_000, ordering: .relaxed)
        // The connection itself notices the commit when it is used next, so it may be told once more.
        try await pool.write { _ in }
        try await reader.advance()
        try await pool.write { db in try db.insert(2) }
        #expect(try await reader.advance().map(\.source) == [.database])
    }

    @Test func severalReadersOfOneState() async throws {
        let pool = try makePool()
        let stopped = Step("stopped")
        let writing = Task.detached {
            var value = 0
            while !stopped.isReached {
                value += 1
                try pool.add(value)
            }
        }
        for _ in 0..<30 {
            let readers = try pool.makeStableReaders(count: 4)
            let counts = try readers.map { try $0.read { db in try db.count() } }
            #expect(Set(counts).count == 1 && Set(readers.map(\.commitNumber)).count == 1)
        }
        stopped.reach()
        try await writing.value
    }

    /// The commits that a reader gets, applied to its first state, give its last one.
    @Test func readersThatAdvanceAtRandom() async throws {
        let pool = try makePool()
        // A busy machine stops the thread that writes for longer than a reader usually waits to learn if another
        // connection has committed: it would then count a commit that may have changed everything.
        pool.core.journal.settlingTime.store(60_000_000_000, ordering: .relaxed)
        let seed = SeededGenerator().seed
        print("seed \(seed)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed + UInt64(number))
                    for _ in 0..<150 {
                        let (key, kind) = (
                            Int.random(in: 1...20, using: &generator), Int.random(in: 0..<5, using: &generator)
                        )
                        try? await pool.write { db in
                            switch kind {
                            case 0: try db.execute(sql: "DELETE FROM t WHERE rowid = \(key)")
                            case 1: try db.execute(sql: "DELETE FROM t WHERE rowid > 15")
                            case 2:
                                try db.inSavepoint {
                                    try db.execute(sql: "DELETE FROM t")
                                    return .rollback
                                }
                            default:
                                try db.execute(
                                    sql: "REPLACE INTO t (rowid, a) VALUES (\(key), \(Int.random(in: 0..<1_000)))")
                            }
                            if kind == 4, key == 1 { throw CancellationError() }
                        }
                    }
                }
            }
            for number in 4..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed + UInt64(number))
                    let reader = try await pool.makeStableReader(keys: true)
                    func rows() throws -> [Int64: Int] {
                        try reader.read { db in
                            let rows = try Row.fetchAll(db, sql: "SELECT rowid, a FROM t")
                            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Int64, $0[1] as Int) })
                        }
                    }
                    let start = reader.commitNumber.rawValue
                    var (copy, last) = (try rows(), start)
                    for _ in 0..<60 {
                        let commits = try await reader.advance()
                        #expect(
                            commits.map(\.number.rawValue) == Array(last..<reader.commitNumber.rawValue).map { $0 + 1 },
                            "seed \(seed)")
                        last = reader.commitNumber.rawValue
                        let state = try rows()
                        let unknown = commits.filter { $0.changes.changedKeys(in: "t") == nil }
                        // The keys of a write that ran when the first reader was made.
                        #expect(unknown.allSatisfy { $0.number.rawValue == start + 1 }, "seed \(seed)")
                        if !unknown.isEmpty { copy = state }
                        for key in (commits.changes.changedKeys(in: "t") ?? [:]).keys {
                            let id = try #require(Int64.fromDatabaseValue(key.values[0]))
                            copy[id] = state[id]
                        }
                        #expect(copy == state, "seed \(seed)")
                        for _ in 0..<Int.random(in: 0..<30, using: &generator) { await Task.yield() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

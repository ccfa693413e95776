import Foundation
import Quarry
import QuarryFixtures
import QuarryOutbox
import QuarryTestSupport
import Synchronization
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Commits of other queues and pools on the same file, which are the same to SQLite as those of other processes.
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct OtherProcessesTests {
    private let folder = try! TemporaryFolder(isFast: true)

    /// The kinds of databases that others may write.
    static let kinds: [WriterKind] = [.fileQueue, .walQueue, .pool, .anyPool]

    private func pair(
        _ kind: WriterKind, _ configuration: Configuration = Configuration()
    ) throws -> (own: any DatabaseWriter, other: any DatabaseWriter) {
        let own = try kind.make(folder, configuration)
        try own.makeTable()
        return (own, try kind.make(folder))
    }

    private func counts(_ own: any DatabaseReader) -> (Recorded<[Int]>, AnyDatabaseCancellable) {
        let values = Recorded<[Int]>([])
        let cancellable = ValueObservation.tracking { db in try db.count() }.start(
            in: own, scheduling: .task, onError: { Issue.record($0) },
            onChange: { value in values.update { $0.append(value) } })
        return (values, cancellable)
    }

    @Test(arguments: kinds, [OtherProcesses.watched, .polled(every: 0.01)])
    func anObservationFollowsThem(_ kind: WriterKind, _ setting: OtherProcesses) async throws {
        var configuration = Configuration()
        configuration.otherProcesses = setting
        let (own, other) = try pair(kind, configuration)
        let (values, cancellable) = counts(own)
        try await until("the first value") { values.value == [0] }
        for count in 1...10 {
            try await other.write { db in try db.insert(count) }
            try await until("commit \(count)") { values.value.last == count }
        }
        // Both write.
        for count in 6...10 {
            try await own.write { db in try db.insert(count) }
            try await other.write { db in try db.insert(count) }
            try await until("both") { values.value.last == 2 * count }
        }
        cancellable.cancel()
        // No watch is left.
        let watch = own.groupReader?.core.journal.watch
        try await until("the end of the watch") { watch?.isWatching == false }
        try await onOwnThread {
            try own.close()
            try other.close()
        }
    }

    @Test(arguments: kinds) func theyAreInTheSequence(_ kind: WriterKind) async throws {
        let (own, other) = try pair(kind)
        var commits = own.commits(keys: true).makeAsyncIterator()
        try await other.write { db in try db.insert(1) }
        let first = try #require(await commits.next())
        #expect(first.source == .other && first.changes.isUnknown && first.origin == nil)
        #expect(first.changes.changedKeys(in: "t") == nil)
        // A write finds them before its own, without a wait.
        try await other.write { db in try db.insert(2) }
        let (count, number) = try await own.writeWithCommitNumber { db in
            try db.insert(3)
            return try db.count()
        }
        #expect(count == 3)
        let (second, third) = (try #require(await commits.next()), try #require(await commits.next()))
        #expect(second.source == .other && third.source == .database)
        #expect(second.number < third.number && third.number == number)
        #expect(third.changes.changedKeys(in: "t") == [3: .inserted])
        // So does a statement outside a transaction.
        try await other.write { db in try db.insert(4) }
        try await own.writeWithoutTransaction { db in try db.insert(5) }
        let (fourth, fifth) = (try #require(await commits.next()), try #require(await commits.next()))
        #expect([fourth.source, fifth.source] == [.other, .database])
        #expect(own.lastCommitNumber == fifth.number)
        // A task waits for one.
        let next = CommitNumber(rawValue: own.lastCommitNumber.rawValue + 1)
        async let waiting: Void = own.waitForCommit(next)
        try await other.write { db in try db.insert(6) }
        try await waiting
        #expect(try await own.read { db in try db.count() } == 6)
    }

    @Test(arguments: kinds) func ownCommitsAreNeverOthers(_ kind: WriterKind) async throws {
        let own = try kind.make(folder)
        try own.makeTable()
        var commits = own.commits.makeAsyncIterator()
        for value in 0..<60 {
            switch value % 5 {
            case 0: try await own.writeWithoutTransaction { db in try db.insert(value) }
            case 1:
                try await own.writeWithoutTransaction { db in
                    try db.inTransaction(.deferred) {
                        try db.insert(value)
                        return .commit
                    }
                }
            case 2:
                try await own.write { db in
                    try db.inSavepoint {
                        try db.insert(value)
                        return .commit
                    }
                }
            case 3:
                try? await own.write { db in
                    try db.insert(-1)
                    throw CancellationError()
                }
                try await own.write { db in try db.insert(value) }
            default: try await own.write { db in try db.execute(sql: "CREATE TABLE t\(value) (a)") }
            }
        }
        for _ in 0..<60 { #expect(try #require(await commits.next()).source == .database) }
    }

    @Test(arguments: [WriterKind.fileQueue, .pool]) func theyAreIgnored(_ kind: WriterKind) async throws {
        var configuration = Configuration()
        configuration.otherProcesses = .ignored
        let (own, other) = try pair(kind, configuration)
        var commits = own.commits.makeAsyncIterator()
        try await other.write { db in try db.insert(1) }
        try await own.write { db in try db.insert(2) }
        #expect(try #require(await commits.next()).source == .database)
        #expect(own.groupReader?.core.journal.watch == nil)
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func aReadOnlyDatabaseFollowsThem(_ kind: WriterKind) async throws {
        let other = try kind.make(folder)
        try other.makeTable(1)
        var configuration = Configuration()
        configuration.readonly = true
        let path = folder.file("\(kind.rawValue).sqlite")
        let own: any DatabaseReader =
            kind == .pool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        let (values, cancellable) = counts(own)
        try await until("the first value") { values.value == [1] }
        try await other.write { db in try db.insert(2) }
        try await until("the second value") { values.value.last == 2 }
        cancellable.cancel()
    }

    @Test func memoryIsNotWatched() async throws {
        for own in [try DatabaseQueue(), try DatabaseQueue(named: "others")] {
            try own.makeTable()
            let (values, cancellable) = counts(own)
            try await own.write { db in try db.insert(1) }
            try await until("the value") { values.value.last == 1 }
            #expect(own.core.journal.watch?.isWatching != true)
            cancellable.cancel()
        }
    }

    /// The watch keeps neither the connections nor their owner.
    @Test(arguments: [WriterKind.walQueue, .pool]) func nothingIsRetained(_ kind: WriterKind) async throws {
        weak var released: (any GroupReader)?
        weak var watch: CommitWatch?
        do {
            let own = try kind.make(folder)
            _ = own.lastCommitNumber
            watch = own.groupReader?.core.journal.watch
            try await until("the watch") { watch?.isWatching ?? false }
            released = own.groupReader
        }
        try await until("the release") { released == nil && watch == nil }
        #expect(!FileManager.default.fileExists(atPath: folder.file("\(kind.rawValue).sqlite-wal")))
    }

    @Test(arguments: [WriterKind.walQueue, .pool]) func closingEndsTheWatch(_ kind: WriterKind) async throws {
        let (own, other) = try pair(kind)
        let (values, cancellable) = (Recorded<Int>(0), own.commits)
        let reading = Task { for await _ in cancellable { values.update { $0 += 1 } } }
        try await until("the watch") { own.groupReader?.core.journal.watch?.isWatching ?? false }
        try await onOwnThread { try own.close() }
        await reading.value
        #expect(own.groupReader?.core.journal.watch?.isWatching == false)
        try await other.write { db in try db.insert(1) }
    }

    /// A change of everything: schema, log and settings.
    @Test(
        arguments: [WriterKind.fileQueue, .walQueue, .pool],
        [
            "CREATE TABLE u (a); INSERT INTO t VALUES (1)",
            "BEGIN; DROP TABLE t; CREATE TABLE t (b, c); INSERT INTO t VALUES (1, 2); COMMIT",
            "INSERT INTO t VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES (1); VACUUM",
        ])
    func othersDoAsTheyLike(_ kind: WriterKind, _ sql: String) async throws {
        let (own, other) = try pair(kind)
        let (values, cancellable) = counts(own)
        try await until("the first value") { values.value == [0] }
        try await other.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try await until("the value") { values.value.last == 1 }
        try await other.write { db in try db.execute(sql: "DELETE FROM t") }
        try await until("the next value") { values.value.last == 0 }
        cancellable.cancel()
    }

    /// An observed queue that changes its journal itself.
    @Test func theJournalIsSwitched() async throws {
        let own = try DatabaseQueue(path: folder.file("a.db"))
        try own.makeTable()
        let (values, cancellable) = counts(own)
        try await until("the first value") { values.value == [0] }
        for (count, mode) in ["wal", "delete", "wal"].enumerated() {
            try await own.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = \(mode)") }
            let other = try DatabaseQueue(path: own.path)
            try await other.write { db in try db.insert(1) }
            try await until("\(mode)") { values.value.last == count + 1 }
            try await onOwnThread { try other.close() }
        }
        cancellable.cancel()
    }

    /// A snapshot asks for numbers first, and then its pool.
    @Test func numbersOfASnapshot() async throws {
        let (own, other) = try pair(.pool)
        let pool = try #require(own as? DatabasePool)
        let number = try await pool.makeSnapshotAsync().lastCommitNumber
        let next = CommitNumber(rawValue: max(number.rawValue, pool.lastCommitNumber.rawValue) + 1)
        try await other.write { db in try db.insert(1) }
        try await pool.waitForCommit(next)
    }

    // MARK: - Stable readers

    @Test func aStableReaderReturnsThem() async throws {
        let (own, other) = try pair(.pool)
        let pool = try #require(own as? DatabasePool)
        // On a busy machine the watch may keep the writer for longer than a reader waits for it, which then guesses.
        pool.core.journal.settlingTime.store(60_000_000_000, ordering: .relaxed)
        let reader = try await pool.makeStableReader(keys: true)
        #expect(try await reader.advance().isEmpty)
        for count in 1...20 {
            // Each state has the commits that were returned, and no other.
            try await other.write { db in try db.insert(count) }
            #expect(try await reader.advance().map(\.source) == [.other])
            #expect(try await reader.read { db in try db.count() } == 3 * count - 2)
            #expect(try await reader.advance().isEmpty)
            try await own.write { db in try db.insert(count) }
            try await other.write { db in try db.insert(count) }
            #expect(try await reader.advance().map(\.source) == [.database, .other])
            #expect(try await reader.read { db in try db.count() } == 3 * count)
        }
    }

    /// A write that runs has noticed the others at its beginning.
    @Test func aStableReaderWaitsForNoWrite() async throws {
        let (own, other) = try pair(.pool)
        let pool = try #require(own as? DatabasePool)
        let reader = try await pool.makeStableReader()
        try await reader.advance()
        try await until("the watch") { pool.core.journal.watch?.isWatching ?? false }
        try await other.write { db in try db.insert(1) }
        let (begun, mayEnd) = (Step("the write has begun"), Step("the write may end"))
        let write = OwnThread {
            try pool.write { db in
                begun.reach()
                try mayEnd.wait()
                try db.insert(2)
            }
        }
        try await begun.reached()
        #expect(try await reader.advance().map(\.source) == [.other])
        #expect(try await reader.advance().isEmpty)
        mayEnd.reach()
        try await write.value
        #expect(try await reader.advance().map(\.source) == [.database])
        // An access without a transaction looks at nothing.
        let (used, mayLeave) = (Step("the writer is used"), Step("the writer may be left"))
        let access = OwnThread {
            try pool.writeWithoutTransaction { _ in
                used.reach()
                try mayLeave.wait()
            }
        }
        try await used.reached()
        #expect(try await reader.advance().isEmpty)
        try await other.write { db in try db.insert(3) }
        #expect(try await reader.advance().map(\.source) == [.other])
        #expect(try await reader.read { db in try db.count() } == 3)
        mayLeave.reach()
        try await access.value
    }

    // MARK: - Outboxes

    @Test(arguments: [WriterKind.fileQueue, .pool])
    func anOutboxNoticesTheirMessages(_ kind: WriterKind) async throws {
        let (own, other) = try pair(kind)
        let outbox = Outbox<Int>("message")
        try await own.write { db in try outbox.createTables(db) }
        let delivered = Recorded<[Int]>([])
        let consumer = Task {
            // Without a commit, it would look after an hour.
            try await outbox.deliver(from: own, options: OutboxOptions(pollInterval: .seconds(3_600))) { messages in
                for message in messages { delivered.update { $0.append(message.payload) } }
            }
        }
        for number in 1...5 {
            try await other.write { db in _ = try outbox.append(number, db) }
            try await until("message \(number)") { delivered.value == Array(1...number) }
        }
        consumer.cancel()
        _ = await consumer.result
        let watch = own.groupReader?.core.journal.watch
        try await until("the end of the watch") { watch?.isWatching == false }
    }

    @Test func invalidIntervals() throws {
        var configuration = Configuration()
        configuration.otherProcesses = .polled(every: -1)
        expectError(.SQLITE_MISUSE) { try DatabaseQueue(configuration: configuration) }
    }
}

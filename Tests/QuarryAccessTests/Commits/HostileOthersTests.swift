import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Programs and other connections that do as they shouldn't: observations end at the truth nevertheless, and databases
/// close.
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct HostileOthersTests {
    private let folder = try! TemporaryFolder(isFast: true)

    private func open(_ kind: WriterKind) throws -> (own: any DatabaseWriter, other: any DatabaseWriter) {
        let own = try kind.make(folder)
        try own.makeTable()
        return (own, try kind.make(folder))
    }

    /// The last count that an observation has delivered.
    private func count(_ own: any DatabaseReader) -> (Recorded<Int>, AnyDatabaseCancellable) {
        let last = Recorded(-1)
        let cancellable = ValueObservation.tracking { db in try db.count() }.start(
            in: own, scheduling: .task, onError: { Issue.record($0) }, onChange: { value in last.update { $0 = value } }
        )
        return (last, cancellable)
    }

    private func seesAll(_ own: any DatabaseReader, _ last: Recorded<Int>) async throws {
        let truth = try await own.read { db in try db.count() }
        try await until("the truth: \(truth)") { last.value == truth }
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func transactionsEndBehindTheLibrary(_ kind: WriterKind) async throws {
        let (own, other) = try open(kind)
        let (last, cancellable) = count(own)
        for round in 0..<6 {
            try await other.write { db in try db.insert(round) }
            await #expect(throws: DatabaseError.self) {
                try await own.write { db in
                    try db.insert(-1)
                    RawSQL.execute("ROLLBACK", db)
                    try db.insert(-2)
                }
            }
            try await other.write { db in try db.insert(round) }
            try await own.writeWithoutTransaction { db in
                RawSQL.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT", db)
                try db.insert(2)
            }
            try await seesAll(own, last)
            // Nobody writes after this.
            try await other.write { db in try db.insert(round) }
            try await seesAll(own, last)
        }
        #expect(last.value == 6 * 5)
        cancellable.cancel()
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue]) func databasesAreAttached(_ kind: WriterKind) async throws {
        let (own, other) = try open(kind)
        let attached = try DatabaseQueue(path: folder.file("attached"))
        try attached.makeTable()
        var commits = own.commits.makeAsyncIterator()
        let path = attached.path
        try await own.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS two", arguments: [path])
            for _ in 0..<3 {
                try db.execute(sql: "INSERT INTO two.t VALUES (1)")
                try db.execute(sql: "BEGIN; INSERT INTO t VALUES (1); INSERT INTO two.t VALUES (2); COMMIT")
                try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO two.t VALUES (2); COMMIT")
            }
        }
        // Attaching counts as a change, too.
        for _ in 0..<10 { #expect(try #require(await commits.next()).source == .database) }
        try await other.write { db in try db.insert(1) }
        #expect(try #require(await commits.next()).source == .other)
        // An attached database isn't watched.
        try await attached.write { db in try db.insert(1) }
        try await own.write { db in try db.insert(1) }
        #expect(try #require(await commits.next()).source == .database)
    }

    @Test func anotherSwitchesTheJournal() async throws {
        let (own, other) = try open(.fileQueue)
        let (last, cancellable) = count(own)
        try await until("the first value") { last.value == 0 }
        for mode in ["wal", "delete", "persist", "wal"] {
            try? await other.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = \(mode); INSERT INTO t VALUES (1)")
            }
            try await other.write { db in try db.insert(2) }
            try await seesAll(own, last)
            try await own.write { db in try db.insert(3) }
            try await seesAll(own, last)
        }
        cancellable.cancel()
    }

    @Test(arguments: [WriterKind.fileQueue, .pool]) func theFileIsReplaced(_ kind: WriterKind) async throws {
        let (own, other) = try open(kind)
        let (last, cancellable) = count(own)
        try await other.write { db in try db.insert(1) }
        try await until("the commit") { last.value == 1 }
        try await onOwnThread { try other.close() }
        let path = own.path
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: path + ".new"))
        #expect(rename(path + ".new", path) == 0)
        // The database that is open stays the old file. SQLite refuses to write some of them.
        try? await own.write { db in try db.insert(2) }
        // A read might need another connection, which isn't opened.
        let truth = try await own.writeWithoutTransaction { db in try db.count() }
        try await until("the truth: \(truth)") { last.value == truth }
        cancellable.cancel()
        try await onOwnThread { try own.close() }
    }

    /// A file without a name can't be watched.
    @Test func theFileIsDeleted() async throws {
        let own = try DatabaseQueue(path: folder.file("deleted"))
        try own.makeTable(1)
        try FileManager.default.removeItem(atPath: own.path)
        let (last, cancellable) = count(own)
        try await until("the value") { last.value == 1 }
        try await until("it polls") { own.core.journal.watch?.isPolling ?? false }
        cancellable.cancel()
        try await onOwnThread { try own.close() }
    }

    @Test(arguments: [WriterKind.fileQueue, .walQueue, .pool])
    func databasesCloseWhileTheyAreLookedAt(_ kind: WriterKind) async throws {
        let (first, other) = try open(kind)
        try await onOwnThread { try first.close() }
        for round in 0..<30 {
            let own = try kind.make(folder)
            let reading = Task { for await _ in own.commits {} }
            let cancellable = ValueObservation.tracking { db in try db.count() }.start(
                in: own, scheduling: .task, onError: { _ in }, onChange: { _ in })
            if round.isMultiple(of: 3) { _ = own.lastCommitNumber }
            for _ in 0..<round % 4 { try await other.write { db in try db.insert(round) } }
            try await own.closeAsync()
            cancellable.cancel()
            reading.cancel()
        }
    }

    /// Two databases of one file share the system's watch of it.
    @Test func oneOfTwoEnds() async throws {
        let (own, other) = try open(.pool)
        let third = try DatabasePool(path: own.path)
        let (last, cancellable) = count(own)
        let (lastOfThird, cancellableOfThird) = count(third)
        try await other.write { db in try db.insert(1) }
        try await until("both see it") { last.value == 1 && lastOfThird.value == 1 }
        cancellableOfThird.cancel()
        try await onOwnThread { try third.close() }
        try await other.write { db in try db.insert(2) }
        try await until("one sees it") { last.value == 2 }
        cancellable.cancel()
    }

    @Test func accessesAreNested() async throws {
        let (own, other) = try open(.pool)
        let (last, cancellable) = count(own)
        try await onOwnThread {
            for round in 0..<10 {
                try own.read { db in
                    let before = try db.count()
                    try other.write { db in try db.insert(round) }
                    try own.write { db in
                        #expect(try db.count() == before + 1)
                        try db.insert(round)
                    }
                    #expect(try db.count() == before)
                }
            }
        }
        try await seesAll(own, last)
        #expect(last.value == 20)
        cancellable.cancel()
    }

    @Test(arguments: [WriterKind.fileQueue, .pool]) func tasksAreCancelled(_ kind: WriterKind) async throws {
        let (own, other) = try open(kind)
        let (last, cancellable) = count(own)
        for round in 0..<40 {
            let tasks = (0..<3).map { _ in Task { try await own.write { db in try db.insert(round) } } }
            try await other.write { db in try db.insert(round) }
            for task in tasks.dropFirst(round % 3) { task.cancel() }
            for task in tasks { _ = await task.result }
        }
        try await seesAll(own, last)
        cancellable.cancel()
    }

    /// Observers of transactions and regions see the transactions of their connection alone.
    @Test(arguments: [WriterKind.fileQueue, .pool]) func regionsAndTransactions(_ kind: WriterKind) async throws {
        let (own, other) = try open(kind)
        let regions = Recorded(0)
        let region = DatabaseRegionObservation(tracking: Table("t")).start(
            in: own, onError: { Issue.record($0) }, onChange: { _ in regions.update { $0 += 1 } })
        // The region is observed by now.
        try await own.write { _ in }
        var commits = own.commits.makeAsyncIterator()
        try await other.write { db in try db.insert(1) }
        #expect(try #require(await commits.next()).source == .other)
        try await other.write { db in try db.insert(1) }
        try await own.write { db in try db.insert(2) }
        #expect(regions.value == 1)
        region.cancel()
    }

    // MARK: - The watcher

    private final class Client: FileWatcher.Client {
        let changes = Recorded(0)
        let times = Recorded(0)
        func filesDidChange(now: UInt64) { changes.update { $0 += 1 } }
        func timeDidCome(now: UInt64) { times.update { $0 += 1 } }
    }

    #if os(Linux)
    @Test func filesAreWatched() async throws {
        let path = folder.file("watched")
        func write(_ path: String) throws { try Data([1]).write(to: URL(fileURLWithPath: path)) }
        try write(path)
        let files = FileWatcher.Files(path: path, logPath: path + "-wal", needsLog: false)
        let (first, second) = (Client(), Client())
        let registrations = [first, second].map { FileWatcher.shared.add($0) }
        for registration in registrations { #expect(registration.watch(files) && registration.isIncomplete) }
        try write(path)
        try await until("the change") { first.changes.value > 0 && second.changes.value > 0 }
        // The log comes, and is deleted.
        try write(files.logPath)
        #expect(registrations[0].watch(files) && !registrations[0].isIncomplete)
        try FileManager.default.removeItem(atPath: files.logPath)
        try await until("it is noticed") { registrations[0].isIncomplete }
        // One ends, and the other is told of changes.
        registrations[0].remove()
        let count = second.changes.value
        try write(path)
        try await until("the next change") { second.changes.value > count }
        registrations[1].wait(until: SystemClock.monotonicNanoseconds() + 1_000_000)
        try await until("the time") { second.times.value == 1 }
        registrations[1].remove()
        #expect(first.times.value == 0)
        // A missing file, and a log that has to exist.
        let missing = FileWatcher.Files(path: path + ".none", logPath: path, needsLog: false)
        let third = FileWatcher.shared.add(first)
        #expect(!third.watch(missing))
        third.remove()
        let fourth = FileWatcher.shared.add(first)
        #expect(!fourth.watch(FileWatcher.Files(path: path, logPath: path + ".none", needsLog: true)))
        fourth.remove()
    }
    #endif
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryChangesets
@testable import QuarryCore

/// Observations of a database whose changes come from changesets, or are recorded.
@Suite(.timeLimit(.minutes(5 * TestTime.factor))) struct ChangesetObservationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private static let insertion: [UInt8] = [0x54, 1, 1, 0x74, 0, 18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]

    private func observe<T: Sendable>(
        _ writer: any DatabaseWriter, _ fetch: @escaping @Sendable (Database) throws -> T
    ) -> (Received<T>, AnyDatabaseCancellable) {
        let received = Received<T>()
        let cancellable = ValueObservation.tracking(fetch).start(
            in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
        return (received, cancellable)
    }

    @Test(arguments: WriterKind.allCases) func appliedChangesAreObserved(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)") }
        let changeset = try Changeset(data: Data(Self.insertion))
        #expect(changeset.data == Data(Self.insertion))
        let (received, cancellable) = observe(writer) { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1
        }
        _ = try await received.value(1)
        try await writer.write { db in _ = try db.apply(changeset) }
        _ = try await received.value(2)
        try await writer.write { db in _ = try db.apply(changeset.inverted()) }
        #expect(try await received.value(3) == [0, 1, 0])
        cancellable.cancel()
    }

    /// An observation of one row starts before, in and after recordings: it misses no change.
    @Test(arguments: WriterKind.allCases) func recordedChangesOfARowAreObserved(_ kind: WriterKind) async throws {
        let writer = try kind.make(folder)
        try await writer.write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 0), (2, 0)")
        }
        let fetch: @Sendable (Database) throws -> Int = { db in
            try Table<Row>("t").filter(key: 1).select(Column("b"), as: Int.self).fetchOne(db) ?? -1
        }
        let (first, firstCancellable) = observe(writer, fetch)
        _ = try await first.value(1)
        let started = Recorded<[(Received<Int>, AnyDatabaseCancellable)]>([])
        let changeset = try await writer.write { db in
            try db.recordChangeset {
                try db.execute(sql: "UPDATE t SET b = 1 WHERE a = 1")
                started.update { $0.append(observe(writer, fetch)) }
                try db.execute(sql: "UPDATE t SET b = 2 WHERE a = 1")
            }.changeset
        }
        #expect(changeset.count { _ in true } == 1)
        try await until("the recorded value") { first.values.last == 2 && started.value[0].0.values.last == 2 }
        try await writer.write { db in try db.execute(sql: "UPDATE t SET b = 3 WHERE a = 1") }
        try await until("the value after it") { first.values.last == 3 && started.value[0].0.values.last == 3 }
        try await writer.write { db in _ = try db.apply(changeset.inverted()) { _ in .replace } }
        try await until("the applied value") { first.values.last == 0 && started.value[0].0.values.last == 0 }
        firstCancellable.cancel()
        started.update { $0.removeAll() }
    }

    @Test(arguments: [WriterKind.pool, .fileQueue]) func closingInsideARecordingThrows(_ kind: WriterKind) throws {
        let writer = try kind.make(folder)
        try writer.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)") }
        let changeset = try writer.write { db in
            try db.recordChangeset {
                expectError(.SQLITE_BUSY) { try writer.close() }
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }.changeset
        }
        #expect(changeset.bytes == Self.insertion)
        try writer.close()
    }

    @Test func aReaderOfAPoolComparesAndCannotApply() throws {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)") }
        let changeset = try Changeset(bytes: Self.insertion)
        try pool.read { (db) throws in
            expectError(.SQLITE_MISUSE, "a schema can't be compared with itself: main") {
                try db.changeset(from: "main", tables: ["t"])
            }
            #expect(try db.recordChangeset {}.changeset.isEmpty)
            expectError(.SQLITE_READONLY) { try db.apply(changeset) }
        }
    }
}

import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryCore

/// Observations of values whose meaning depends on the schema.
@Suite struct SchemaObservationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeTables(_ writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a); CREATE TABLE u (a); INSERT INTO u VALUES (1), (2);
                    CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS SELECT 1 AS n;
                    """)
        }
    }

    @Test(
        arguments: WriterKind.allCases,
        [
            "SELECT COUNT(*) FROM v", "SELECT EXISTS (SELECT 1 FROM v) * 2", "SELECT (SELECT COUNT(*) FROM v)",
            "SELECT COUNT(*) FROM v, w",
        ])
    func aViewThatIsDefinedAnewIsFetchedAgain(_ kind: WriterKind, _ sql: String) async throws {
        let writer = try kind.make(folder)
        try makeTables(writer)
        for constant in [false, true] {
            let received = Received<Int?>()
            let fetch: @Sendable (Database) throws -> Int? = { try Int.fetchOne($0, sql: sql) }
            let observation =
                constant ? ValueObservation.trackingConstantRegion(fetch) : ValueObservation.tracking(fetch)
            let cancellable = observation.start(
                in: writer, scheduling: .task, onError: received.onError, onChange: received.onChange)
            _ = try await received.value(1)
            try writer.change { try $0.execute(sql: "DROP VIEW v; CREATE VIEW v AS SELECT * FROM u") }
            #expect(try await received.value(2) == [0, 2])
            if !constant {
                try writer.change { try $0.execute(sql: "DELETE FROM u") }
                #expect(try await received.value(3) == [0, 2, 0])
            }
            cancellable.cancel()
            try writer.change {
                try $0.execute(
                    sql: "DROP VIEW v; CREATE VIEW v AS SELECT * FROM t; DELETE FROM u; INSERT INTO u VALUES (1), (2)")
            }
        }
    }

    @Test func aTemporaryTableThatHidesAnotherIsFetched() async throws {
        let queue = try DatabaseQueue()
        try makeTables(queue)
        let received = Received<Int?>()
        let cancellable = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }.start(
            in: queue, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await queue.write { try $0.execute(sql: "CREATE TEMP TABLE t AS SELECT * FROM u") }
        #expect(try await received.value(2) == [0, 2])
        try await queue.write { try $0.execute(sql: "DROP TABLE temp.t") }
        #expect(try await received.value(3) == [0, 2, 0])
        cancellable.cancel()
    }

    /// A connection that reads the schema for the first time doesn't observe it.
    @Test func requestsThatReadTheSchemaDoNotObserveIt() throws {
        try makeTables(DatabasePool(path: folder.file("a")))
        for number in 0..<4 {
            let pool = try DatabasePool(path: folder.file("a"))
            let region = try pool.read { db in
                try db.recordingRegion {
                    switch number {
                    case 0: _ = try Table("t").filter(key: 1).fetchOne(db)
                    case 1: _ = try Table("t").order(Column.rowID).fetchAll(db)
                    case 2: _ = try Table("t").orderByPrimaryKey().fetchAll(db)
                    default: _ = try Table("t").fetchOne(db, key: 1)
                    }
                }.region
            }
            #expect(!region.isModified(byEventsOfKind: .insert(tableName: "sqlite_master")), "\(number): \(region)")
            #expect(region.tableNames?.count == 1)
        }
        // A query of it does.
        let queue = try DatabaseQueue()
        let region = try queue.read { db in
            try db.recordingRegion { _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") }.region
        }
        #expect(region.isModified(byEventsOfKind: .insert(tableName: "sqlite_master")))
    }

    /// Rows may have come or gone.
    @Test func notifiedChangesReachCounts() async throws {
        let pool = try DatabasePool(path: folder.file("a"))
        try makeTables(pool)
        let received = Received<Int>()
        let cancellable = ValueObservation.tracking { try Table("t").fetchCount($0) }.start(
            in: pool, scheduling: .task, onError: received.onError, onChange: received.onChange)
        _ = try await received.value(1)
        try await pool.write { db in try db.notifyChanges(in: Table("t").all()) }
        #expect(try await received.value(2) == [0, 0])
        cancellable.cancel()
    }
}

import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The work that keeps a file in order.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct MaintenanceTests {
    private static func vacuuming(_ configuration: inout Configuration) {
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        }
    }

    private func deleteRows(_ log: LogOfTest) throws {
        for _ in 0..<5 { try log.write(kilobytes: 500) }
        try log.writer.write { db in try db.execute(sql: "DELETE FROM page") }
    }

    private func freePages(_ log: LogOfTest) throws -> Int {
        try log.writer.writeWithoutTransaction { db in try db.freePageCount() }
    }

    @Test(arguments: LogOfTest.kinds) func idleDatabaseIsMaintained(kind: WriterKind) async throws {
        let log = try LogOfTest(kind) {
            $0.maintenance = .init()
            $0.maintenance.interval = 0
            $0.maintenance.timeBudget = 60
            $0.maintenance.analyzes = true
            Self.vacuuming(&$0)
        }
        try await log.writer.write { db in try db.execute(sql: "CREATE INDEX i ON page (a)") }
        try deleteRows(log)
        try log.write()
        #expect(try freePages(log) > 100)
        try await until("a maintenance") {
            _ = log.keeper?.tick()
            return log.events.value.contains { if case .maintenance = $0 { true } else { false } }
        }
        #expect(try freePages(log) == 0)
        let statistics = try await log.writer.read { db in
            try String.fetchAll(db, sql: "SELECT tbl FROM sqlite_stat1")
        }
        #expect(statistics == ["page"])
        try await until("it is counted") { log.writer.walStatistics?.maintenanceCount ?? 0 > 0 }
    }

    @Test func maintenanceOnRequest() async throws {
        let log = try LogOfTest {
            $0.maintenance = .init()
            Self.vacuuming(&$0)
        }
        try deleteRows(log)
        let checkpoint = try await onOwnThread { try log.writer.maintain(for: .seconds(60)) }
        #expect(checkpoint?.reason == .requested && checkpoint?.isEmptied == true)
        #expect(try freePages(log) == 0 && log.fileSize == 0)
        try log.write()
        #expect(try await log.writer.maintain()?.isEmptied == true)
        #expect(try await AnyDatabaseWriter(log.writer).maintain()?.bytes == 0)
        #expect(log.writer.walStatistics?.checkpointCount == 3 && log.writer.walStatistics?.maintenanceCount == 3)
    }

    @Test func budgetBoundsTheWork() async throws {
        let log = try LogOfTest {
            $0.maintenance = .init()
            $0.maintenance.analyzes = true
            Self.vacuuming(&$0)
        }
        try deleteRows(log)
        let before = try freePages(log)
        _ = try await log.writer.maintain(for: .zero)
        #expect(try freePages(log) == before, "there was no time")
        // A statement that takes longer is interrupted, and the connection is as before.
        try await log.writer.writeWithoutTransaction { db throws in
            try db.interrupting(at: 0) {
                try db.execute(
                    sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n")
            }
            let error = expectError(DatabaseError.self) {
                try db.interrupting(at: .max) { try db.execute(sql: "SELECT * FROM missing") }
            }
            #expect(error?.message == "no such table: missing")
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test func maintenanceIsOff() async throws {
        let log = try LogOfTest(.pool, Self.vacuuming)
        try deleteRows(log)
        let before = try freePages(log)
        _ = try await log.checkpoint(count: 1)
        try await until("it is told") { log.writer.walStatistics?.lastCheckpoint != nil }
        #expect(try freePages(log) == before && log.writer.walStatistics?.maintenanceCount == 0)
    }
}

import Foundation
import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The errors that tracers are told of.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TracedErrorTests {
    @Test func swallowedErrorIsTold() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.errors)
        database.pool.addTracer(tracer)
        try database.pool.write { db in
            db.accessLabel = "clean up"
            _ = try? db.execute(sql: "DELETE FROM team WHERE name = 'secret'")
        }
        try #require(tracer.failures.count == 1)
        let failure = tracer.failures[0]
        #expect(failure.error.resultCode == .SQLITE_ERROR && failure.error.message == "no such table: team")
        #expect(failure.error.sql == "DELETE FROM team WHERE name = ?")
        #expect(failure.severity == .error && failure.label == "clean up" && failure.connection?.role == .writer)
    }

    /// An error that passes through several hands is told once.
    @Test func thrownErrorIsToldOnce() async throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.errors)
        database.pool.addTracer(tracer)
        let error = expectError(.SQLITE_CONSTRAINT_UNIQUE) {
            try database.pool.write { db in
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
                    return .commit
                }
            }
        }
        #expect(tracer.failures.count == 1)
        // The program gets the arguments, and tracers don't.
        #expect(error?.arguments?.isEmpty == false && tracer.failures.first?.error.arguments?.isEmpty == true)
        // An error of the library's own, through two accesses.
        expectError(.SQLITE_MISUSE, "Database methods are not reentrant.") {
            try database.pool.write { _ in try database.pool.read { _ in try database.pool.read { _ in } } }
        }
        #expect(tracer.failures.map(\.error.resultCode) == [.SQLITE_CONSTRAINT, .SQLITE_MISUSE])
        await expectError(.SQLITE_ERROR, "no such table: team") {
            try await database.pool.read { db in _ = try Row.fetchAll(db, sql: "SELECT * FROM team") }
        }
        #expect(tracer.failures.count == 3)
    }

    /// Errors of SQL that can't be prepared are delivered in parts, too: an access keeps a limited number.
    @Test func manyErrorsAreToldInParts() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.errors)
        database.pool.addTracer(tracer)
        let count = 2 * TracedEvents.capacity + 10
        let countInside = try database.pool.write { db in
            db.accessLabel = "clean up"
            for number in 0..<count { _ = try? db.execute(sql: "DELETE FROM team\(number)") }
            return tracer.failures.count
        }
        #expect(countInside == 2 * TracedEvents.capacity)
        #expect(tracer.failures.count == count)
        #expect(tracer.failures.allSatisfy { $0.label == "clean up" })
        #expect(tracer.failures.first?.error.message == "no such table: team0")
        #expect(tracer.failures.last?.error.message == "no such table: team\(count - 1)")
    }

    /// An access that has no time left when it is asked for.
    @Test func accessWithoutTimeIsTold() async throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer([.errors, .accesses])
        database.pool.addTracer(tracer)
        expectError(.SQLITE_BUSY) { try database.pool.read(timeout: .zero) { _ in } }
        await expectError(.SQLITE_BUSY) { try await database.pool.write(timeout: .seconds(-1)) { _ in } }
        #expect(
            tracer.failures.map(\.error.message) == [
                "access timeout: it can't begin within 0.0 seconds",
                "access timeout: it can't begin within -1.0 seconds",
            ])
        #expect(tracer.accesses.map(\.beginning.role) == [.reader, .writer])
        #expect(tracer.accesses.allSatisfy { $0.connection == nil && $0.hold == .zero })
    }

    /// The error that ends an access.
    @Test func outcomeIsRedacted() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.accesses)
        database.pool.addTracer(tracer)
        expectError(.SQLITE_ERROR, "no such table: team") {
            try database.pool.read { db in
                try Row.fetchAll(db, sql: "SELECT * FROM team WHERE name = 'secret' AND id = ?", arguments: [1])
            }
        }
        guard case .error(let error as DatabaseError) = try #require(tracer.accesses.first).outcome else {
            Issue.record("no error")
            return
        }
        #expect(error.sql == "SELECT * FROM team WHERE name = ? AND id = ?" && error.arguments?.isEmpty != false)
    }

    /// The severities, by the codes of errors.
    @Test(
        arguments: [
            (ResultCode.SQLITE_CORRUPT, DatabaseTraceEvent.Severity.critical), (.SQLITE_NOTADB, .critical),
            (.SQLITE_IOERR_READ, .critical), (.SQLITE_FULL, .critical), (.SQLITE_INTERRUPT, .debug),
            (.SQLITE_NOTICE, .notice), (.SQLITE_SCHEMA, .notice), (.SQLITE_WARNING, .warning),
            (.SQLITE_BUSY, .error), (.SQLITE_ERROR, .error),
        ])
    func severity(code: ResultCode, severity: DatabaseTraceEvent.Severity) {
        let error = DatabaseError(resultCode: code)
        #expect(DatabaseTraceEvent.Severity(of: error, origin: .program) == severity)
        #expect(DatabaseTraceEvent.Severity(of: error, origin: .library) == (severity == .error ? .warning : severity))
    }

    @Test func severityOfConstraints() {
        let error = DatabaseError(resultCode: .SQLITE_CONSTRAINT_UNIQUE)
        #expect(DatabaseTraceEvent.Severity(of: error, origin: .program) == .notice)
        #expect(DatabaseTraceEvent.Severity(of: error, origin: .library) == .warning)
    }

    @Test func severityOfTimeoutsAndTries() {
        let timeout = DatabaseError(
            resultCode: .SQLITE_INTERRUPT, message: "statement timeout: it ran longer than 1.0 seconds")
        #expect(DatabaseTraceEvent.Severity(of: timeout, origin: .program) == .error)
        let busy = DatabaseError(resultCode: .SQLITE_BUSY)
        #expect(DatabaseTraceEvent.Severity(of: busy, origin: .program, isRetried: true) == .notice)
    }

    /// A statement that the program stops, and one that runs too long.
    @Test func interruptionIsExpected() throws {
        let database = try TracedDatabase {
            $0.statementTimeout = 0.01
            $0.monotonicClock = ManualMonotonicClock(tick: .milliseconds(1)).monotonicClock
        }
        let tracer = RecordingTracer(.errors)
        database.pool.addTracer(tracer)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
        expectError(.SQLITE_INTERRUPT) { try database.pool.read { db in try Int.fetchOne(db, sql: endless) } }
        #expect(tracer.failures.map(\.severity) == [.error])
        tracer.forget()
        let queue = try DatabaseQueue()
        queue.addTracer(tracer)
        expectError(.SQLITE_INTERRUPT) {
            try queue.read { db in
                db.add(
                    function: DatabaseFunction("stop", argumentCount: 0) { _ in
                        queue.interrupt()
                        return 1
                    })
                return try Int.fetchAll(db, sql: "SELECT stop() UNION ALL SELECT * FROM (\(endless))")
            }
        }
        #expect(tracer.failures.map(\.severity) == [.debug])
    }

    @Test func damagedFileIsCritical() throws {
        let folder = try TemporaryFolder()
        let tracer = RecordingTracer(.errors)
        var configuration = Configuration()
        configuration.tracers = [tracer]
        let path = folder.file("db")
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
        func overwrite(at offset: UInt64) throws {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(repeating: 0xAA, count: 200))
            try file.close()
        }
        try overwrite(at: 4096)
        let damaged = try DatabaseQueue(path: path, configuration: configuration)
        _ = try? damaged.read { db in try Row.fetchAll(db, sql: "SELECT * FROM t") }
        // The SELECT, and the COMMIT of the read.
        #expect(tracer.failures.map(\.severity) == [.critical, .critical])
        #expect(tracer.failures.first?.error.resultCode == .SQLITE_CORRUPT)
        // The opening of a file that is no database.
        tracer.forget()
        try overwrite(at: 0)
        expectError(.SQLITE_NOTADB) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(tracer.failures.map(\.error.resultCode) == [.SQLITE_NOTADB])
        #expect(tracer.failures.first?.connection == nil && tracer.failures.first?.severity == .critical)
    }

    /// A reader that can't be opened is one error, not two: of the opening, and of the access.
    @Test func failedReaderIsToldOnce() throws {
        struct Setting { static let fails = Recorded(false) }
        let database = try TracedDatabase { configuration in
            configuration.prepareDatabase { _ in
                if Setting.fails.value { throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "no luck") }
            }
        }
        let tracer = RecordingTracer(.errors)
        database.pool.addTracer(tracer)
        Setting.fails.update { $0 = true }
        expectError(.SQLITE_CANTOPEN, "no luck") { try database.pool.read { _ in } }
        #expect(tracer.failures.count == 1)
    }
}

import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The statements that tracers are told of, the slow ones with their plans.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct TracedStatementTests {
    @Test func statementsAreTold() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer([.accesses, .statements])
        database.pool.addTracer(tracer)
        try database.pool.write { db in
            db.accessLabel = "scan"
            _ = try Row.fetchAll(
                db, sql: "SELECT * FROM player WHERE score > 1 AND name <> ? ORDER BY score", arguments: ["Zoe"])
        }
        let statements = tracer.statements
        #expect(
            statements.map(\.sql) == [
                "BEGIN IMMEDIATE TRANSACTION",
                "SELECT * FROM player WHERE score > ? AND name <> ? ORDER BY score", "COMMIT TRANSACTION",
            ])
        let scan = statements[1]
        #expect(scan.rowCount == 2 && scan.fullScanStepCount == 2 && scan.sortCount == 1)
        #expect(scan.virtualMachineStepCount > 10 && scan.automaticIndexRowCount == 0 && scan.repreparationCount == 0)
        #expect(scan.duration > .zero && scan.errorCode == nil && scan.expandedSQL == nil && scan.label == "scan")
        #expect(scan.connection.role == .writer && scan.database.name == "players")
        let access = try #require(tracer.accesses.first)
        #expect(access.statementCount == 3 && scan.accessID == access.beginning.id)
        #expect(scan.start.nanosecondsSinceEpoch >= access.beginning.start.nanosecondsSinceEpoch)
        #expect(scan.duration <= access.hold)
    }

    /// The counters are those of one execution, not of the statement.
    @Test func countersOfEachExecution() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.statements)
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            for _ in 0..<2 { _ = try Int.fetchAll(db, sql: "SELECT score FROM player") }
        }
        let scans = tracer.statements.filter { $0.sql.hasPrefix("SELECT") }
        #expect(scans.map(\.rowCount) == [3, 3] && scans[0].fullScanStepCount == scans[1].fullScanStepCount)
        #expect(scans[0].virtualMachineStepCount == scans[1].virtualMachineStepCount)
    }

    @Test func argumentsArePublic() throws {
        let database = try TracedDatabase { $0.publicStatementArguments = true }
        let tracer = RecordingTracer(.statements)
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT id FROM player WHERE name = ?", arguments: ["Arthur"])
        }
        let statement = try #require(tracer.statements.first { $0.sql.hasPrefix("SELECT") })
        #expect(statement.expandedSQL == "SELECT id FROM player WHERE name = 'Arthur'")
    }

    @Test func errorsOfStatements() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.statements)
        database.pool.addTracer(tracer)
        try database.pool.write { db in
            _ = try? db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
        }
        #expect(tracer.statements.map(\.errorCode) == [nil, .SQLITE_CONSTRAINT_UNIQUE, nil])
    }

    /// A cursor that isn't read to its end, one that runs inside another, and one that never takes a step.
    @Test func cursors() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.statements)
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            let outer = try Row.fetchCursor(db, sql: "SELECT * FROM player ORDER BY id")
            _ = try outer.next()
            _ = try Int.fetchAll(db, sql: "SELECT score FROM player")
            _ = try Row.fetchCursor(db, sql: "SELECT name FROM player")
            _ = try outer.next()
        }
        let told = tracer.statements.filter { $0.sql.hasPrefix("SELECT") }
        #expect(told.map(\.sql) == ["SELECT score FROM player", "SELECT * FROM player ORDER BY id"])
        #expect(told.map(\.rowCount) == [3, 2])
    }

    /// Statements that SQLite and triggers run for a statement are parts of it.
    @Test func statementsInsideStatements() throws {
        let database = try TracedDatabase()
        try database.pool.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE text USING fts5(body);
                    CREATE TRIGGER player_ai AFTER INSERT ON player BEGIN INSERT INTO text VALUES (new.name); END
                    """)
            // Safe: SQLite calls the function on the thread of this access.
            nonisolated(unsafe) let db = db
            db.add(
                function: DatabaseFunction("best", argumentCount: 0) { _ in
                    try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player")
                })
        }
        let tracer = RecordingTracer(.statements)
        database.pool.addTracer(tracer)
        try database.pool.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Zoe')")
            #expect(try Int.fetchOne(db, sql: "SELECT best()") == 3)
        }
        #expect(
            tracer.statements.map(\.sql) == [
                "BEGIN IMMEDIATE TRANSACTION", "INSERT INTO player (name) VALUES (?)",
                "SELECT MAX(score) FROM player", "SELECT best()", "COMMIT TRANSACTION",
            ])
    }

    /// The trace of the program and the tracers don't disturb each other.
    @Test func ownTraceGoesOn() throws {
        let texts = Recorded<[String]>([])
        let database = try TracedDatabase { configuration in
            configuration.prepareDatabase { db in
                db.trace(options: [.statement, .profile]) { event in
                    if case .statement(let statement) = event { texts.update { $0.append(statement.sql) } }
                }
            }
        }
        let tracer = RecordingTracer(.statements)
        let registration = database.pool.addTracer(tracer)
        for _ in 0..<2 {
            texts.update { $0 = [] }
            try database.pool.write { db in try db.execute(sql: "DELETE FROM player") }
            #expect(texts.value == ["BEGIN IMMEDIATE TRANSACTION", "DELETE FROM player", "COMMIT TRANSACTION"])
            registration.remove()
        }
        #expect(tracer.statements.count == 3)
    }

    @Test func samplingStatements() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.statements) { $0.everyNthStatement = 10 }
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            for number in 0..<27 { _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [number]) }
        }
        #expect(tracer.statements.count == 3)
    }

    // MARK: - Slow statements

    @Test func slowStatementHasItsPlan() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.slowStatements) { $0.slowStatementThreshold = .zero }
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE score > ? AND name > 'B'", arguments: [1])
        }
        let slow = try #require(tracer.slowStatements.first { $0.statement.sql.hasPrefix("SELECT") })
        #expect(slow.statement.sql == "SELECT * FROM player WHERE score > ? AND name > ?")
        #expect(slow.statement.rowCount == 2)
        #expect(slow.plan?.contains("player") == true && slow.plan?.contains("name>?") == true)
        // Control statements have no plan.
        #expect(tracer.slowStatements.first?.plan == nil)
    }

    /// Nothing else of the access shows that a plan was asked for.
    @Test func explainingDisturbsNothing() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer([.statements, .slowStatements, .errors]) { $0.slowStatementThreshold = .zero }
        database.pool.addTracer(tracer)
        let changes = try database.pool.write { db in
            try db.execute(sql: "UPDATE player SET score = 0")
            return (db.changesCount, db.totalChangesCount)
        }
        #expect(tracer.statements.map(\.sql).count == 3 && tracer.failures.isEmpty)
        #expect(changes.0 == 3)
        // A table that the access has created and rolled back.
        expectError(.SQLITE_CONSTRAINT) {
            try database.pool.write { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
                try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
            }
        }
        #expect(tracer.slowStatements.contains { $0.statement.sql == "SELECT a FROM t" && $0.plan == nil })
        #expect(tracer.failures.map(\.error.extendedResultCode) == [.SQLITE_CONSTRAINT_UNIQUE])
    }

    /// A PRAGMA would act when its plan is asked for.
    @Test func pragmaIsNotExplained() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.slowStatements) { $0.slowStatementThreshold = .zero }
        database.pool.addTracer(tracer)
        try database.pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA user_version = 1")
            try db.execute(sql: "CREATE TABLE t (a)")
        }
        #expect(tracer.slowStatements.map(\.plan) == [nil, nil])
    }

    @Test func manySlowStatements() throws {
        let database = try TracedDatabase()
        let tracer = RecordingTracer(.slowStatements) { $0.slowStatementThreshold = .zero }
        database.pool.addTracer(tracer)
        try database.pool.read { db in
            for number in 0..<1000 { _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [number]) }
        }
        #expect(tracer.slowStatements.count == 1003)
        // BEGIN and PRAGMA have no plan, and 14 of the others have one.
        #expect(tracer.slowStatements.count { $0.plan != nil } == TracedStatements.maximumSlowCount - 2)
    }

    @Test func thresholdOfEachTracer() throws {
        let database = try TracedDatabase()
        let (all, none) = (
            RecordingTracer(.slowStatements) { $0.slowStatementThreshold = .zero },
            RecordingTracer(.slowStatements) { $0.slowStatementThreshold = .seconds(100_000) }
        )
        database.pool.addTracer(all)
        database.pool.addTracer(none)
        try database.pool.read { db in _ = try Int.fetchOne(db, sql: "SELECT 1") }
        #expect(all.slowStatements.count == 4 && none.events.isEmpty)
    }
}

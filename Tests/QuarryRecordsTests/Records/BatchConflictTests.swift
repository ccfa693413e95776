import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Many records at once, in tables whose conflicts don't undo their statement.
@Suite struct BatchConflictTests {
    private struct Player: Codable, FetchableRecord, PersistableRecord { var id: Int }

    private func expectAbort<T>(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T) {
        let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { _ = try body() }
        #expect(error?.resultCode == .SQLITE_ABORT, sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        ("UNIQUE ON CONFLICT FAIL", ""), ("UNIQUE ON CONFLICT ROLLBACK", ""), ("", "TRIGGER"), ("", "TEMP TRIGGER"),
        ("UNIQUE", ""),
    ])
    func theErrorIsOfTheRecordThatFails(constraint: String, trigger: String) throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        try DatabaseQueue(configuration: configuration).writeWithoutTransaction { db throws in
            try db.execute(sql: "CREATE TABLE player (id INTEGER \(constraint))")
            if !trigger.isEmpty {
                try db.execute(
                    sql: """
                        CREATE \(trigger) guard BEFORE INSERT ON player
                        WHEN EXISTS (SELECT * FROM player WHERE id = NEW.id) BEGIN SELECT RAISE(FAIL, 'refused'); END
                        """)
            }
            var players = (1...100).map { Player(id: $0) }
            players[50] = Player(id: 7)
            let error = #expect(throws: DatabaseError.self) { try Player.insertAll(db, players) }
            #expect(error?.arguments == [7])
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            #expect(try Player.fetchCount(db) == 0)
            players[50] = Player(id: 51)
            #expect(try Player.insertAll(db, players) == 100)
        }
    }

    @Test func theNumberOfSelectedColumnsIsThatOfTheSchema() throws {
        try withTemporaryFolder { folder throws in
            let dbPool = try DatabasePool(path: folder + "/db")
            try dbPool.write { db in try db.makePlayers() }
            try dbPool.read { db throws in #expect(try Player.numberOfSelectedColumns(db) == 2) }
            try dbPool.write { db throws in
                #expect(try Player.numberOfSelectedColumns(db) == 2)
                try db.execute(sql: "ALTER TABLE player ADD COLUMN score INTEGER")
                #expect(try Player.numberOfSelectedColumns(db) == 3)
            }
            // The readers learn it from the file.
            try dbPool.read { db throws in #expect(try Player.numberOfSelectedColumns(db) == 3) }
        }
    }

    /// Each access that counts on a transaction refuses what follows its end.
    @Test func accessesWhoseTransactionSQLHasEnded() async throws {
        let dbQueue = try DatabaseQueue()
        try await dbQueue.write { db in try db.makePlayers() }
        let leave: @Sendable (Database) throws -> Void = { db in
            try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
            try db.execute(sql: "ROLLBACK")
            try Player(id: 2).insert(db)
        }
        let task = await #expect(throws: DatabaseError.self) { try await dbQueue.write(leave) }
        #expect(task?.resultCode == .SQLITE_ABORT)
        try accessesOfThreads(dbQueue, leave)
        #expect(try await dbQueue.read { db in try Player.fetchCount(db) } == 0)
        // Without a transaction of the access, SQL has its own.
        try await dbQueue.writeWithoutTransaction { db in
            try db.execute(
                sql: "BEGIN; INSERT INTO player (id) VALUES (1); COMMIT; BEGIN; DELETE FROM player; ROLLBACK")
            try Player(id: 2).insert(db)
        }
        #expect(try await dbQueue.read { db in try Player.fetchCount(db) } == 2)
    }

    private func accessesOfThreads(
        _ dbQueue: DatabaseQueue, _ leave: @escaping @Sendable (Database) throws -> Void
    ) throws {
        expectAbort { try dbQueue.write(leave) }
        expectAbort { try dbQueue.write { db in try dbQueue.unsafeReentrantWrite { _ in try leave(db) } } }
        expectAbort {
            try dbQueue.write { db in
                try db.execute(sql: "ROLLBACK")
                try Player.insertAll(db, [Player(id: 2), Player(id: 3)])
            }
        }
        try dbQueue.barrierWriteWithoutTransaction { db in
            expectAbort {
                try db.inTransaction {
                    try leave(db)
                    return .commit
                }
            }
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1", migrate: leave)
        #expect(throws: (any Error).self) { try migrator.migrate(dbQueue) }
        let applied = try dbQueue.read { db in try migrator.appliedIdentifiers(db) }
        #expect(applied.isEmpty)
    }

    @Test func snapshotsWhoseTransactionSQLHasEnded() throws {
        try withTemporaryFolder { folder throws in
            let dbPool = try DatabasePool(path: folder + "/db")
            try dbPool.write { db in try db.makePlayers() }
            let snapshot = try dbPool.makeSnapshot()
            try dbPool.write { db in try Player(id: 1).insert(db) }
            expectAbort {
                try snapshot.read { db in
                    try db.execute(sql: "COMMIT")
                    return try Player.fetchCount(db)
                }
            }
            #expect(throws: DatabaseError.self) { try snapshot.read { db in try Player.fetchCount(db) } }
        }
    }
}

import Quarry
import Testing

@Suite struct ErrorsSamples {
    let dbQueue: DatabaseQueue

    init() throws {
        dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER NOT NULL REFERENCES team(id));
                    INSERT INTO team VALUES (1, 'Reds');
                    """)
        }
    }

    enum CreationError: Error { case nameIsTaken, invalid }

    @Test func codes() throws {
        func createTeam(_ name: String?) throws {
            do {
                try dbQueue.write { db in
                    try db.execute(sql: "INSERT INTO team (name) VALUES (?)", arguments: [name])
                }
            } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
                throw CreationError.nameIsTaken
            } catch DatabaseError.SQLITE_CONSTRAINT {
                throw CreationError.invalid  // any other constraint
            }
        }
        #expect(throws: CreationError.nameIsTaken) { try createTeam("Reds") }
        #expect(throws: CreationError.invalid) { try createTeam(nil) }
        try createTeam("Blues")
    }

    @Test func content() throws {
        do {
            try dbQueue.write { db in
                try db.execute(sql: "INSERT INTO player (teamId) VALUES (?)", arguments: [7])
            }
            Issue.record("the foreign key wasn't checked")
        } catch let error as DatabaseError {
            #expect(error.resultCode == .SQLITE_CONSTRAINT)
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(error.message == "FOREIGN KEY constraint failed")
            #expect(error.sql == "INSERT INTO player (teamId) VALUES (?)")
        }
    }

    @Test func decoding() throws {
        try dbQueue.read { db in
            do {
                _ = try Int.fetchAll(db, sql: "SELECT name FROM team")
                Issue.record("text was read as an integer")
            } catch let error as RowDecodingError {
                #expect(error.description.hasPrefix(#"could not decode Int from database value TEXT"#))
            }
        }
    }
}

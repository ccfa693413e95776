import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct TraceTests {
    @Test func statements() throws {
        try withConnection { (db) throws in
            var events: [String] = []
            var expanded: [String] = []
            db.trace {
                events.append($0.description)
                expanded.append($0.expandedDescription)
            }
            try db.execute(
                sql: " -- first\n CREATE TABLE t (a) ; \n INSERT INTO t VALUES (?), (?);\n",
                arguments: ["x'y\u{e9}", nil])
            #expect(events == ["-- first\n CREATE TABLE t (a)", "INSERT INTO t VALUES (?), (?)"])
            #expect(expanded == ["-- first\n CREATE TABLE t (a)", "INSERT INTO t VALUES ('x''y\u{e9}'), (NULL)"])
        }
    }

    @Test func argumentsShowWhereTheyArePublic() throws {
        var options = ConnectionOptions()
        options.publicStatementArguments = true
        try TestConnection(options: options).access { db in
            var events: [String] = []
            db.trace { event in
                events.append(event.description)
                if case .statement(let statement) = event {
                    events.append(statement.sql)
                    events.append(statement.description)
                }
            }
            _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [1])
            #expect(events == ["SELECT 1", "SELECT ?", "SELECT 1"])
        }
    }

    @Test func triggersAreComments() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a); CREATE TABLE log (b);
                    CREATE TRIGGER onInsert AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;
                    """)
            var events: [String] = []
            db.trace { event in
                guard case .statement(let statement) = event else { return }
                events += [statement.sql, statement.expandedSQL]
            }
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [1])
            #expect(
                events == [
                    "INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (1)",
                    "-- TRIGGER onInsert", "-- TRIGGER onInsert",
                    "-- INSERT INTO log VALUES (new.a)", "-- INSERT INTO log VALUES (new.a)",
                ])
        }
    }

    @Test func profiles() throws {
        try withConnection { (db) throws in
            var durations: [Double] = []
            var texts: [String] = []
            db.trace(options: .profile) { event in
                guard case .profile(let statement, let duration) = event else {
                    Issue.record("unexpected \(event)")
                    return
                }
                durations.append(duration)
                texts = [statement.sql, statement.expandedSQL, event.description, event.expandedDescription]
            }
            _ = try Int.fetchAll(db, sql: "SELECT ?", arguments: [7])
            #expect(durations.count == 1)
            #expect(durations.allSatisfy { $0 >= 0 && $0 < 3600 })
            #expect(texts.prefix(2) == ["SELECT ?", "SELECT 7"])
            let pattern = #/\d+\.\d\d\ds SELECT (\?|7)/#
            #expect(texts[2].wholeMatch(of: pattern)?.1 == "?")
            #expect(texts[3].wholeMatch(of: pattern)?.1 == "7")
        }
    }

    @Test func bothOptions() throws {
        try withConnection { (db) throws in
            var kinds: [String] = []
            db.trace(options: [.statement, .profile]) { event in
                switch event {
                case .statement: kinds.append("statement")
                case .profile: kinds.append("profile")
                }
            }
            try db.execute(sql: "SELECT 1; SELECT 2")
            #expect(kinds == ["statement", "profile", "statement", "profile"])
        }
    }

    /// An event that is kept has its texts after the statement is gone.
    @Test func eventsOutliveTheCall() throws {
        var kept: [Database.TraceEvent] = []
        try withConnection { (db) throws in
            db.trace { kept.append($0) }
            try db.execute(sql: "SELECT ?", arguments: ["a"])
        }
        #expect(kept.map(\.description) == ["SELECT ?"])
        #expect(kept.map(\.expandedDescription) == ["SELECT 'a'"])
    }

    @Test func replacedAndEnded() throws {
        try withConnection { (db) throws in
            var first: [String] = []
            var second: [String] = []
            var other = 0
            let client = db.hooks.onTrace(.statements) { _ in other += 1 }
            db.trace { first.append($0.description) }
            try db.execute(sql: "SELECT 1")
            db.trace { second.append($0.description) }
            try db.execute(sql: "SELECT 2")
            db.trace()
            try db.execute(sql: "SELECT 3")
            #expect(first == ["SELECT 1"])
            #expect(second == ["SELECT 2"])
            // Other clients of the slot stay.
            #expect(other == 3)
            db.hooks.remove(client)
            try db.execute(sql: "SELECT 4")
            #expect(other == 3)
        }
    }

    @Test func theLibrarysOwnStatementsAreNotTraced() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x); CREATE TABLE b (id, y)")
            var events: [String] = []
            db.trace(options: [.statement, .profile]) { event in
                if case .statement(let statement) = event { events.append(statement.sql) }
                if case .profile(let statement, _) = event { events.append("end of \(statement.sql)") }
            }
            // The tables of a natural join are found in the statement's program.
            let join = "SELECT * FROM a NATURAL JOIN b"
            #expect(try db.makeStatement(sql: join).databaseRegion.description == "a(*),b(*)")
            #expect(events == [])
            _ = try Row.fetchAll(db, sql: join)
            #expect(events == [join, "end of \(join)"])
        }
    }

    @Test func traceFromElsewhereFailsTheNextAccess() throws {
        let connection = try TestConnection()
        connection.database.trace { _ in Issue.record("traced") }
        #expect(throws: DatabaseError.self) { try connection.access { db in try db.execute(sql: "SELECT 1") } }
    }

    @Test func releasingAClosureMayUseTheConnection() throws {
        try withConnection { (db) throws in
            var events: [String] = []
            func trace(untilReleased action: @escaping () -> Void) {
                let observer = ReleaseObserver(action)
                db.trace { event in
                    withExtendedLifetime(observer) {}
                    events.append("first: \(event)")
                }
            }
            trace { events.append("released: \((try? Int.fetchOne(db, sql: "SELECT 1")) ?? 0)") }
            db.trace { events.append("second: \($0)") }
            #expect(events == ["released: 1"])
            events = []
            trace { db.trace { events.append("third: \($0)") } }
            db.trace { events.append("fourth: \($0)") }
            try db.execute(sql: "SELECT 2")
            #expect(events == ["fourth: SELECT 2"], "a connection has one trace")
            db.trace()
            try db.execute(sql: "SELECT 3")
            #expect(events == ["fourth: SELECT 2"])
        }
    }
}

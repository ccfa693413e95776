import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import QuarryTestSupport
import Synchronization
import Testing

/// Statements and cursors that meet others.
@Suite("Statements of a cluster", .timeLimit(.minutes(5 * TestTime.factor))) struct ClusterStatementTests {
    private static let manyRows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO player (id, name, score) SELECT i, 'Player ' || i, i FROM n
        """

    /// Values of the user's types whose conversion uses the connection.
    private struct Nested: DatabaseValueConvertible {
        let value: Int
        var databaseValue: DatabaseValue { value == 0 ? .null : value.databaseValue }
        static func fromDatabaseValue(_ value: DatabaseValue) -> Nested? {
            if value.isNull { return Nested(value: 0) }
            return Int.fromDatabaseValue(value).map(Nested.init)
        }
    }

    @Test func openCursors() throws {
        try PoolComparison().expectSame("two cursors of many rows in turn") { db in
            try db.execute(sql: Self.manyRows)
            let first = try Int.fetchCursor(db, sql: "SELECT score FROM player ORDER BY id")
            let second = try Int.fetchCursor(db, sql: "SELECT score FROM player ORDER BY id DESC")
            var sum = 0
            while let a = try first.next(), let b = try second.next() { sum += a * b }
            return "\(sum)"
        }
        try PoolComparison().expectSame("a cursor and a failing statement") { db in
            try db.execute(sql: Self.manyRows)
            let cursor = try Int.fetchCursor(db, sql: "SELECT score FROM player ORDER BY id")
            var results: [String] = []
            for _ in 1...3 { results.append("\(try cursor.next() ?? 0)") }
            results.append(
                outcome {
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('Player 1')")
                    return "done"
                })
            results.append(rows(db, "SELECT abs(-9223372036854775808)"))
            var sum = 0
            while let score = try cursor.next() { sum += score }
            results.append("\(sum)")
            return results.joined(separator: "\n")
        }
        try PoolComparison().expectSame("the same statement twice") { db in
            try db.execute(sql: Self.manyRows)
            let statement = try db.cachedStatement(sql: "SELECT score FROM player WHERE id > ?")
            let cursor = try Int.fetchCursor(statement, arguments: [900])
            _ = try cursor.next()
            let again = try Int.fetchCursor(statement, arguments: [990])
            var sum = 0
            while let score = try again.next() { sum += score }
            let rest = outcome { "\(try cursor.next() ?? 0)" }
            return "\(sum) \(rest)"
        }
        try PoolComparison().expectSame("a cursor of RETURNING, and a change") { db in
            let cursor = try Row.fetchCursor(
                db, sql: "INSERT INTO player (name) VALUES ('a'), ('b'), ('c') RETURNING id, name")
            var names: [String] = []
            while let row = try cursor.next() {
                names.append(row["name"])
                let name: String = row["name"]
                try db.execute(sql: "UPDATE player SET score = 1 WHERE name = ?", arguments: [name + "x"])
            }
            return names.joined() + rows(db, "SELECT * FROM player")
        }
    }

    @Test func cursorsThatOutliveTheirAccess() throws {
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        func run(_ writer: any DatabaseWriter) throws -> [String] {
            try writer.write { db in try db.execute(sql: Self.manyRows) }
            var kept: [RowCursor] = []
            var statements: [Statement] = []
            try writer.read { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player")
                _ = try cursor.next()
                kept.append(cursor)
                statements.append(try db.makeStatement(sql: "SELECT count(*) FROM player"))
            }
            func code(_ body: () throws -> Void) -> String {
                do {
                    try body()
                    return "done"
                } catch let error as DatabaseError {
                    return "\(error.extendedResultCode)"
                } catch {
                    return "\(error)"
                }
            }
            var results = [code { _ = try kept[0].next() }, code { _ = try Row.fetchAll(statements[0]) }]
            results.append("\(try writer.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0 })")
            // The first access of a connection begins while rows of the last one are unread.
            for _ in 1...3 {
                try writer.read { db in
                    let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player")
                    _ = try cursor.next()
                }
            }
            try writer.write { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM player")
                _ = try cursor.next()
                try db.execute(sql: "DELETE FROM player WHERE id > 10")
            }
            results.append("\(try writer.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0 })")
            return results
        }
        #expect(try run(fixture.cluster) == run(pool.pool))
    }

    @Test func closuresThatUseTheConnection() throws {
        try PoolComparison().expectSame("a row's decoding that runs a statement") { db in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('a', NULL), ('b', 2)")
            let cursor = try Row.fetchCursor(db, sql: "SELECT score, name FROM player ORDER BY id")
                .map { row -> String in
                    let nested: Nested = row[0]
                    let count = try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM player WHERE score IS ?", arguments: [nested])
                    return "\(nested.value) \(count ?? -1)"
                }
            return try Array(cursor).joined(separator: ",")
        }
        try PoolComparison().expectSame("sequence of arguments that runs a statement") { db in
            for number in 0..<3 {
                try db.execute(
                    sql: "INSERT INTO player (name, score) VALUES (?, ?)",
                    arguments: [
                        "x\(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? -1)", Nested(value: number),
                    ])
            }
            return rows(db, "SELECT * FROM player")
        }
        struct Observed: Codable, FetchableRecord, MutablePersistableRecord {
            static let databaseTableName = "player"
            var id: Int64?
            var name: String
            mutating func willInsert(_ db: Database) throws {
                name += "\(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? -1)"
            }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
            func didSave(_ saved: PersistenceSuccess) {}
            func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                try db.inSavepoint {
                    _ = try insert()
                    return name.hasPrefix("no") ? .rollback : .commit
                }
            }
        }
        try PoolComparison().expectSame("callbacks of records") { db in
            for name in ["a", "no", "b"] {
                var record = Observed(id: nil, name: name)
                try record.insert(db)
            }
            return rows(db, "SELECT * FROM player")
        }
    }

    @Test func handlersOfTransactions() throws {
        let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
        func run(_ writer: any DatabaseWriter) throws -> [String] {
            let events = Mutex<[String]>([])
            try writer.writeWithoutTransaction { db in
                for sql in ["COMMIT", "ROLLBACK"] {
                    try db.beginTransaction()
                    db.afterNextTransaction { db in
                        // The connection may be used again at once.
                        let count = try? Int.fetchOne(db, sql: "SELECT count(*) FROM player")
                        events.withLock { $0.append("commit \(count ?? -1) \(db.isInsideTransaction)") }
                    } onRollback: { db in
                        let count = try? Int.fetchOne(db, sql: "SELECT count(*) FROM player")
                        events.withLock { $0.append("rollback \(count ?? -1) \(db.isInsideTransaction)") }
                    }
                    try db.execute(sql: "INSERT INTO player (name) VALUES ('\(sql)')")
                    try db.execute(sql: sql)
                }
            }
            try writer.write { db in
                db.afterNextTransaction { db in
                    try? db.execute(sql: "INSERT INTO player (name) VALUES ('handler')")
                }
                try db.execute(sql: "INSERT INTO player (name) VALUES ('x')")
            }
            events.withLock { $0.append("end") }
            return try events.withLock { $0 } + [writer.read { db in rows(db, "SELECT * FROM player") }]
        }
        #expect(try run(fixture.cluster) == run(pool.pool))
    }

    /// SQL ends or begins the transaction of a write.
    @Test(arguments: [
        ["ROLLBACK"], ["COMMIT"], ["COMMIT", "BEGIN"], ["ROLLBACK", "BEGIN"], ["END"], ["SAVEPOINT x"],
        ["SAVEPOINT x", "INSERT"], ["ROLLBACK", "INSERT"], ["COMMIT", "INSERT"], ["INSERT", "ROLLBACK"],
        ["INSERT", "COMMIT"], ["INSERT", "SAVEPOINT x", "INSERT", "ROLLBACK TO x"],
        ["INSERT", "COMMIT", "BEGIN", "INSERT"],
        ["INSERT", "ROLLBACK; BEGIN", "INSERT"], ["INSERT", "COMMIT; INSERT INTO player (name) VALUES ('x'); BEGIN"],
        ["BEGIN"], ["BEGIN IMMEDIATE"], ["RELEASE x"], ["INSERT", "BEGIN EXCLUSIVE", "INSERT"],
    ]) func rawTransactions(_ statements: [String]) async throws {
        func run(_ writer: any DatabaseWriter, kind: Int) async throws -> [String] {
            @Sendable func change(_ db: Database) throws {
                for sql in statements {
                    if sql == "INSERT" {
                        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") ?? 0
                        try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["p\(count)"])
                    } else {
                        try db.execute(sql: sql)
                    }
                }
            }
            var result = "done"
            do {
                switch kind {
                case 0: try await writer.write(change)
                case 1: try await writer.writeWithoutTransaction(change)
                case 2: try { try writer.write(change) }()
                default: try await writer.read(change)
                }
            } catch let error as DatabaseError {
                result = "\(error.extendedResultCode) \(error.message ?? "") [\(error.sql ?? "")]"
            } catch {
                result = "\(error)"
            }
            try await writer.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('next')") }
            return [result, try await writer.read { db in rows(db, "SELECT * FROM player ORDER BY id") }]
        }
        // A cluster's reader refuses BEGIN IMMEDIATE for another reason.
        for kind in 0...3 where kind != 3 || statements != ["BEGIN IMMEDIATE"] {
            let (pool, fixture) = (try temporaryPool(), try ClusterFixture())
            let (remote, local) = (try await run(fixture.cluster, kind: kind), try await run(pool.pool, kind: kind))
            #expect(remote == local, "\(statements) \(kind)")
            #expect(fixture.nodes.aborts == [])
        }
    }

    /// A statement that fits is too long for the connection in the SQL that takes its place: the error has its own.
    @Test func aStatementThatIsTooLongToSend() throws {
        let fixture = try ClusterFixture()
        let text = String(repeating: "''", count: 200)
        let sql = "SELECT '\(text)', 'a' AS a"
        try fixture.cluster.write { db in
            let limit = try db.setLimit(.sqlLength, to: sql.utf8.count + 50)
            let error = #expect(throws: DatabaseError.self) {
                _ = try Row.fetchOne(db, sql: "\n /* first */ \(sql) ; ")
            }
            #expect(error?.resultCode == .SQLITE_TOOBIG && error?.sql == sql, "\(error as Any)")
            _ = try db.setLimit(.sqlLength, to: limit)
            #expect(try Row.fetchOne(db, sql: sql)?["a"] == "a")
        }
    }

    @Test func refusedStatementsLeaveTheTransaction() throws {
        let fixture = try ClusterFixture()
        try fixture.cluster.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('a')")
            for sql in [
                "VACUUM", "ATTACH 'x' AS y", "DETACH y", "PRAGMA journal_mode = WAL", "CREATE TEMP TABLE t (a)",
            ] {
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(error?.message?.hasSuffix("not in a cluster") == true, "\(sql): \(String(describing: error))")
                #expect(db.isInsideTransaction)
            }
            try db.execute(sql: "INSERT INTO player (name) VALUES ('b')")
        }
        #expect(try fixture.nodes.query("SELECT count(*) FROM player") == [[.integer(2)]])
    }

    /// A statement that the program keeps, while this client or another one changes the schema.
    @Test(arguments: [true, false]) func keptStatements(isOwnChange: Bool) throws {
        let fixture = try ClusterFixture()
        let (cluster, other) = (fixture.cluster, try fixture.other())
        try cluster.write { db in try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 300)") }
        try cluster.writeWithoutTransaction { db in
            let query = try db.makeStatement(sql: "SELECT * FROM player")
            let one = try db.makeStatement(sql: "SELECT name FROM player WHERE id = ?")
            let update = try db.makeStatement(sql: "UPDATE player SET score = score + 1 WHERE id = ?")
            func rows(_ statement: Statement, _ arguments: StatementArguments = []) -> String {
                outcome { "\(try Row.fetchAll(statement, arguments: arguments))" }
            }
            for _ in 1...3 {
                #expect(rows(query) == "[[id:1 name:\"Arthur\" score:300 photo:NULL]]")
                #expect(rows(one, [1]) == "[[name:\"Arthur\"]]")
            }
            try update.execute(arguments: [1])
            let change = "ALTER TABLE player RENAME COLUMN photo TO picture"
            if isOwnChange {
                try db.execute(sql: change)
            } else {
                try onOtherThread { try other.write { db in try db.execute(sql: change) } }
            }
            // Statements that don't name the column go on.
            try update.execute(arguments: [1])
            #expect(rows(one, [1]) == "[[name:\"Arthur\"]]")
            // The columns of a statement are those of its preparation.
            let message = "the columns of this statement have changed since it was prepared: prepare it again"
            for _ in 1...2 { #expect(rows(query).contains(message)) }
            let again = try db.makeStatement(sql: "SELECT * FROM player")
            #expect(rows(again) == "[[id:1 name:\"Arthur\" score:302 picture:NULL]]")
        }
    }
}

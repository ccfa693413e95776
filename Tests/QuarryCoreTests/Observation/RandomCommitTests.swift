import QuarryCore
import QuarryTestSupport
import Testing

/// Random statements: each commit's region has exactly the tables whose content the commit has changed, or might have.
@Suite struct RandomCommitTests {
    private static let tables = ["a", "b", "c", "w", "log", "child"]

    private struct Veto: Error {}

    /// Compares the tables before and after each commit with what the listener is told.
    private final class Model {
        let db: Database
        let listener: RecordingListener
        /// The rows of each table at the last commit.
        var committed: [String: [String]] = [:]
        /// The tables that a statement since the last commit may have written, even if the rows are the same.
        var written: Set<String> = []
        let generator: SeededGenerator
        var history: [String] = []

        init(_ db: Database, _ generator: SeededGenerator, needsWillCommit: Bool) throws {
            self.db = db
            listener = RecordingListener(needsWillCommit: needsWillCommit)
            self.generator = generator
            committed = try content()
            try db.listenToCommits(listener)
        }

        func content() throws -> [String: [String]] {
            var content: [String: [String]] = [:]
            for table in RandomCommitTests.tables {
                content[table] = try String.fetchAll(
                    db, sql: "SELECT quote(x) || '|' || quote(y) FROM \(table) ORDER BY 1")
            }
            return content
        }

        /// Called outside a transaction.
        func check() throws {
            let now = try content()
            let different = Set(now.keys.filter { now[$0] != committed[$0] })
            committed = now
            let told = listener.takeChanges().reduce(DatabaseRegion()) { $0.union($1) }
            let names = Set(told.tableNames?.map(\.name) ?? RandomCommitTests.tables)
            #expect(different.isSubset(of: names), "seed \(generator.seed): not told: \(history)")
            #expect(
                names.subtracting(["scratch", "sqlite_temp_master"]).isSubset(of: written.union(different)),
                "seed \(generator.seed): \(names) instead of \(different): \(history)")
            #expect(listener.problems == [], "seed \(generator.seed): \(history)")
            written = []
            history = []
        }
    }

    @Test(arguments: 0..<12) func commits(number: Int) throws {
        let connection = try TestConnection()
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        var isComplete = false
        // A cursor that is abandoned fails at the end of the access.
        try? connection.access { db in
            nonisolated(unsafe) weak let weakDb = db
            db.add(
                function: DatabaseFunction("poke", argumentCount: 1) { values in
                    let value = Int.fromDatabaseValue(values[0]) ?? 0
                    try weakDb?.execute(
                        sql: value % 5 == 0 ? "DELETE FROM c" : "INSERT INTO b VALUES (NULL, \(value % 7))")
                    return value
                })
            try db.execute(
                sql: """
                    CREATE TABLE a (x INTEGER PRIMARY KEY, y UNIQUE);
                    CREATE TABLE b (x INTEGER PRIMARY KEY, y UNIQUE ON CONFLICT REPLACE);
                    CREATE TABLE c (x INTEGER PRIMARY KEY, y CHECK (y < 90));
                    CREATE TABLE w (x PRIMARY KEY, y) WITHOUT ROWID;
                    CREATE TABLE log (x, y);
                    CREATE TABLE child (
                        x INTEGER PRIMARY KEY, y REFERENCES a ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
                    CREATE TRIGGER t1 AFTER INSERT ON c BEGIN INSERT INTO log VALUES ('c', new.y); END;
                    CREATE TRIGGER t2 BEFORE UPDATE ON c WHEN new.y = 50 BEGIN
                        DELETE FROM log; SELECT RAISE(FAIL, 'no'); END;
                    CREATE TRIGGER t3 BEFORE DELETE ON c WHEN old.y = 60 BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
                    """)
            // With and without the commit hook.
            let model = try Model(db, generator, needsWillCommit: number % 4 < 2)
            let observer = RecordingObserver()
            var vetoes = false
            observer.willCommit = { if vetoes { throw Veto() } }
            // With and without the preupdate hook.
            if number % 2 == 1 { db.add(transactionObserver: observer) }
            var cursors: [RowCursor] = []
            for _ in 0..<1500 {
                let sql = Self.statement(&generator, &model.written)
                vetoes = number % 2 == 1 && Int.random(in: 0..<30, using: &generator) == 0
                model.history.append(sql)
                do {
                    if sql.hasSuffix("RETURNING y") {
                        let cursor = try Row.fetchCursor(db, sql: sql)
                        if Int.random(in: 0..<3, using: &generator) > 0 { _ = try cursor.next() }
                        if Int.random(in: 0..<3, using: &generator) == 0 { cursors.append(cursor) }
                    } else {
                        try db.execute(sql: sql)
                    }
                } catch { model.history[model.history.count - 1] += " (\(error))" }
                if Int.random(in: 0..<4, using: &generator) == 0 { cursors = [] }
                _ = observer.takeLog()
                if !db.isInsideTransaction {
                    if cursors.isEmpty { try model.check() }
                } else if Int.random(in: 0..<100, using: &generator) == 0 {
                    cursors = []
                    try? db.rollback()
                }
            }
            cursors = []
            if db.isInsideTransaction { try db.rollback() }
            try model.check()
            try db.listenToCommits(nil)
            db.remove(transactionObserver: observer)
            isComplete = true
        }
        #expect(isComplete, "seed \(generator.seed)")
    }

    private static func statement(_ generator: inout SeededGenerator, _ written: inout Set<String>) -> String {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        func writes(_ names: String..., sql: String) -> String {
            written.formUnion(names)
            return sql
        }
        let value = number(0..<100)
        let table = ["a", "b", "w"][number(0..<3)]
        let conflict = ["", "", " OR FAIL", " OR ROLLBACK", " OR IGNORE", " OR REPLACE", " OR ABORT"][number(0..<7)]
        switch number(0..<26) {
        case 0...3:
            return writes(
                table, "child",
                sql: "INSERT\(conflict) INTO \(table) VALUES (\(number(0..<8)), \(number(0..<8))), (\(value), \(value))"
            )
        case 4, 5:
            return writes(
                "c", "log", sql: "INSERT\(conflict) INTO c VALUES (NULL, \(number(0..<40))), (NULL, \(value))")
        case 6, 7:
            return writes(table, "child", sql: "UPDATE\(conflict) \(table) SET y = \(number(0..<8)) WHERE x < \(value)")
        case 8:
            return writes(
                "c", "log",
                sql: "UPDATE\(conflict) c SET y = \([50, value][number(0..<2)]) WHERE x % 3 = \(number(0..<3))")
        case 9: return writes(table, "child", sql: "DELETE FROM \(table) WHERE x = \(number(0..<8))")
        case 10: return writes("c", sql: "DELETE FROM c WHERE y > \(value)")
        case 11: return writes(table, "child", sql: "DELETE FROM \(table)")
        case 12: return writes("child", sql: "INSERT INTO child VALUES (NULL, \(number(0..<8)))")
        case 13: return writes("log", "b", "c", sql: "UPDATE log SET y = poke(\(value))")
        case 14: return writes("b", "c", "log", sql: "SELECT poke(\(value))")
        case 15: return writes("a", "child", sql: "INSERT INTO a VALUES (\(number(0..<8)), \(value)) RETURNING y")
        case 16: return writes("w", sql: "UPDATE w SET y = y + 1 RETURNING y")
        case 17:
            return writes("a", sql: "INSERT INTO a VALUES (1, \(value)) ON CONFLICT (x) DO UPDATE SET y = excluded.y")
        case 18, 19: return ["BEGIN", "BEGIN IMMEDIATE"][number(0..<2)]
        case 20, 21: return ["COMMIT", "COMMIT", "ROLLBACK"][number(0..<3)]
        case 22: return "SAVEPOINT \(["p", "Q", "r"][number(0..<3)])"
        case 23: return "RELEASE \(["P", "q", "r"][number(0..<3)])"
        case 24: return "ROLLBACK TO \(["p", "q", "R"][number(0..<3)])"
        default: return "CREATE TEMP TABLE IF NOT EXISTS scratch (x)"
        }
    }
}

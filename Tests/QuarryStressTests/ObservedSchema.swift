import Quarry
import QuarryCore
import QuarryTestSupport

@testable import QuarryAccess

/// The database that writers change while it is observed.
///
/// Each transaction adds 1 to `clock`, so that each snapshot has a number that never falls. Nobody writes `still`, nor
/// the column `b` of `columns`, nor the row 1000 of `rows`.
enum ObservedSchema {
    static let itemTables = (0..<4).map { "item\($0)" }

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE clock (n INTEGER NOT NULL); INSERT INTO clock VALUES (0);
                CREATE TABLE still (id INTEGER PRIMARY KEY, a INTEGER); INSERT INTO still VALUES (1, 10), (2, 20);
                CREATE TABLE columns (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);
                INSERT INTO columns VALUES (1, 0, 100), (2, 0, 200);
                CREATE TABLE rows (id INTEGER PRIMARY KEY, a INTEGER, u INTEGER UNIQUE);
                INSERT INTO rows VALUES (1000, 7, NULL);
                CREATE TABLE log (n INTEGER PRIMARY KEY, source TEXT);
                CREATE VIRTUAL TABLE docs USING fts5(body);
                CREATE TABLE choice (n INTEGER); INSERT INTO choice VALUES (0);
                CREATE TABLE shown (a INTEGER); INSERT INTO shown VALUES (1);
                """)
        for table in itemTables {
            try db.execute(
                sql: """
                    CREATE TABLE \(table) (id INTEGER PRIMARY KEY, a INTEGER, u INTEGER UNIQUE);
                    CREATE TABLE child_\(table) (
                        id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES \(table) (id) ON DELETE CASCADE);
                    CREATE TRIGGER log_\(table) AFTER DELETE ON \(table) BEGIN
                        INSERT INTO log (source) VALUES ('\(table)');
                    END;
                    CREATE VIEW pairs_\(table) AS
                        SELECT \(table).a AS a, child_\(table).id AS child
                        FROM \(table) JOIN child_\(table) ON child_\(table).parent = \(table).id;
                    """)
        }
        try db.execute(sql: "CREATE VIEW shifting AS SELECT a FROM item0; CREATE VIEW calm AS SELECT a FROM still")
    }
}

/// Writes random changes.
struct ObservedWriter {
    private struct TakenBack: Error {}

    var generator: SeededGenerator
    let index: Int

    /// One of how many changes of the schema is made; the others change rows.
    let definitionShare: Int

    init(seed: UInt64, index: Int, definitionShare: Int = 1) {
        generator = SeededGenerator(seed: seed, index: index)
        self.index = index
        self.definitionShare = definitionShare
    }

    /// Makes one transaction.
    ///
    /// - returns: whether it was committed.
    mutating func transaction(_ db: Database) throws -> Bool {
        do {
            try db.execute(sql: "UPDATE clock SET n = n + 1")
            for _ in 0..<Int.random(in: 1...4, using: &generator) { try step(db, depth: 0) }
            if generator.isOne(in: 6) { throw TakenBack() }
            return true
        } catch is TakenBack {
            if db.isInsideTransaction { try db.rollback() }
            return false
        }
    }

    /// Makes changes that are committed one by one.
    mutating func changesWithoutTransaction(_ db: Database) throws -> Bool {
        do {
            try step(db, depth: 0)
            return true
        } catch is TakenBack {
            return false
        }
    }

    private mutating func step(_ db: Database, depth: Int) throws {
        if depth < 3, generator.isOne(in: 3) {
            return try db.inSavepoint {
                for _ in 0..<Int.random(in: 1...3, using: &generator) { try step(db, depth: depth + 1) }
                return generator.isOne(in: 2) ? .rollback : .commit
            }
        }
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<7:
            let table = ObservedSchema.itemTables.randomElement(using: &generator) ?? "item0"
            // A trigger has the conflict resolution of the statement that fires it.
            try expectingConstraint { try change(db, table) }
        case 7..<9: try expectingConstraint { try change(db, "rows") }
        case 9: try db.execute(sql: "UPDATE columns SET a = a + 1 WHERE id = ?", arguments: [number(2)])
        case 10..<13: try changeText(db)
        case 13: try db.execute(sql: "UPDATE choice SET n = ?", arguments: [number(4) - 1])
        case 14: try db.execute(sql: "UPDATE shown SET a = a + 1")
        case _ where definitionShare == 1 || generator.isOne(in: definitionShare): try define(db)
        default: try expectingConstraint { try change(db, "item0") }
        }
    }

    private mutating func number(_ count: Int) -> Int { Int.random(in: 1...count, using: &generator) }

    private mutating func change(_ db: Database, _ table: String) throws {
        let (id, value) = (number(40), number(1_000))
        switch number(10) {
        case 1, 2:
            try db.execute(
                sql: "INSERT OR REPLACE INTO \(table) VALUES (?, ?, ?)", arguments: [id, value, number(60)])
        case 3: try db.execute(sql: "UPDATE \(table) SET a = ? WHERE id = ?", arguments: [value, id])
        case 4:
            try db.execute(sql: "UPDATE OR IGNORE \(table) SET u = ? WHERE id <= ?", arguments: [value % 60, id % 3])
        case 5: try db.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [id])
        case 6:
            try db.execute(
                sql: """
                    INSERT INTO \(table) VALUES (?, ?, NULL)
                    ON CONFLICT (id) DO UPDATE SET a = excluded.a, u = NULL
                    """, arguments: [id, value])
        case 7:
            // The rows before the one that fails are kept.
            try db.execute(
                sql: "INSERT OR FAIL INTO \(table) (id, a) VALUES (?, 1), (?, 2), (?, 3)",
                arguments: [id, number(40), number(40)])
        case 8:
            try db.execute(sql: "INSERT INTO \(table) (id, a) VALUES (?, 1), (?, 2)", arguments: [id, number(40)])
        case 9 where generator.isOne(in: 4):
            // A conflict rolls the transaction back.
            do {
                try db.execute(
                    sql: "INSERT OR ROLLBACK INTO \(table) (id, a) VALUES (?, ?)", arguments: [id, value])
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                throw TakenBack()
            }
        default:
            guard table != "rows" else { return }
            try db.execute(sql: "INSERT INTO child_\(table) (parent) VALUES (?)", arguments: [id])
        }
    }

    private func expectingConstraint(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
    }

    private mutating func changeText(_ db: Database) throws {
        let id = number(30)
        switch number(3) {
        case 1:
            try db.execute(
                sql: "INSERT OR REPLACE INTO docs (rowid, body) VALUES (?, ?)",
                arguments: [id, "word\(number(5)) word\(number(5))"])
        case 2: try db.execute(sql: "UPDATE docs SET body = ? WHERE rowid = ?", arguments: ["word\(number(5))", id])
        default: try db.execute(sql: "DELETE FROM docs WHERE rowid = ?", arguments: [id])
        }
    }

    /// Changes the schema, of this writer's own objects for the most part.
    private mutating func define(_ db: Database) throws {
        let table = ObservedSchema.itemTables.randomElement(using: &generator) ?? "item0"
        switch number(8) {
        case 1:
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS own\(index) (a);
                    INSERT INTO own\(index) DEFAULT VALUES;
                    ALTER TABLE own\(index) ADD COLUMN b\(number(1_000_000_000));
                    """)
        case 2: try db.execute(sql: "DROP TABLE IF EXISTS own\(index)")
        case 3: try db.execute(sql: "CREATE INDEX IF NOT EXISTS index\(index) ON \(table) (a)")
        case 4: try db.execute(sql: "DROP INDEX IF EXISTS index\(index)")
        case 5:
            try db.execute(
                sql: """
                    CREATE TRIGGER IF NOT EXISTS trigger\(index) AFTER UPDATE OF a ON \(table) BEGIN
                        INSERT OR IGNORE INTO child_\(table) (id, parent) VALUES (100 + new.id, new.id);
                        DELETE FROM docs WHERE rowid = new.id;
                    END
                    """)
        case 6: try db.execute(sql: "DROP TRIGGER IF EXISTS trigger\(index)")
        case 7:
            let source = ObservedSchema.itemTables.randomElement(using: &generator) ?? "item0"
            // At once, also outside a transaction.
            try db.inSavepoint {
                try db.execute(sql: "DROP VIEW shifting; CREATE VIEW shifting AS SELECT a FROM \(source)")
                return .commit
            }
        default:
            try redefine(db, column: "c\(number(1_000_000_000))")
        }
    }

    /// Replaces a table by a new one of its name.
    private func redefine(_ db: Database, column: String) throws {
        try db.inSavepoint {
            try db.execute(
                sql: """
                    ALTER TABLE shown RENAME TO hidden; ALTER TABLE hidden ADD COLUMN \(column);
                    CREATE TABLE shown (a INTEGER); INSERT INTO shown SELECT a FROM hidden; DROP TABLE hidden;
                    """)
            return .commit
        }
    }
}

import Quarry

/// Something that is done in the midst of something else.
struct ReentrancyAction: Sendable {
    struct Thrown: Error {}

    let name: String
    let run: @Sendable (ReentrancyStage, Database) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (ReentrancyStage, Database) throws -> Void) {
        self.name = name
        self.run = run
    }

    private static func sql(_ sql: String) -> ReentrancyAction {
        ReentrancyAction(sql) { _, db in try db.execute(sql: sql) }
    }

    /// It must throw `SQLITE_MISUSE`: waiting for itself would never end.
    private static func refused(
        _ name: String, _ run: @escaping @Sendable (ReentrancyStage) throws -> Void
    ) -> ReentrancyAction {
        ReentrancyAction(name) { stage, _ in
            do {
                try run(stage)
            } catch DatabaseError.SQLITE_MISUSE {
                return
            }
            throw NotRefused(name: name)
        }
    }

    /// A pool reads on other connections than the one that writes. Elsewhere it is refused.
    private static func refusedByQueues(
        _ name: String, _ run: @escaping @Sendable (ReentrancyStage) throws -> Void
    ) -> ReentrancyAction {
        let refused = refused(name, run)
        return ReentrancyAction(name) { stage, db in
            if stage.kind == .pool { try run(stage) } else { try refused.run(stage, db) }
        }
    }

    /// An action that must be refused has run.
    struct NotRefused: Error {
        var name: String
    }

    static let all: [ReentrancyAction] = [
        sql("BEGIN"), sql("COMMIT"), sql("ROLLBACK"), sql("SAVEPOINT s"), sql("RELEASE s"), sql("ROLLBACK TO s"),
        sql("ALTER TABLE t ADD COLUMN more DEFAULT 1"), sql("ALTER TABLE t RENAME COLUMN b TO other"),
        sql("ALTER TABLE t RENAME TO renamed"), sql("DROP TABLE t"), sql("DROP TABLE document"),
        sql("DROP TABLE sorted"),
        sql("CREATE TABLE made (a)"), sql("CREATE TEMP TABLE t (id INTEGER PRIMARY KEY, a, b)"),
        sql("DROP TRIGGER logged"), sql("CREATE INDEX i ON t (b)"), sql("DROP INDEX sortedByA"),
        sql("DELETE FROM t"), sql("UPDATE t SET a = a || 'x'"), sql("INSERT INTO log VALUES (7)"),
        sql("INSERT INTO sorted (a) VALUES ('bb'), ('aa')"), sql("DELETE FROM sorted"),
        sql("VACUUM"), sql("REINDEX"), sql("ANALYZE"), sql("ATTACH ':memory:' AS more"), sql("DETACH more"),
        sql("PRAGMA journal_mode = MEMORY"), sql("PRAGMA foreign_keys = OFF"), sql("not SQL"), sql("SELECT f(1)"),
        ReentrancyAction("a record of the same type is inserted") { _, db in
            var record = MidstRecord(a: 3, place: "")
            try record.insert(db)
        },
        ReentrancyAction("a record of the same type is inserted in its midst") { _, db in
            var record = MidstRecord(a: 3, place: "encode")
            try record.insert(db)
        },
        ReentrancyAction("records of the same type are fetched") { _, db in _ = try MidstRecord.fetchAll(db) },
        ReentrancyAction("records are updated and deleted") { _, db in
            try MidstRecord(id: 1, place: "").update(db)
            try MidstRecord(id: 2, place: "").delete(db)
        },
        ReentrancyAction("the same statement runs") { stage, db in
            if let statement = stage.statement { try statement.execute() }
            _ = try Row.fetchAll(db.cachedStatement(sql: "SELECT id, a FROM t"))
        },
        ReentrancyAction("the cursor goes on") { stage, _ in _ = try stage.cursor?.next() },
        ReentrancyAction("the cursor is left") { stage, _ in (stage.cursor, stage.statement) = (nil, nil) },
        ReentrancyAction("the memory is released") { _, db in db.releaseMemory() },
        ReentrancyAction("the memory of the queue is released") { stage, _ in
            (stage.queue as? DatabaseQueue)?.releaseMemory()
            (stage.queue as? DatabasePool)?.releaseMemory()
        },
        ReentrancyAction("the kept statements give way") { stage, db in
            for index in 0..<130 { stage.kept.append(try db.cachedStatement(sql: "SELECT \(index) FROM t")) }
        },
        ReentrancyAction("the queue is closed") { stage, _ in try stage.queue.close() },
        ReentrancyAction("it is interrupted") { stage, _ in stage.queue.interrupt() },
        ReentrancyAction("the database is replaced") { _, db in try db.deserialize([]) },
        ReentrancyAction("the database is serialized") { _, db in _ = try db.serialize() },
        ReentrancyAction("the database is copied") { _, db in
            try DatabaseQueue().writeWithoutTransaction { other in try db.backup(to: other) }
        },
        ReentrancyAction("another is copied into it") { _, db in
            try DatabaseQueue().writeWithoutTransaction { other in
                try other.execute(sql: "CREATE TABLE u (a)")
                try other.backup(to: db)
            }
        },
        ReentrancyAction("the function is removed") { stage, db in db.remove(function: stage.function) },
        ReentrancyAction("the function is replaced") { _, db in
            db.add(function: DatabaseFunction("f", argumentCount: 1) { _ in 1 })
        },
        ReentrancyAction("the collation is removed") { stage, db in db.remove(collation: stage.collation) },
        ReentrancyAction("the collation is replaced") { stage, db in db.add(collation: stage.collation) },
        ReentrancyAction("the tokenizer is replaced") { _, db in db.add(tokenizer: MidstTokenizer.self) },
        ReentrancyAction("the trace is removed") { _, db in db.trace() },
        ReentrancyAction("the trace is replaced") { _, db in db.trace { _ in } },
        ReentrancyAction("a blob is written") { _, db in
            let blob = try db.openBlob(table: "t", column: "a", rowID: 4, readOnly: false)
            try blob.write([1])
            try blob.close()
        },
        ReentrancyAction("a blob stays open") { stage, db in
            stage.kept.append(try db.openBlob(table: "t", column: "a", rowID: 4))
        },
        ReentrancyAction("a cursor stays open") { stage, db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
            _ = try cursor.next()
            stage.kept.append(cursor)
        },
        refusedByQueues("a read") { stage in try stage.queue.read { _ in } },
        refused("a write") { stage in try stage.queue.write { _ in } },
        refused("a migration") { stage in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1") { db in try db.execute(sql: "CREATE TABLE migrated (a)") }
            try migrator.migrate(stage.queue)
        },
        ReentrancyAction("a snapshot is made") { stage, _ in
            guard let pool = stage.queue as? DatabasePool else { return }
            _ = try pool.makeSnapshot().read { db in try Row.fetchAll(db, sql: "SELECT * FROM sqlite_master") }
        },
        ReentrancyAction("a read beside it is asked for") { stage, _ in
            (stage.queue as? DatabasePool)?.asyncConcurrentRead { _ in }
        },
        refused("an erasure") { stage in try stage.queue.erase() },
        refusedByQueues("a copy of the queue") { stage in try stage.queue.backup(to: DatabaseQueue()) },
        ReentrancyAction("another database is used") { stage, _ in
            let copy = try DatabaseQueue()
            try copy.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            _ = try copy.read { db in try Row.fetchAll(db, sql: "SELECT * FROM t") }
        },
        ReentrancyAction("an error is thrown") { _, _ in throw Thrown() },
        ReentrancyAction("SQLite's error is thrown") { _, _ in throw DatabaseError(resultCode: .SQLITE_FULL) },
        ReentrancyAction("a cancellation is thrown") { _, _ in throw CancellationError() },
        ReentrancyAction("the schema is read") { _, db in
            _ = try db.columns(in: "t")
            _ = try db.tableExists("none")
            _ = try db.primaryKey("t")
        },
        ReentrancyAction("a transaction is nested") { _, db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO log VALUES (1)")
                return .commit
            }
        },
        ReentrancyAction("a savepoint is nested") { _, db in
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM t WHERE id = 3")
                return .rollback
            }
        },
        ReentrancyAction("work is read-only") { _, db in
            try db.readOnly { try db.execute(sql: "DELETE FROM t") }
        },
        ReentrancyAction("a table is made with the library") { _, db in
            try db.create(table: "library") { t in t.column("a") }
            try db.drop(table: "library")
        },
        ReentrancyAction("limits change") { _, db in
            let limit = try db.setLimit(.length, to: 1000)
            try db.setLimit(.length, to: limit)
        },
    ]
}

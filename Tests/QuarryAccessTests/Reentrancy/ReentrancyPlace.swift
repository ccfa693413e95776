import Quarry

/// Something that runs code of the user in its midst.
struct ReentrancyPlace: Sendable {
    let name: String
    let run: @Sendable (ReentrancyStage, Database) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (ReentrancyStage, Database) throws -> Void) {
        self.name = name
        self.run = run
    }

    private static func sql(_ name: String, _ sql: String) -> ReentrancyPlace {
        ReentrancyPlace(name) { _, db in
            for row in try Row.fetchAll(db.cachedStatement(sql: sql)) { _ = Array(row) }
        }
    }

    private static func insert(_ callback: String) -> ReentrancyPlace {
        ReentrancyPlace(callback) { _, db in
            var record = MidstRecord(place: callback)
            try record.insert(db)
        }
    }

    private static func update(_ callback: String) -> ReentrancyPlace {
        ReentrancyPlace(callback) { _, db in try MidstRecord(id: 2, place: callback).update(db) }
    }

    static let all: [ReentrancyPlace] = [
        sql("function of a query", "SELECT id, f(a), b FROM t"),
        sql("function of an update", "UPDATE t SET a = f(a) WHERE id < 4"),
        sql("function of a deletion that returns rows", "DELETE FROM t WHERE f(id) = 2 RETURNING *"),
        sql("function of a trigger", "INSERT INTO log VALUES (1), (2)"),
        sql("aggregate", "SELECT g(id) FROM t"),
        sql("window function", "SELECT g(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"),
        sql("collation of an order", "SELECT b FROM t ORDER BY b COLLATE swift"),
        sql("collation of an index", "INSERT INTO sorted (a) VALUES ('c'), ('A'), ('b')"),
        sql("tokenizer of a document", "INSERT INTO document VALUES ('d e')"),
        sql("tokenizer of a pattern", "SELECT * FROM document WHERE document MATCH 'b'"),
        sql("tokenizer that is made", "CREATE VIRTUAL TABLE more USING fts5(a, tokenize = 'midst')"),
        sql("function of FTS5", "SELECT hits(document) FROM document WHERE document MATCH 'b'"),
        ReentrancyPlace("trace") { stage, db in
            db.trace { _ in try? stage.reach() }
            try db.execute(sql: "UPDATE t SET a = 1 WHERE id = 1")
            _ = try Row.fetchAll(db, sql: "SELECT * FROM t")
        },
        ReentrancyPlace("end of a transaction") { stage, db in
            for isCommitted in [true, false] {
                db.afterNextTransaction { db in
                    try? stage.reach(db)
                } onRollback: { db in
                    try? stage.reach(db)
                }
                try db.inTransaction {
                    try db.execute(sql: "UPDATE t SET a = 1 WHERE id = 1")
                    return isCommitted ? .commit : .rollback
                }
            }
        },
        ReentrancyPlace("cursor") { stage, db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t")
            stage.cursor = cursor
            while let row = try cursor.next() {
                try stage.reach(db)
                _ = row.isEmpty
            }
        },
        ReentrancyPlace("cursor of a kept statement") { stage, db in
            let statement = try db.cachedStatement(sql: "SELECT id, a FROM t")
            stage.statement = statement
            stage.cursor = try Row.fetchCursor(statement)
            while let row = try stage.cursor?.next() {
                _ = row[0] as DatabaseValue
                try stage.reach(db)
            }
        },
        ReentrancyPlace("cursor of a change") { stage, db in
            let cursor = try Row.fetchCursor(db, sql: "UPDATE t SET a = a RETURNING id, a")
            stage.cursor = cursor
            while try cursor.next() != nil { try stage.reach(db) }
        },
        ReentrancyPlace("cursor of records") { stage, db in
            let cursor = try MidstRecord.fetchCursor(db, sql: "SELECT * FROM t WHERE id < 4")
            while try cursor.next() != nil { try stage.reach(db) }
        },
        ReentrancyPlace("statement of several") { stage, db in
            let statements = try db.allStatements(sql: "SELECT f(1); UPDATE t SET a = f(2); SELECT f(id) FROM t")
            while let statement = try statements.next() { try statement.execute() }
        },
        ReentrancyPlace("text of several statements") { _, db in
            try db.execute(sql: "UPDATE t SET a = f(1); UPDATE t SET b = f('x'); DELETE FROM log")
        },
        ReentrancyPlace("transaction") { stage, db in
            try db.inTransaction {
                try db.execute(sql: "UPDATE t SET a = 9 WHERE id = 1")
                try stage.reach(db)
                try db.execute(sql: "UPDATE t SET a = 10 WHERE id = 1")
                return .commit
            }
        },
        ReentrancyPlace("savepoint") { stage, db in
            try db.inSavepoint {
                try db.execute(sql: "UPDATE t SET a = f(a) WHERE id = 1")
                return .rollback
            }
        },
        ReentrancyPlace("read-only work") { stage, db in
            try db.readOnly {
                _ = try Row.fetchAll(db, sql: "SELECT f(id) FROM t")
                try stage.reach(db)
            }
        },
        ReentrancyPlace("backup") { stage, db in
            try stage.other.writeWithoutTransaction { other in
                try db.backup(to: other, pagesPerStep: 1) { _ in try stage.reach(db) }
            }
        },
        ReentrancyPlace("blob") { stage, db in
            let blob = try db.openBlob(table: "t", column: "a", rowID: 4, readOnly: false)
            _ = try blob.read(count: 1)
            try stage.reach(db)
            try blob.write([9])
            try blob.close()
        },
        ReentrancyPlace("value that is bound") { _, db in
            try db.execute(sql: "UPDATE t SET a = ? WHERE id = ?", arguments: [MidstValue(), 1])
        },
        ReentrancyPlace("value that is read") { _, db in
            _ = try MidstValue.fetchAll(db, sql: "SELECT a FROM t")
        },
        ReentrancyPlace("row that is read") { _, db in _ = try MidstRow.fetchAll(db, sql: "SELECT * FROM t") },
        ReentrancyPlace("row of a cursor") { _, db in
            let cursor = try MidstRow.fetchCursor(db, sql: "SELECT * FROM t")
            while try cursor.next() != nil {}
        },
        ReentrancyPlace("decoding") { _, db in _ = try MidstRecord.fetchAll(db) },
        ReentrancyPlace("decoding of one") { _, db in _ = try MidstRecord.fetchOne(db, key: 1) },
        ReentrancyPlace("records that are inserted together") { _, db in
            try MidstRecord.insertAll(db, (0..<40).map { _ in MidstRecord(place: "encode") })
        },
        ReentrancyPlace("encoding for an upsert") { _, db in
            var record = MidstRecord(id: 2, place: "encode")
            try record.upsert(db)
        },
        insert("encode"), insert("willInsert"), insert("beforeInsert"), insert("afterInsert"), insert("didInsert"),
        insert("willSave"), insert("didSave"),
        update("encode"), update("willUpdate"), update("beforeUpdate"), update("afterUpdate"), update("didUpdate"),
        ReentrancyPlace("willDelete") { _, db in try MidstRecord(id: 2, place: "willDelete").delete(db) },
        ReentrancyPlace("didDelete") { _, db in try MidstRecord(id: 2, place: "didDelete").delete(db) },
    ]
}

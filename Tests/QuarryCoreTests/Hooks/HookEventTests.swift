import QuarryCore
import QuarryTestSupport
import Testing

@Suite struct HookEventTests {
    private func withTable(_ body: (Database) throws -> Void) throws {
        try withConnection { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            try body(db)
        }
    }

    @Test func updateEvents() throws {
        try withTable { (db) throws in
            var events: [String] = []
            _ = db.hooks.onUpdate {
                events.append("\($0.kind) \(String(cString: $0.schema)).\(String(cString: $0.table)) \($0.rowID)")
            }
            try db.execute(sql: "INSERT INTO t VALUES (1, 1); UPDATE t SET id = 2; DELETE FROM t WHERE id = 2")
            #expect(events == ["insert main.t 1", "update main.t 2", "delete main.t 2"])
        }
    }

    /// Changes that the update hook doesn't see: rows that REPLACE deletes, and tables without rowid.
    @Test func preupdateEvents() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE r (id INTEGER PRIMARY KEY, a UNIQUE);
                    CREATE TABLE w (k TEXT PRIMARY KEY, a) WITHOUT ROWID;
                    CREATE TABLE log (k);
                    CREATE TRIGGER d AFTER INSERT ON w BEGIN INSERT INTO log VALUES (new.k); END;
                    """)
            var events: [String] = []
            var updates = 0
            _ = try db.hooks.onPreupdate { event in
                let columns = 0..<event.columnCount
                let old = columns.compactMap { event.oldValue($0)?.description }.joined(separator: " ")
                let new = columns.compactMap { event.newValue($0)?.description }.joined(separator: " ")
                events.append("\(event.kind) \(String(cString: event.table)) [\(old)] [\(new)] \(event.depth)")
            }
            _ = db.hooks.onUpdate { _ in updates += 1 }
            try db.execute(sql: "INSERT INTO r VALUES (1, 'x'); REPLACE INTO r VALUES (2, 'x')")
            #expect(
                events == [
                    #"insert r [] [1 "x"] 0"#, #"delete r [1 "x"] [] 0"#, #"insert r [] [2 "x"] 0"#,
                ])
            #expect(updates == 2)
            events = []
            try db.execute(sql: "INSERT INTO w VALUES ('k', 1); UPDATE w SET a = 2; DELETE FROM w WHERE k = 'k'")
            #expect(
                events == [
                    #"insert w [] ["k" 1] 0"#, #"insert log [] ["k"] 1"#, #"update w ["k" 1] ["k" 2] 0"#,
                    #"delete w ["k" 2] [] 0"#,
                ])
            // The trigger's row alone: w has no rowid.
            #expect(updates == 3)
        }
    }

    /// The update hook doesn't see these at all.
    @Test func preupdateEventsOfBlobs() throws {
        try withTable { (db) throws in
            try db.execute(sql: "INSERT INTO t VALUES (7, 'abc')")
            var events: [String] = []
            _ = try db.hooks.onPreupdate { event in
                let old = event.oldValue(1)?.description ?? "nil"
                let new = event.newValue(1)?.description ?? "nil"
                events.append("\(event.kind) \(event.oldRowID) \(event.blobColumn ?? -1) \(old) \(new)")
            }
            let blob = try db.openBlob(table: "t", column: "a", rowID: 7, readOnly: false)
            try blob.write([65])
            try blob.close()
            try db.execute(sql: "DELETE FROM t")
            #expect(events == [#"update 7 1 "abc" nil"#, #"delete 7 -1 "Abc" nil"#])
        }
    }
}

import Foundation
import Quarry

/// Missing columns: in rows, adapters and cursors.
extension BadInput {
    static let columns: [BadInput] = [
        .connection(
            "a column by a name that isn't there",
            "RowDecodingError: column not found: \"age\" - row: [id:INTEGER name:TEXT]"
        ) { db in
            _ = try row(db).decode(Int.self, forColumn: "age")
        },
        .connection(
            "a column by an expression that isn't there",
            "RowDecodingError: column not found: \"age\" - row: [id:INTEGER name:TEXT]"
        ) { db in
            _ = try row(db).decode(Int.self, forColumn: Column("age"))
        },
        .connection(
            "a column by a name with a NUL",
            "RowDecodingError: column not found: \"id\\0\" - row: [id:INTEGER name:TEXT]"
        ) { db in
            _ = try row(db).decode(Int.self, forColumn: "id\0")
        },
        .connection(
            "a column by an empty name",
            "RowDecodingError: column not found: \"\" - row: [id:INTEGER name:TEXT]"
        ) { db in _ = try row(db).decode(Int.self, forColumn: "") },
        .connection(
            "a column by the name of its table and its own",
            "RowDecodingError: column not found: \"player.id\" - row: [id:INTEGER name:TEXT]"
        ) { db in
            _ = try row(db).decode(Int.self, forColumn: "player.id")
        },
        .connection(
            "an index below zero",
            "RowDecodingError: column index -1 is out of range 0..<2 - row: [id:INTEGER name:TEXT]"
        ) { db in _ = try row(db).decode(Int.self, atIndex: -1) },
        .connection(
            "an index behind the last",
            "RowDecodingError: column index 2 is out of range 0..<2 - row: [id:INTEGER name:TEXT]"
        ) { db in _ = try row(db).decode(Int.self, atIndex: 2) },
        .connection(
            "the largest index",
            """
            RowDecodingError: column index 9223372036854775807 is out of range 0..<2 - row: [id:INTEGER name:TEXT]
            """
        ) { db in _ = try row(db).decode(Int?.self, atIndex: .max) },
        .connection(
            "the smallest index of a cursor's row",
            """
            RowDecodingError: column index -9223372036854775808 is out of range 0..<2 - row: [id:INTEGER name:TEXT], \
            sql: `SELECT id, name FROM player`
            """
        ) { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id, name FROM player")
            _ = try rows.next()?.decode(Int.self, atIndex: .min)
        },
        .connection(
            "a name that isn't there in a cursor's row",
            """
            RowDecodingError: column not found: "age" - row: [id:INTEGER name:TEXT], sql: `SELECT id, name FROM \
            player WHERE id = ?`
            """
        ) { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id, name FROM player WHERE id = ?", arguments: [1])
            _ = try rows.next()?.decode(Int.self, forColumn: "age")
        },
        .connection(
            "a column of a row without any",
            "RowDecodingError: column index 0 is out of range 0..<0 - row: []"
        ) { _ in _ = try Row().decode(Int.self, atIndex: 0) },
        .connection(
            "a column of a row that was made by hand",
            "RowDecodingError: column not found: \"id\" - row: [name:TEXT]"
        ) { _ in
            _ = try Row(["name": "Arthur"] as [AnyHashable: Any])?.decode(Int.self, forColumn: "id")
        },
        .connection(
            "bytes at an index that isn't there",
            "RowDecodingError: column index 7 is out of range 0..<2 - row: [id:INTEGER name:TEXT]"
        ) { db in
            try row(db).withUnsafeBytes(atIndex: 7) { _ in }
        },
        .connection(
            "data of a number",
            """
            RowDecodingError: could not decode Optional<Data> from database value INTEGER - column: "id", column \
            index: 0, row: [id:INTEGER name:TEXT]
            """
        ) { db in try row(db).withUnsafeData(named: "id") { _ in } },
        .connection(
            "data at an index that isn't there",
            "RowDecodingError: column index -1 is out of range 0..<2 - row: [id:INTEGER name:TEXT]"
        ) { db in
            try row(db).withUnsafeData(atIndex: -1) { _ in }
        },
        .connection(
            "a mapping to a column that isn't there",
            """
            SQLITE_MISUSE: Mapping references missing column age. Valid column names are: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in
            _ = try row(db, ColumnMapping(["years": "age"]))
        },
        .connection(
            "a range behind the last column",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns 1..<9 of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, RangeRowAdapter(1..<9)) },
        .connection(
            "a range from below zero",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns -2..<-1 of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, RangeRowAdapter(-2 ..< -1)) },
        .connection(
            "a range up to the largest index",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns 0..<9223372036854775807 of a row that has 2: id, \
            name. - while executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, RangeRowAdapter(0 ... .max)) },
        .connection(
            "a suffix behind the last column",
            """
            SQLITE_MISUSE: SuffixRowAdapter references columns from 3 on of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, SuffixRowAdapter(fromIndex: 3)) },
        .connection(
            "a suffix from below zero",
            """
            SQLITE_MISUSE: SuffixRowAdapter references columns from -1 on of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, SuffixRowAdapter(fromIndex: -1)) },
        .connection(
            "parts with more columns than there are",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns 1..<6 of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in
            _ = try row(db, splittingRowAdapters(columnCounts: [1, 5])[1])
        },
        .connection(
            "parts with less columns than none",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns 0..<-1 of a row that has 2: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in
            _ = try row(db, splittingRowAdapters(columnCounts: [-1])[0])
        },
        .connection(
            "parts whose number of columns overflows",
            """
            SQLITE_MISUSE: RangeRowAdapter references columns 9223372036854775807..<9223372036854775807 of a row \
            that has 2: id, name. - while executing `SELECT id, name FROM player`
            """
        ) { db in
            _ = try row(db, splittingRowAdapters(columnCounts: [.max, .max])[1])
        },
        .connection(
            "a scope with a column that isn't there",
            """
            SQLITE_MISUSE: Mapping references missing column teamCity. Valid column names are: id, name. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in
            _ = try row(db, ScopeAdapter(["team": ColumnMapping(["city": "teamCity"])]))
        },
        .connection(
            "an adapter of one's own with a wrong index",
            """
            SQLITE_MISUSE: A row adapter references column -1 as wrong, out of a row of 2 columns. - while \
            executing `SELECT id, name FROM player`
            """
        ) { db in _ = try row(db, WrongAdapter()) },
        .connection(
            "an adapter of one's own that throws",
            "Refusal: Refusal()"
        ) { db in
            _ = try row(db, ThrowingAdapter())
        },
        .connection(
            "an adapter that a request's closure can't make",
            "Refusal: Refusal()"
        ) { db in
            let request = SQLRequest<Row>(sql: "SELECT 1").adapted { _ in throw Refusal() }
            _ = try request.fetchAll(db)
        },
        .connection(
            "a column that only the row without its adapter has",
            "RowDecodingError: column not found: \"name\" - row: [id:INTEGER]"
        ) { db in
            _ = try row(db, RangeRowAdapter(0..<1)).decode(String.self, forColumn: "name")
        },
        .connection(
            "a column that the schema has lost",
            "RowDecodingError: column not found: \"b\" - row: [a:INTEGER]"
        ) { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
            defer { try? db.execute(sql: "DROP TABLE t") }
            let statement = try db.makeStatement(sql: "SELECT * FROM t")
            _ = try Row.fetchOne(statement)?.decode(Int.self, forColumn: "b")
            try db.execute(sql: "ALTER TABLE t DROP COLUMN b")
            _ = try Row.fetchOne(statement)?.decode(Int.self, forColumn: "b")
        },
    ]

    struct Refusal: Error {}

    private struct WrongAdapter: RowAdapter {
        func projection(of columnNames: [String]) throws -> RowProjection {
            RowProjection(columns: [RowProjection.Column(index: -1, name: "wrong")])
        }
    }

    private struct ThrowingAdapter: RowAdapter {
        func projection(of columnNames: [String]) throws -> RowProjection { throw Refusal() }
    }

    private static func row(_ db: Database, _ adapter: (any RowAdapter)? = nil) throws -> Row {
        try Row.fetchOne(db, sql: "SELECT id, name FROM player", adapter: adapter)!
    }

    /// Cursors that have ended, and numbers of elements that are none.
    static let cursors: [BadInput] = [
        .connection(
            "a cursor whose statement runs again",
            """
            SQLITE_MISUSE: The cursor has ended: its statement has been run again, or its access has ended. - while \
            executing `SELECT id FROM player`
            """
        ) { db in
            let statement = try db.makeStatement(sql: "SELECT id FROM player")
            let ids = try Int.fetchCursor(statement)
            _ = try ids.next()
            _ = try Int.fetchAll(statement)
            _ = try ids.next()
        },
        .queue(
            "a cursor after its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let ids = try queue.read { db in try Int.fetchCursor(db, sql: "SELECT id FROM player") }
            _ = try ids.next()
        },
        .queue(
            "a cursor in another access",
            """
            SQLITE_MISUSE: The cursor has ended: its statement has been run again, or its access has ended. - while \
            executing `SELECT id FROM player`
            """
        ) { queue in
            let ids = try queue.read { db in
                let ids = try Int.fetchCursor(db, sql: "SELECT id FROM player")
                _ = try ids.next()
                return ids
            }
            try queue.read { _ in _ = try ids.next() }
        },
        .queue(
            "a row after its access",
            "SQLITE_MISUSE: The row's cursor has ended: copy() a row to keep it."
        ) { queue in
            let row = try queue.read { db in try Row.fetchCursor(db, sql: "SELECT id FROM player").next() }
            _ = try row?.decode(Int.self, atIndex: 0)
        },
        .connection(
            "a row of a cursor that has come to its end",
            "SQLITE_MISUSE: The row's cursor has ended: copy() a row to keep it."
        ) { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id FROM player WHERE id = 1")
            let row = try rows.next()
            _ = try rows.next()
            _ = try row?.decode(Int.self, forColumn: "id")
        },
        .connection(
            "bytes of a row of a cursor that is over",
            "SQLITE_MISUSE: The row's cursor has ended: copy() a row to keep it."
        ) { db in
            let row = try Row.fetchCursor(db, sql: "SELECT photo FROM player").next()
            try row?.withUnsafeBytes(atIndex: 0) { _ in }
        },
        .connection(
            "a cursor after the rollback of a change of the schema",
            "SQLITE_ABORT_ROLLBACK: abort due to ROLLBACK - while executing `SELECT id FROM player`"
        ) { db in
            var ids: (any Cursor<Int>)?
            try db.inTransaction {
                try db.execute(sql: "CREATE TABLE t (a)")
                ids = try Int.fetchCursor(db, sql: "SELECT id FROM player")
                _ = try ids?.next()
                return .rollback
            }
            _ = try ids?.next()
        },
        .connection(
            "a table that is dropped under a cursor",
            "SQLITE_LOCKED: database table is locked - while executing `DROP TABLE t`"
        ) { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            defer { try? db.execute(sql: "DROP TABLE t") }
            let values = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            _ = try values.next()
            try withExtendedLifetime(values) { try db.execute(sql: "DROP TABLE t") }
        },
        .connection(
            "a column that a cursor's table loses before its first row",
            "SQLITE_ERROR: no such column: b - while executing `SELECT b FROM t`"
        ) { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
            defer { try? db.execute(sql: "DROP TABLE t") }
            let values = try Int.fetchCursor(db, sql: "SELECT b FROM t")
            try db.execute(sql: "ALTER TABLE t DROP COLUMN b")
            _ = try values.next()
        },
        .connection(
            "a prefix of less than none",
            "SQLITE_MISUSE: Cursor.prefix(_:): -1 is not a number of elements"
        ) { db in _ = try ids(db).prefix(-1).next() },
        .connection(
            "to drop less than none",
            "SQLITE_MISUSE: Cursor.dropFirst(_:): -2 is not a number of elements"
        ) { db in _ = try ids(db).dropFirst(-2).next() },
        .connection(
            "a suffix of less than none",
            "SQLITE_MISUSE: Cursor.suffix(_:): -1 is not a number of elements"
        ) { db in _ = try ids(db).suffix(-1) },
        .connection(
            "to drop less than none at the end",
            "SQLITE_MISUSE: Cursor.dropLast(_:): -9223372036854775808 is not a number of elements"
        ) { db in _ = try ids(db).dropLast(.min) },
        .connection(
            "a closure of a cursor that throws",
            "Refusal: Refusal()"
        ) { db in
            _ = try Array(ids(db).map { _ in throw Refusal() })
        },
        .connection(
            "the statement of a cursor fails in the midst of its rows",
            """
            SQLITE_ERROR: integer overflow - while executing `SELECT abs(score) FROM (SELECT 1 AS score UNION ALL \
            SELECT -9223372036854775807 - 1)`
            """
        ) { db in
            _ = try Array(
                Int.fetchCursor(
                    db, sql: "SELECT abs(score) FROM (SELECT 1 AS score UNION ALL SELECT -9223372036854775807 - 1)"))
        },
        .connection(
            "two rows with one key",
            "SQLITE_ERROR: Dictionary(uniqueKeysWithValues:): the key 1 occurs twice"
        ) { db in
            _ = try Dictionary(uniqueKeysWithValues: ids(db).map { _ in (1, 1) })
        },
    ]

    private static func ids(_ db: Database) throws -> FetchCursor<Int> {
        try Int.fetchCursor(db, sql: "SELECT id FROM player")
    }
}

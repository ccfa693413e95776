import Foundation
import Quarry

/// Values of the database that aren't what is asked for.
extension BadInput {
    static let decoding: [BadInput] = [
        .connection(
            "NULL as an integer, all rows",
            """
            RowDecodingError: could not decode Int from database value NULL - column: "score", column index: 0, \
            row: [score:NULL], sql: `SELECT score FROM player ORDER BY id`
            """
        ) { db in
            _ = try Int.fetchAll(db, sql: "SELECT score FROM player ORDER BY id")
        },
        .connection(
            "NULL as a text, a cursor",
            """
            RowDecodingError: could not decode String from database value NULL - column: "name", column index: 0, \
            row: [name:NULL], sql: `SELECT NULL AS name`
            """
        ) { db in
            let names = try String.fetchCursor(db, sql: "SELECT NULL AS name")
            _ = try names.next()
        },
        .connection(
            "NULL in a set",
            """
            RowDecodingError: could not decode Int from database value NULL - column: "score", column index: 0, \
            row: [score:NULL], sql: `SELECT score FROM player`
            """
        ) { db in _ = try Int.fetchSet(db, sql: "SELECT score FROM player") },
        .connection(
            "NULL in a row of its own",
            """
            RowDecodingError: could not decode String from database value NULL - column: "name", column index: 0, \
            row: [name:NULL]
            """
        ) { db in
            let row = try Row.fetchOne(db, sql: "SELECT NULL AS name")
            _ = try row?.decode(String.self, forColumn: "name")
        },
        .connection(
            "text as an integer",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "name", column index: 0, row: \
            [name:TEXT], sql: `SELECT name FROM player`
            """
        ) { db in _ = try Int.fetchOne(db, sql: "SELECT name FROM player") },
        .connection(
            "the text of a number as an integer",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "\\'12\\'", column index: 0, \
            row: ['12':TEXT], sql: `SELECT '12'`
            """
        ) { db in _ = try Int.fetchOne(db, sql: "SELECT '12'") },
        .connection(
            "the text of a number as a real",
            """
            RowDecodingError: could not decode Double from database value TEXT - column: "\\'1.5\\'", column index: \
            0, row: ['1.5':TEXT], sql: `SELECT '1.5'`
            """
        ) { db in _ = try Double.fetchOne(db, sql: "SELECT '1.5'") },
        .connection(
            "text as a truth value",
            """
            RowDecodingError: could not decode Bool from database value TEXT - column: "\\'true\\'", column index: \
            0, row: ['true':TEXT], sql: `SELECT 'true'`
            """
        ) { db in _ = try Bool.fetchOne(db, sql: "SELECT 'true'") },
        .connection(
            "a blob as a truth value",
            """
            RowDecodingError: could not decode Bool from database value BLOB - column: "x\\'01\\'", column index: 0, \
            row: [x'01':BLOB], sql: `SELECT x'01'`
            """
        ) { db in _ = try Bool.fetchOne(db, sql: "SELECT x'01'") },
        .connection(
            "a blob as an integer",
            """
            RowDecodingError: could not decode Int64 from database value BLOB - column: "x\\'0102\\'", column index: \
            0, row: [x'0102':BLOB], sql: `SELECT x'0102'`
            """
        ) { db in _ = try Int64.fetchOne(db, sql: "SELECT x'0102'") },
        .connection(
            "a blob as a real",
            """
            RowDecodingError: could not decode Double from database value BLOB - column: "x\\'3ff0000000000000\\'", \
            column index: 0, row: [x'3ff0000000000000':BLOB], sql: `SELECT x'3ff0000000000000'`
            """
        ) { db in _ = try Double.fetchOne(db, sql: "SELECT x'3ff0000000000000'") },
        .connection(
            "an integer as data",
            """
            RowDecodingError: could not decode Data from database value INTEGER - column: "12", column index: 0, \
            row: [12:INTEGER], sql: `SELECT 12`
            """
        ) { db in _ = try Data.fetchOne(db, sql: "SELECT 12") },
        .connection(
            "an integer that is too large for 8 bits",
            """
            RowDecodingError: could not decode Int8 from database value INTEGER - column: "300", column index: 0, \
            row: [300:INTEGER], sql: `SELECT 300`
            """
        ) { db in
            _ = try Int8.fetchOne(db, sql: "SELECT 300")
        },
        .connection(
            "an integer that is too small for 16 bits",
            """
            RowDecodingError: could not decode Int16 from database value INTEGER - column: "-32769", column index: \
            0, row: [-32769:INTEGER], sql: `SELECT -32769`
            """
        ) { db in
            _ = try Int16.fetchOne(db, sql: "SELECT -32769")
        },
        .connection(
            "an integer that is too large for 32 bits, by name",
            """
            RowDecodingError: could not decode Int32 from database value INTEGER - column: "n", column index: 0, \
            row: [n:INTEGER]
            """
        ) { db in
            _ = try Row.fetchOne(db, sql: "SELECT 2147483648 AS n")!.decode(Int32.self, forColumn: "n")
        },
        .connection(
            "an integer below zero as an unsigned one",
            """
            RowDecodingError: could not decode UInt from database value INTEGER - column: "-1", column index: 0, \
            row: [-1:INTEGER], sql: `SELECT -1`
            """
        ) { db in
            _ = try UInt.fetchOne(db, sql: "SELECT -1")
        },
        .connection(
            "a fraction as an integer",
            """
            RowDecodingError: could not decode Int from database value REAL - column: "1.5", column index: 0, row: \
            [1.5:REAL], sql: `SELECT 1.5`
            """
        ) { db in _ = try Int.fetchOne(db, sql: "SELECT 1.5") },
        .connection(
            "a real that is too large for an integer",
            """
            RowDecodingError: could not decode Int64 from database value REAL - column: "9223372036854775808.0", \
            column index: 0, row: [9223372036854775808.0:REAL], sql: `SELECT 9223372036854775808.0`
            """
        ) { db in
            _ = try Int64.fetchOne(db, sql: "SELECT 9223372036854775808.0")
        },
        .connection(
            "infinity as an integer",
            """
            RowDecodingError: could not decode Int from database value REAL - column: "9e999", column index: 0, row: \
            [9e999:REAL], sql: `SELECT 9e999`
            """
        ) { db in _ = try Int.fetchOne(db, sql: "SELECT 9e999") },
        .connection(
            "a value in an optional that is another type",
            """
            RowDecodingError: could not decode Optional<Int> from database value TEXT - column: "NULL", column \
            index: 0, row: [NULL:TEXT], sql: `SELECT NULL UNION ALL SELECT 'a'`
            """
        ) { db in
            _ = try Int?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 'a'")
        },
        .connection(
            "a raw value that there isn't",
            """
            RowDecodingError: could not decode Color from database value TEXT: no value of Color has this raw value - \
            column: "\\'blue\\'", column index: 0, row: ['blue':TEXT], sql: `SELECT 'blue'`
            """
        ) { db in
            _ = try Color.fetchOne(db, sql: "SELECT 'blue'")
        },
        .connection(
            "a raw value of another type",
            """
            RowDecodingError: could not decode Color from database value INTEGER: no value of Color has this raw \
            value - column: "1", column index: 0, row: [1:INTEGER], sql: `SELECT 1`
            """
        ) { db in _ = try Color.fetchOne(db, sql: "SELECT 1") },
        .connection(
            "an error of the rows shows the arguments only where they are public",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "?", column index: 0, row: \
            [?:TEXT], sql: `SELECT ?`
            """
        ) { db in
            _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: ["secret"])
        },
        .connection(
            "a value of a cursor's row",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "name", column index: 1, row: \
            [id:INTEGER name:TEXT], sql: `SELECT id, name FROM player`
            """
        ) { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id, name FROM player")
            while let row = try rows.next() { _ = try row.decode(Int.self, forColumn: "name") }
        },
        .connection(
            "a value seen through an adapter",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "title", column index: 0, row: \
            [title:TEXT]
            """
        ) { db in
            let adapter = ColumnMapping(["title": "name"])
            let row = try Row.fetchOne(db, sql: "SELECT id, name FROM player", adapter: adapter)
            _ = try row?.decode(Int.self, forColumn: "title")
        },
    ]

    private enum Color: String, DatabaseValueConvertible { case red }
}

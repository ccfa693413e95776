import Quarry

/// SQL and values that are too long, too deep, or too many.
extension BadInput {
    static let limits: [BadInput] = [
        .connection(
            "SQL that is too long",
            """
            SQLITE_TOOBIG: string or blob too big - while executing `SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
            aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'`
            """
        ) { db in
            let old = try db.setLimit(.sqlLength, to: 100)
            defer { _ = try? db.setLimit(.sqlLength, to: old) }
            try db.execute(sql: "SELECT '\(String(repeating: "a", count: 100))'")
        },
        .connection(
            "a text that is too long to bind",
            """
            SQLITE_TOOBIG: could not bind parameter :text: string or blob too big - while executing `SELECT :text`
            """
        ) { db in
            let old = try db.setLimit(.length, to: 1000)
            defer { _ = try? db.setLimit(.length, to: old) }
            try db.execute(sql: "SELECT :text", arguments: ["text": String(repeating: "a", count: 2000)])
        },
        .connection(
            "a blob that is too long to bind",
            "SQLITE_TOOBIG: could not bind parameter 1: string or blob too big - while executing `SELECT ?`"
        ) { db in
            let old = try db.setLimit(.length, to: 1000)
            defer { _ = try? db.setLimit(.length, to: old) }
            _ = try Row.fetchAll(db, sql: "SELECT ?", arguments: [[UInt8](repeating: 0, count: 2000)])
        },
        .connection(
            "a text that grows too long",
            "SQLITE_TOOBIG: string or blob too big - while executing `SELECT hex(zeroblob(600))`"
        ) { db in
            let old = try db.setLimit(.length, to: 1000)
            defer { _ = try? db.setLimit(.length, to: old) }
            _ = try String.fetchOne(db, sql: "SELECT hex(zeroblob(600))")
        },
        .connection(
            "more parameters than allowed",
            "SQLITE_ERROR: too many SQL variables - while executing `SELECT 1 WHERE 1 IN (?,?,?,?)`"
        ) { db in
            let old = try db.setLimit(.variableNumber, to: 3)
            defer { _ = try? db.setLimit(.variableNumber, to: old) }
            try db.execute(literal: "SELECT 1 WHERE 1 IN \([1, 2, 3, 4])")
        },
        .connection(
            "a parameter whose number is too large",
            "SQLITE_ERROR: variable number must be between ?1 and ?250000 - while executing `SELECT ?99999999`"
        ) { db in
            _ = try db.makeStatement(sql: "SELECT ?99999999")
        },
        .connection(
            "an expression that is too deep",
            "SQLITE_ERROR: parser stack overflow"
        ) { db in
            let parentheses = 2000
            let sql = String(repeating: "NOT (", count: parentheses) + "1" + String(repeating: ")", count: parentheses)
            try withoutSQL { _ = try Int.fetchOne(db, sql: "SELECT \(sql)") }
        }.or("SQLITE_ERROR: Recursion limit"),
        .connection(
            "too many terms of a compound query",
            "SQLITE_ERROR: too many terms in compound SELECT"
        ) { db in
            let sql = Array(repeating: "SELECT 1", count: 501).joined(separator: " UNION ALL ")
            let old = try db.setLimit(.compoundSelect, to: 500)
            defer { _ = try? db.setLimit(.compoundSelect, to: old) }
            try withoutSQL { _ = try Int.fetchAll(db, sql: sql) }
        },
        .connection(
            "too many columns",
            "SQLITE_ERROR: too many columns in result set - while executing `SELECT 1, 2, 3`"
        ) { db in
            let old = try db.setLimit(.column, to: 2)
            defer { _ = try? db.setLimit(.column, to: old) }
            _ = try Row.fetchAll(db, sql: "SELECT 1, 2, 3")
        },
        .connection(
            "too many databases",
            "SQLITE_ERROR: too many attached databases - max 1 - while executing `ATTACH ':memory:' AS two`"
        ) { db in
            let old = try db.setLimit(.attached, to: 1)
            defer {
                _ = try? db.setLimit(.attached, to: old)
                try? db.execute(sql: "DETACH one")
            }
            try db.execute(sql: "ATTACH ':memory:' AS one; ATTACH ':memory:' AS two")
        },
        .connection(
            "a pattern that is too long",
            """
            SQLITE_ERROR: LIKE or GLOB pattern too complex - while executing `SELECT * FROM player WHERE name \
            LIKE '%a%a%a%a%a%'`
            """
        ) { db in
            let old = try db.setLimit(.likePatternLength, to: 10)
            defer { _ = try? db.setLimit(.likePatternLength, to: old) }
            _ = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE name LIKE '%a%a%a%a%a%'")
        },
        .connection(
            "a trigger that runs itself",
            "SQLITE_ERROR: too many levels of trigger recursion - while executing `INSERT INTO t VALUES (1)`"
        ) { db in
            let old = try db.setLimit(.triggerDepth, to: 5)
            defer {
                _ = try? db.setLimit(.triggerDepth, to: old)
                try? db.execute(sql: "PRAGMA recursive_triggers = OFF; DROP TABLE t")
            }
            try db.execute(
                sql: """
                    PRAGMA recursive_triggers = ON;
                    CREATE TABLE t (a);
                    CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO t VALUES (new.a + 1); END;
                    """)
            try db.execute(sql: "INSERT INTO t VALUES (1)")
        }.or("SQLITE_ERROR: triggers nested too deep - while executing `INSERT INTO t VALUES (1)`"),
        .connection(
            "a limit below zero",
            "SQLITE_MISUSE: a limit is a number from 0 to 2147483647, not -1"
        ) { db in try db.setLimit(.length, to: -1) },
        .connection(
            "a limit above all numbers of SQLite",
            "SQLITE_MISUSE: a limit is a number from 0 to 2147483647, not 9223372036854775807"
        ) { db in try db.setLimit(.length, to: .max) },
        .connection(
            "a limit that isn't there",
            "SQLITE_MISUSE: SQLite has no limit with the number 99"
        ) { db in try db.setLimit(Database.Limit(rawValue: 99), to: 1) },
    ]

    /// Runs what fails with SQL that is too long to be told.
    private static func withoutSQL(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message)
        }
    }
}

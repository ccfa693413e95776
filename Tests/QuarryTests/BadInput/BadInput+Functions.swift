import Foundation
import Quarry
import QuarryTestSupport

/// Functions that throw, answer nonsense, or are declared as none can be.
extension BadInput {
    static let functions: [BadInput] = [
        .connection(
            "a function that throws",
            "SQLITE_ERROR: Refusal() - while executing `SELECT f()`"
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in throw Refusal() })
        },
        .connection(
            "a function that throws an error of the database",
            "SQLITE_CONSTRAINT_CHECK: f refuses - while executing `SELECT f()`"
        ) { db in
            try run(
                db,
                DatabaseFunction("f", argumentCount: 0) { _ in
                    throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "f refuses")
                })
        },
        .connection(
            "a function that throws success",
            "SQLITE_ERROR: no more rows available - while executing `SELECT f()`"
        ) { db in
            try run(
                db,
                DatabaseFunction("f", argumentCount: 0) { _ in throw DatabaseError(resultCode: .SQLITE_DONE) })
        },
        .connection(
            "a function that throws a code without a message",
            "SQLITE_FULL: database or disk is full - while executing `SELECT f()`"
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in throw DatabaseError(resultCode: .SQLITE_FULL) })
        },
        .connection(
            "a function that throws a cancellation",
            "SQLITE_INTERRUPT: interrupted - while executing `SELECT f()`"
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in throw CancellationError() })
        },
        .connection(
            "a function whose result doesn't fit",
            """
            SQLITE_MISMATCH: could not return 18446744073709551615 from a function: it doesn't fit in a signed \
            integer of 64 bits - while executing `SELECT f()`
            """
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in UInt64.max })
        },
        .connection(
            "a function whose result is a date without a text",
            """
            SQLITE_MISMATCH: could not return the date 1000064092211200.0 seconds from 1970 from a function: its \
            year isn't from 0 to 9999 - while executing `SELECT f()`
            """
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in Date.distantFuture.addingTimeInterval(1e15) })
        },
        .connection(
            "a function whose result is too long",
            "SQLITE_TOOBIG: string or blob too big - while executing `SELECT f()`"
        ) { db in
            let old = try db.setLimit(.length, to: 1000)
            defer { _ = try? db.setLimit(.length, to: old) }
            try run(db, DatabaseFunction("f", argumentCount: 0) { _ in String(repeating: "a", count: 2000) })
        },
        .connection(
            "a function with an argument too many",
            "SQLITE_ERROR: wrong number of arguments to function f() - while executing `SELECT f(1, 2)`"
        ) { db in
            try run(db, DatabaseFunction("f", argumentCount: 1) { $0[0] }, sql: "SELECT f(1, 2)")
        },
        .connection(
            "a function with more arguments than allowed",
            """
            SQLITE_ERROR: too many arguments on function f - while executing `SELECT f(1,1,1,1,1,1,1,1,1,1,1,1,1,1\
            ,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\
            ,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\
            ,1,1,1,1,1,1,1,1,1,1,1,1)`
            """
        ) { db in
            let arguments = Array(repeating: "1", count: 128).joined(separator: ",")
            let limit = try db.setLimit(.functionArgument, to: 127)
            defer { _ = try? db.setLimit(.functionArgument, to: limit) }
            db.add(function: DatabaseFunction("f") { $0.count })
            defer { db.remove(function: DatabaseFunction("f") { _ in nil }) }
            try db.execute(sql: "SELECT f(\(arguments))")
        },
        .queue(
            "a function that declares too many arguments",
            "SQLITE_MISUSE: function f can't have 1001 arguments, but 0 to 127"
        ) { queue in
            try add(queue, DatabaseFunction("f", argumentCount: 1001) { _ in 1 })
        }.or("SQLITE_MISUSE: function f can't have 1001 arguments, but 0 to 1000"),
        .queue(
            "a function that declares less than no argument",
            "SQLITE_MISUSE: function f can't have -1 arguments, but 0 to 127"
        ) { queue in
            try add(queue, DatabaseFunction("f", argumentCount: -1) { _ in 1 })
        }.or("SQLITE_MISUSE: function f can't have -1 arguments, but 0 to 1000"),
        .queue(
            "a function that declares the largest number of arguments",
            "SQLITE_MISUSE: function f can't have 9223372036854775807 arguments, but 0 to 127"
        ) { queue in
            try add(queue, DatabaseFunction("f", argumentCount: .max) { _ in 1 })
        }.or("SQLITE_MISUSE: function f can't have 9223372036854775807 arguments, but 0 to 1000"),
        .connection(
            "a function that isn't pure, in an index",
            """
            SQLITE_ERROR: non-deterministic functions prohibited in index expressions - while executing `CREATE \
            INDEX i ON player (f(name))`
            """
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1) { $0[0] }, sql: "CREATE INDEX i ON player (f(name))")
        },
        .connection(
            "a function for statements only, in a view",
            "SQLITE_ERROR: unsafe use of f() - while executing `SELECT * FROM v`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 0, options: .directOnly) { _ in 1 },
                sql: "CREATE VIEW v AS SELECT f(); SELECT * FROM v")
        },
        .queue(
            "a function that is replaced while it runs",
            """
            SQLITE_BUSY: could not add function f: unable to delete/modify user-function due to active statements
            """
        ) { queue in
            try queue.writeWithoutTransaction { db in
                db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 1 })
                let rows = try Int.fetchCursor(db, sql: "SELECT f() FROM player")
                _ = try rows.next()
                db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 2 })
                withExtendedLifetime(rows) {}
            }
        },
        .queue(
            "a collation that is removed while it runs",
            """
            SQLITE_BUSY: could not remove collation backwards: unable to delete/modify collation sequence due to \
            active statements
            """
        ) { queue in
            try queue.writeWithoutTransaction { db in
                let collation = DatabaseCollation("backwards") { (a: String, b: String) in a < b ? 1 : a == b ? 0 : -1 }
                db.add(collation: collation)
                let rows = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY name COLLATE backwards")
                _ = try rows.next()
                db.remove(collation: collation)
                withExtendedLifetime(rows) {}
            }
        },
        .queue(
            "a function that is added on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.writeWithoutTransaction { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let db = db
                try onOtherThread { db.add(function: DatabaseFunction("f") { _ in 1 }) }
            }
            try queue.read { _ in }
        },
        .connection(
            "a function that was removed",
            "SQLITE_ERROR: no such function: f - while executing `SELECT f()`"
        ) { db in
            let function = DatabaseFunction("f", argumentCount: 0) { _ in 1 }
            db.add(function: function)
            db.remove(function: function)
            _ = try Int.fetchOne(db, sql: "SELECT f()")
        },
        .connection(
            "a function that checks the rows of a trigger",
            "SQLITE_ERROR: Refusal() - while executing `INSERT INTO team (name) VALUES ('Greens')`"
        ) { db in
            try db.execute(
                sql: "CREATE TEMP TRIGGER r BEFORE INSERT ON team BEGIN SELECT f(); END")
            defer { try? db.execute(sql: "DROP TRIGGER r") }
            try run(
                db, DatabaseFunction("f", argumentCount: 0) { _ in throw Refusal() },
                sql: "INSERT INTO team (name) VALUES ('Greens')")
        },
    ]

    static func run(_ db: Database, _ function: DatabaseFunction, sql: String = "SELECT f()") throws {
        db.add(function: function)
        defer {
            try? db.execute(sql: "DROP VIEW IF EXISTS v")
            db.remove(function: function)
        }
        try db.execute(sql: sql)
    }
}

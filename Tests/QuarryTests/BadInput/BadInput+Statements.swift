import Foundation
import Quarry
import QuarryTestSupport

/// Statements where they can't run, and transactions that can't begin or end.
extension BadInput {
    static let statements: [BadInput] = [
        .queue(
            "a statement after its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let statement = try queue.write { db in try db.makeStatement(sql: "DELETE FROM player") }
            try statement.execute()
        },
        .queue(
            "a statement on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.write { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let statement = try db.makeStatement(sql: "DELETE FROM player")
                try onOtherThread { try statement.execute() }
            }
        },
        .queue(
            "a statement in an access of another database",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let statement = try queue.read { db in try db.makeStatement(sql: "SELECT 1") }
            try DatabaseQueue().read { _ in _ = try Int.fetchOne(statement) }
        },
        .queue(
            "to close a queue while a statement is kept",
            "SQLITE_BUSY: unable to close due to unfinalized statements or unfinished backups"
        ) { _ in
            let other = try DatabaseQueue()
            let statement = try other.read { db in try db.makeStatement(sql: "SELECT 1") }
            try withExtendedLifetime(statement) { try other.close() }
        },
        .queue(
            "a cached statement of a queue that has gone",
            "SQLITE_MISUSE: Connection is closed"
        ) { _ in
            let statement = try DatabaseQueue().read { db in try db.cachedStatement(sql: "SELECT 1") }
            _ = try Int.fetchOne(statement)
        },
        .queue(
            "a Database after its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            _ = try Int.fetchOne(db, sql: "SELECT 1")
        },
        .queue(
            "a Database on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.read { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let db = db
                _ = try onOtherThread { try Int.fetchOne(db, sql: "SELECT 1") }
            }
        },
        .queue(
            "a cursor on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.read { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let ids = try Int.fetchCursor(db, sql: "SELECT id FROM player")
                _ = try onOtherThread { try ids.next() }
            }
        },
        .queue(
            "a series of statements on another thread",
            "SQLITE_MISUSE: Database was not used on the correct thread."
        ) { queue in
            try queue.read { db in
                // The other thread is refused, and this one waits for it.
                nonisolated(unsafe) let statements = try db.allStatements(sql: "SELECT 1; SELECT 2")
                _ = try onOtherThread { try statements.next() }
            }
        },
        .read(
            "a read that inserts",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `INSERT \
            INTO team (name) VALUES ('a')`
            """
        ) { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('a')") },
        .read(
            "a read that changes by RETURNING",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `UPDATE \
            player SET score = 1 RETURNING id`
            """
        ) { db in
            _ = try Int.fetchAll(db, sql: "UPDATE player SET score = 1 RETURNING id")
        },
        .read(
            "a read that makes a table",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `CREATE \
            TEMP TABLE t (a)`
            """
        ) { db in try db.execute(sql: "CREATE TEMP TABLE t (a)") },
        .read(
            "a read that sets a version",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `PRAGMA \
            user_version = 1`
            """
        ) { db in try db.execute(sql: "PRAGMA user_version = 1") },
        .read(
            "a read that changes the journal",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `PRAGMA \
            journal_mode = OFF`
            """
        ) { db in try db.execute(sql: "PRAGMA journal_mode = OFF") },
        .read(
            "a read that writes what it has attached",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `CREATE \
            TABLE other.t (a)`
            """
        ) { db in
            try db.execute(sql: "ATTACH ':memory:' AS other; CREATE TABLE other.t (a)")
        },
        .read(
            "a read that vacuums",
            "SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `VACUUM`"
        ) { db in try db.execute(sql: "VACUUM") },
        .read(
            "a read with a transaction that writes",
            """
            SQLITE_READONLY: attempt to write a readonly database (in a read: use write) - while executing `BEGIN \
            IMMEDIATE TRANSACTION`
            """
        ) { db in try db.inTransaction(.immediate) { .commit } },
        .read(
            "a read that writes a blob",
            """
            SQLITE_READONLY: blob main.player.photo of row 1: attempt to write a readonly database (in a read: use \
            write)
            """
        ) { db in
            _ = try db.openBlob(table: "player", column: "photo", rowID: 1, readOnly: false)
        },
        .read(
            "a read that replaces the database",
            """
            SQLITE_READONLY: could not deserialize into main: attempt to write a readonly database (in a read: use \
            write)
            """
        ) { db in try db.deserialize([]) },
        .connection(
            "to vacuum in a transaction",
            "SQLITE_ERROR: cannot VACUUM from within a transaction - while executing `VACUUM`"
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "VACUUM")
                return .commit
            }
        },
        .connection(
            "to make syncs safer in a transaction",
            """
            SQLITE_ERROR: Safety level may not be changed inside a transaction - while executing `PRAGMA \
            synchronous = FULL`
            """
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "PRAGMA synchronous = FULL")
                return .commit
            }
        },
        .queue(
            "a PRAGMA with a value that is none",
            "SQLITE_ERROR: unsupported encoding: latin1 - while executing `PRAGMA encoding = 'latin1'`"
        ) { _ in
            try DatabaseQueue().writeWithoutTransaction { db in try db.execute(sql: "PRAGMA encoding = 'latin1'") }
        },
        .connection(
            "a PRAGMA with an argument",
            "SQLITE_ERROR: near \"?\": syntax error - while executing `PRAGMA user_version = ?`"
        ) { db in
            try db.execute(sql: "PRAGMA user_version = ?", arguments: [1])
        },
        .connection(
            "a PRAGMA that gives text as an integer",
            """
            RowDecodingError: could not decode Int from database value TEXT - column: "encoding", column index: 0, \
            row: [encoding:TEXT], sql: `PRAGMA encoding`
            """
        ) { db in
            _ = try Int.fetchOne(db, sql: "PRAGMA encoding")
        },
        .connection(
            "to write a table of the schema",
            "SQLITE_ERROR: table sqlite_master may not be modified - while executing `DELETE FROM sqlite_master`"
        ) { db in
            try db.execute(sql: "DELETE FROM sqlite_master")
        },
        .connection(
            "to change a view",
            "SQLITE_ERROR: cannot modify v because it is a view - while executing `INSERT INTO v VALUES (1)`"
        ) { db in
            try db.execute(sql: "CREATE TEMP VIEW v AS SELECT 1 AS a")
            defer { try? db.execute(sql: "DROP VIEW v") }
            try db.execute(sql: "INSERT INTO v VALUES (1)")
        },
    ]

    static let transactions: [BadInput] = [
        .connection(
            "to commit outside a transaction",
            "SQLITE_ERROR: cannot commit - no transaction is active - while executing `COMMIT TRANSACTION`"
        ) { db in try db.commit() },
        .connection(
            "to roll back by SQL outside a transaction",
            "SQLITE_ERROR: cannot rollback - no transaction is active - while executing `ROLLBACK`"
        ) { db in try db.execute(sql: "ROLLBACK") },
        .connection(
            "a transaction in a transaction",
            """
            SQLITE_ERROR: cannot start a transaction within a transaction - while executing `BEGIN IMMEDIATE \
            TRANSACTION`
            """
        ) { db in
            try db.inTransaction {
                try db.inTransaction { .commit }
                return .commit
            }
        },
        .connection(
            "BEGIN in a transaction",
            """
            SQLITE_ERROR: cannot start a transaction within a transaction - while executing `BEGIN DEFERRED \
            TRANSACTION`
            """
        ) { db in
            try db.inTransaction {
                try db.beginTransaction(.deferred)
                return .commit
            }
        },
        .connection(
            "BEGIN in a savepoint",
            "SQLITE_ERROR: cannot start a transaction within a transaction - while executing `BEGIN`"
        ) { db in
            try db.inSavepoint {
                try db.execute(sql: "BEGIN")
                return .commit
            }
        },
        .connection(
            "a closure that throws in a transaction",
            "Refusal: Refusal()"
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "DELETE FROM player")
                throw Refusal()
            }
        },
        .connection(
            "a closure that throws in a savepoint",
            "Refusal: Refusal()"
        ) { db in
            try db.inTransaction {
                try db.execute(sql: "DELETE FROM player WHERE id = 1")
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM player")
                    throw Refusal()
                }
                return .commit
            }
        },
        .connection(
            "a transaction that its closure has committed",
            """
            SQLITE_ABORT: Transaction was aborted: its closure has committed it. Remove the COMMIT: the end of the \
            closure commits
            """
        ) { db in
            try db.inTransaction {
                try db.commit()
                return .commit
            }
        },
        .connection(
            "a transaction that its closure has rolled back",
            """
            SQLITE_ABORT: Transaction was aborted: its closure has rolled it back. Throw an error, or use a \
            savepoint, instead of ROLLBACK
            """
        ) { db in
            try db.inTransaction {
                try db.rollback()
                return .commit
            }
        },
        .connection(
            "a savepoint that its closure has released",
            """
            SQLITE_ABORT: Transaction was aborted: its closure has rolled it back. Throw an error, or use a \
            savepoint, instead of ROLLBACK - while executing `RELEASE SAVEPOINT quarry`
            """
        ) { db in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "ROLLBACK")
                    return .commit
                }
                return .commit
            }
        },
        .connection(
            "a conflict that rolls the transaction back",
            """
            SQLITE_ABORT: Transaction was aborted: SQLite has rolled it back, after an error, or by ROLLBACK of a \
            conflict clause or a trigger - while executing `DELETE FROM player`
            """
        ) { db in
            try db.inTransaction {
                try? db.execute(sql: "INSERT OR ROLLBACK INTO team (name) VALUES ('Reds')")
                try db.execute(sql: "DELETE FROM player")
                return .commit
            }
        },
        .queue(
            "a transaction that is left open",
            "SQLITE_MISUSE: A transaction has been left open at the end of a database access."
        ) { queue in
            try queue.writeWithoutTransaction { db in
                try db.beginTransaction()
                try db.execute(sql: "DELETE FROM player")
            }
        },
        .queue(
            "a savepoint that is left open",
            "SQLITE_MISUSE: A transaction has been left open at the end of a database access."
        ) { queue in
            try queue.writeWithoutTransaction { db in try db.execute(sql: "SAVEPOINT mine") }
        },
        .queue(
            "a read that leaves a transaction open behind its own",
            """
            SQLITE_ABORT: Transaction was aborted: its closure has committed it. Remove the COMMIT: the end of the \
            closure commits - while executing `BEGIN DEFERRED TRANSACTION`
            """
        ) { queue in
            try queue.read { db in
                try db.commit()
                try db.beginTransaction(.deferred)
                try db.execute(sql: "SAVEPOINT a")
                throw Refusal()
            }
        },
        .queue(
            "a write that fails at its commit",
            "SQLITE_CONSTRAINT_FOREIGNKEY: FOREIGN KEY constraint failed - while executing `COMMIT TRANSACTION`"
        ) { queue in
            try queue.write { db in try db.execute(sql: "UPDATE player SET teamId = 99") }
        },
        .queue(
            "a transaction of a Database that has left its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            try db.inTransaction { .commit }
        },
        .queue(
            "a rollback of a Database that has left its access",
            "SQLITE_MISUSE: Database was used outside of its access."
        ) { queue in
            let db = try queue.read { db in db }
            try db.rollback()
        },
        .queue(
            "a clock that throws",
            "Refusal: Refusal()"
        ) { _ in
            var configuration = Configuration()
            configuration.transactionClock = .custom { _ in throw Refusal() }
            try DatabaseQueue(configuration: configuration).write { db in _ = try db.transactionDate }
        },
        .queue(
            "a clock that is no number, in a statement",
            """
            SQLITE_MISMATCH: could not bind the date nan seconds from 1970 to parameter 1: its year isn't from 0 \
            to 9999 - while executing `SELECT ?`
            """
        ) { _ in
            var configuration = Configuration()
            configuration.transactionClock = .custom { _ in Date(timeIntervalSinceReferenceDate: .nan) }
            try DatabaseQueue(configuration: configuration).write { db in
                try db.execute(sql: "SELECT ?", arguments: [db.transactionDate])
            }
        },
    ]
}

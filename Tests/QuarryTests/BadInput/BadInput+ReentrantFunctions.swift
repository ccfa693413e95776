import Quarry
import QuarryTestSupport

/// Functions and collations that use the connection that calls them.
extension BadInput {
    static let reentrantFunctions: [BadInput] = [
        .queue(
            "a function that reads from its queue",
            "SQLITE_MISUSE: Database methods are not reentrant. - while executing `SELECT f(1)`"
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
            } run: { db in
                try db.execute(sql: "SELECT f(1)")
            }
        },
        .queue(
            "a function that closes its queue",
            """
            SQLITE_BUSY: unable to close the connection of :memory:: an access of this thread still runs - while \
            executing `SELECT f(1)`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.close()
                return 1
            } run: { db in
                try db.execute(sql: "SELECT f(1)")
            }
        },
        .queue(
            "a function that calls itself without end",
            """
            SQLITE_ERROR: 100 statements run inside each other: does a function or collation call \
            itself? - while executing `SELECT f(1)`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantRead { db in try Int.fetchOne(db, sql: "SELECT f(1)") }
            } run: { db in
                _ = try Int.fetchOne(db, sql: "SELECT f(1)")
            }
        },
        .queue(
            "a function that calls itself without end in statements",
            """
            SQLITE_ERROR: 100 statements run inside each other: does a function or collation call \
            itself? - while executing `SELECT f(1)`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in
                    try db.execute(sql: "SELECT f(1)")
                    return 1
                }
            } run: { db in
                try db.execute(sql: "SELECT f(1)")
            }
        },
        .queue(
            "a trace that runs SQL for each SQL that runs",
            """
            SQLITE_ERROR: 100 statements run inside each other: does a function or collation call \
            itself? - while executing `SELECT 1`
            """
        ) { queue in
            let first = Recorded<(any Error)?>(nil)
            try queue.writeWithoutTransaction { db in
                db.trace { [unowned db] _ in
                    do {
                        try db.execute(sql: "SELECT 1")
                    } catch {
                        first.update { $0 = $0 ?? error }
                    }
                }
                try db.execute(sql: "SELECT 2")
                db.trace(nil)
            }
            if let error = first.value { throw error }
        },
        .queue(
            "a collation that sorts by itself",
            """
            SQLITE_ERROR: 100 statements run inside each other: does a function or collation call \
            itself? - while executing `SELECT ? < ? COLLATE recursive`
            """
        ) { queue in
            let first = Recorded<(any Error)?>(nil)
            let collation = DatabaseCollation("recursive") { [unowned queue] (a: String, b: String) -> Int in
                do {
                    return try queue.unsafeReentrantRead { db in
                        try Int.fetchOne(db, sql: "SELECT ? < ? COLLATE recursive", arguments: [a, b]) ?? 0
                    }
                } catch {
                    first.update { $0 = $0 ?? error }
                    return 0
                }
            }
            try queue.writeWithoutTransaction { db in
                db.add(collation: collation)
                _ = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name COLLATE recursive")
                db.remove(collation: collation)
            }
            if let error = first.value { throw error }
        },
        .queue(
            "a function that runs the statement that calls it",
            "SQLITE_MISUSE: A statement can't be run inside itself. - while executing `SELECT f(1)`"
        ) { queue in
            let statement = Recorded<Unchecked<Statement>?>(nil)
            try withFunction(queue) { _, _ in
                try statement.value?.value.execute()
                return 1
            } run: { db in
                let made = try db.makeStatement(sql: "SELECT f(1)")
                statement.update { $0 = Unchecked(value: made) }
                defer { statement.update { $0 = nil } }
                try made.execute()
            }
        },
        .queue(
            "a function that drops the table that is read",
            "SQLITE_LOCKED: database table is locked - while executing `SELECT f(id) FROM player`"
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.execute(sql: "DROP TABLE player") }
                return 1
            } run: { db in
                _ = try Int.fetchAll(db, sql: "SELECT f(id) FROM player")
            }
        },
        .queue(
            "a function that rolls back what is written",
            "SQLITE_ABORT_ROLLBACK: abort due to ROLLBACK - while executing `UPDATE player SET score = f(id)`"
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.rollback() }
                return 1
            } run: { db in
                try db.inTransaction {
                    try db.execute(sql: "UPDATE player SET score = f(id)")
                    return .commit
                }
            }
        },
        .queue(
            "a function that commits what is written",
            """
            SQLITE_BUSY: cannot commit transaction - SQL statements in progress - while executing `UPDATE player \
            SET score = f(id)`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.commit() }
                return 1
            } run: { db in
                try db.inTransaction {
                    try db.execute(sql: "UPDATE player SET score = f(id)")
                    return .rollback
                }
            }
        },
        .queue(
            "a function that begins a transaction in one",
            """
            SQLITE_ERROR: cannot start a transaction within a transaction - while executing `SELECT f(id) FROM \
            player`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.beginTransaction() }
                return 1
            } run: { db in
                try db.inTransaction {
                    _ = try Int.fetchAll(db, sql: "SELECT f(id) FROM player")
                    return .commit
                }
            }
        },
        .queue(
            "a function that vacuums",
            """
            SQLITE_ERROR: cannot VACUUM - SQL statements in progress - while executing `SELECT f(id) FROM player`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.execute(sql: "VACUUM") }
                return 1
            } run: { db in
                _ = try Int.fetchAll(db, sql: "SELECT f(id) FROM player")
            }
        },
        .queue(
            "a function that writes in a read",
            "SQLITE_READONLY: attempt to write a readonly database - while executing `SELECT w(id) FROM player`"
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.execute(sql: "DELETE FROM player") }
                return 1
            } run: { _ in
            }
            try queue.write { db in db.add(function: writer(queue)) }
            defer { try? queue.write { db in db.remove(function: writer(queue)) } }
            try queue.read { db in _ = try Int.fetchAll(db, sql: "SELECT w(id) FROM player") }
        },
        .queue(
            "a function that replaces itself",
            """
            SQLITE_BUSY: could not add function f: unable to delete/modify user-function due to active statements
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in
                    db.add(function: DatabaseFunction("f", argumentCount: 1) { _ in 2 })
                }
                return 1
            } run: { db in
                _ = try Int.fetchAll(db, sql: "SELECT f(id) FROM player")
            }
        },
        .queue(
            "a function that replaces the whole database",
            """
            SQLITE_BUSY: could not deserialize into main: a transaction, statement or backup uses it - while \
            executing `SELECT f(id) FROM player`
            """
        ) { queue in
            try withFunction(queue) { queue, _ in
                try queue.unsafeReentrantWrite { db in try db.deserialize([]) }
                return 1
            } run: { db in
                _ = try Int.fetchAll(db, sql: "SELECT f(id) FROM player")
            }
        },
    ]

    // Sendable: a test uses it on one thread.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }

    private static func writer(_ queue: DatabaseQueue) -> DatabaseFunction {
        DatabaseFunction("w", argumentCount: 1) { [unowned queue] _ in
            try queue.unsafeReentrantWrite { db in try db.execute(sql: "DELETE FROM player") }
            return 1
        }
    }

    /// Runs a closure in a write without a transaction, while the queue has a function `f` of one argument.
    private static func withFunction(
        _ queue: DatabaseQueue,
        _ function:
            @escaping @Sendable (DatabaseQueue, [DatabaseValue]) throws -> (any DatabaseValueConvertible)?,
        run: (Database) throws -> Void
    ) throws {
        let function = DatabaseFunction("f", argumentCount: 1) { [unowned queue] values in try function(queue, values) }
        defer { try? queue.writeWithoutTransaction { db in db.remove(function: function) } }
        try queue.writeWithoutTransaction { db in
            db.add(function: function)
            try run(db)
        }
    }
}

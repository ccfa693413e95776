import Quarry

/// Aggregates and windows that throw, or answer what can't be stored.
extension BadInput {
    private struct FailingStep: DatabaseAggregate {
        mutating func step(_ dbValues: [DatabaseValue]) throws { throw Refusal() }
        func finalize() throws -> (any DatabaseValueConvertible)? { 1 }
    }

    private struct FailingEnd: DatabaseAggregate {
        mutating func step(_ dbValues: [DatabaseValue]) {}
        func finalize() throws -> (any DatabaseValueConvertible)? { throw Refusal() }
    }

    private struct Unfitting: DatabaseAggregate {
        mutating func step(_ dbValues: [DatabaseValue]) {}
        func finalize() throws -> (any DatabaseValueConvertible)? { UInt64.max }
    }

    private struct FailingInverse: DatabaseWindowAggregate {
        mutating func step(_ dbValues: [DatabaseValue]) {}
        mutating func inverse(_ dbValues: [DatabaseValue]) throws { throw Refusal() }
        func value() throws -> (any DatabaseValueConvertible)? { 1 }
    }

    private struct FailingValue: DatabaseWindowAggregate {
        mutating func step(_ dbValues: [DatabaseValue]) {}
        mutating func inverse(_ dbValues: [DatabaseValue]) {}
        func value() throws -> (any DatabaseValueConvertible)? {
            throw DatabaseError(resultCode: .SQLITE_RANGE, message: "no value")
        }
    }

    static let aggregates: [BadInput] = [
        .connection(
            "an aggregate that throws at a row",
            "SQLITE_ERROR: Refusal() - while executing `SELECT f(id) FROM player`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingStep.self),
                sql: "SELECT f(id) FROM player")
        },
        .connection(
            "an aggregate that throws at the end",
            "SQLITE_ERROR: Refusal() - while executing `SELECT f(id) FROM player`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingEnd.self), sql: "SELECT f(id) FROM player"
            )
        },
        .connection(
            "an aggregate that throws at the end of no row",
            "SQLITE_ERROR: Refusal() - while executing `SELECT f(id) FROM player WHERE 0`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingEnd.self),
                sql: "SELECT f(id) FROM player WHERE 0")
        },
        .connection(
            "an aggregate whose result doesn't fit",
            """
            SQLITE_MISMATCH: could not return 18446744073709551615 from a function: it doesn't fit in a signed \
            integer of 64 bits - while executing `SELECT f() FROM player`
            """
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 0, aggregate: Unfitting.self), sql: "SELECT f() FROM player")
        },
        .connection(
            "a window that throws at a row that leaves",
            """
            SQLITE_ERROR: Refusal() - while executing `SELECT f(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW \
            AND CURRENT ROW) FROM player`
            """
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingInverse.self),
                sql: "SELECT f(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND CURRENT ROW) FROM player")
        },
        .connection(
            "a window that throws at a value",
            "SQLITE_RANGE: no value - while executing `SELECT f(id) OVER (ORDER BY id) FROM player`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingValue.self),
                sql: "SELECT f(id) OVER (ORDER BY id) FROM player")
        },
        .connection(
            "an aggregate without inverse as a window",
            """
            SQLITE_ERROR: f() may not be used as a window function - while executing `SELECT f(id) OVER (ORDER BY \
            id) FROM player`
            """
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingEnd.self),
                sql: "SELECT f(id) OVER (ORDER BY id) FROM player")
        },
        .connection(
            "an aggregate of an aggregate",
            "SQLITE_ERROR: misuse of aggregate function MAX() - while executing `SELECT f(MAX(id)) FROM player`"
        ) { db in
            try run(
                db, DatabaseFunction("f", argumentCount: 1, aggregate: FailingEnd.self),
                sql: "SELECT f(MAX(id)) FROM player")
        },
    ]
}

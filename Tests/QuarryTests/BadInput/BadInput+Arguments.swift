import Foundation
import Quarry

/// Arguments that are missing, too many, wrongly named, or that SQLite can't store.
extension BadInput {
    static let arguments: [BadInput] = [
        .connection(
            "no argument for a parameter",
            "SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT ?`"
        ) { db in try db.execute(sql: "SELECT ?") },
        .connection(
            "one argument for two parameters",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 2 expected - while executing `SELECT ?, ?`"
        ) { db in
            _ = try Row.fetchAll(db, sql: "SELECT ?, ?", arguments: [1])
        },
        .connection(
            "an argument without a parameter",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 0 expected - while executing `SELECT 1`"
        ) { db in try db.execute(sql: "SELECT 1", arguments: [1]) },
        .connection(
            "three arguments for two statements of one",
            """
            SQLITE_MISUSE: wrong number of statement arguments: 3 given, 2 expected - while executing `SELECT ?; \
            SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?; SELECT ?", arguments: [1, 2, 3])
        },
        .connection(
            "an argument for a gap in numbers is missing",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 3 expected - while executing `SELECT ?3`"
        ) { db in
            try db.execute(sql: "SELECT ?3", arguments: [1])
        },
        .connection(
            "a named argument that is missing",
            "SQLITE_MISUSE: missing statement argument: score - while executing `SELECT :name, :score`"
        ) { db in
            try db.execute(sql: "SELECT :name, :score", arguments: ["name": "a"])
        },
        .connection(
            "a name in another case",
            "SQLITE_MISUSE: missing statement argument: name - while executing `SELECT :name`"
        ) { db in try db.execute(sql: "SELECT :name", arguments: ["Name": 1])
        },
        .connection(
            "a name with its prefix",
            "SQLITE_MISUSE: missing statement argument: name - while executing `SELECT :name`"
        ) { db in try db.execute(sql: "SELECT :name", arguments: [":name": 1])
        },
        .connection(
            "named arguments for positional parameters",
            "SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT ?`"
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: ["name": 1])
        },
        .connection(
            "a positional argument beside named ones, left over",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 0 expected - while executing `SELECT :a`"
        ) { db in
            try db.execute(sql: "SELECT :a", arguments: ["a": 1] + [2])
        },
        .connection(
            "a name on both sides of +",
            "SQLITE_MISUSE: already defined statement argument: a - while executing `SELECT :a`"
        ) { db in
            try db.execute(sql: "SELECT :a", arguments: ["a": 1] + ["a": 2])
        },
        .connection(
            "arguments that don't fit when they are validated",
            "SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT ?`"
        ) { db in
            try db.makeStatement(sql: "SELECT ?").validateArguments([])
        },
        .connection(
            "arguments that don't fit when they are set",
            "SQLITE_MISUSE: missing statement argument: a - while executing `SELECT :a`"
        ) { db in
            try db.makeStatement(sql: "SELECT :a").setArguments(["b": 1])
        },
        .connection(
            "arguments that don't fit, assigned, then run",
            "SQLITE_MISUSE: wrong number of statement arguments: 2 given, 1 expected - while executing `SELECT ?`"
        ) { db in
            let statement = try db.makeStatement(sql: "SELECT ?")
            statement.arguments = [1, 2]
            try statement.execute()
        },
        .connection(
            "arguments that don't fit, assigned, then fetched",
            "SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT ?`"
        ) { db in
            let statement = try db.makeStatement(sql: "SELECT ?")
            statement.arguments = []
            _ = try Int.fetchAll(statement)
        },
        .connection(
            "a statement that lost its arguments to the next user",
            """
            SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT name \
            FROM player WHERE id = ?`
            """
        ) { db in
            let sql = "SELECT name FROM player WHERE id = ?"
            try db.cachedStatement(sql: sql).setArguments([1])
            _ = try String.fetchOne(try db.cachedStatement(sql: sql))
        },
        .connection(
            "arguments that a request lacks",
            "SQLITE_MISUSE: missing statement argument: a - while executing `SELECT :a`"
        ) { db in
            _ = try SQLRequest<Int>(sql: "SELECT :a", arguments: ["b": 1]).fetchOne(db)
        },
        .connection(
            "a request with arguments that is counted",
            """
            SQLITE_MISUSE: wrong number of statement arguments: 0 given, 1 expected - while executing `SELECT 1 WHERE \
            ?`
            """
        ) { db in
            _ = try SQLRequest<Int>(sql: "SELECT 1 WHERE ?").fetchCount(db)
        },
        .connection(
            "a literal that mixes values and parameters",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 2 expected - while executing `SELECT ?, ?`"
        ) { db in
            try db.execute(literal: "SELECT \(1), ?")
        },
        .connection(
            "arguments that run out in a series of statements",
            "SQLITE_MISUSE: wrong number of statement arguments: 1 given, 2 expected - while executing `SELECT ?`"
        ) { db in
            let statements = try db.allStatements(sql: "SELECT ?; SELECT ?", arguments: [1])
            while let statement = try statements.next() { try statement.execute() }
        },
        .connection(
            "arguments that are left over after a series of statements",
            "SQLITE_MISUSE: wrong number of statement arguments: 2 given, 1 expected - while executing `SELECT ?`"
        ) { db in
            let statements = try db.allStatements(sql: "SELECT ?", arguments: [1, 2])
            while let statement = try statements.next() { try statement.execute() }
        },
        .connection(
            "an argument for the schema",
            "SQLITE_ERROR: parameters are not allowed in views - while executing `CREATE VIEW v AS SELECT ?`"
        ) { db in
            try db.execute(sql: "CREATE VIEW v AS SELECT ?", arguments: [1])
        },
        .connection(
            "an argument where SQL has a name",
            "SQLITE_ERROR: near \"?\": syntax error - while executing `SELECT * FROM ?`"
        ) { db in
            try db.execute(sql: "SELECT * FROM ?", arguments: ["player"])
        },
    ]

    private struct Unencodable: Codable, DatabaseValueConvertible {
        var numbers: [Double]
    }

    private struct Failing: Codable, DatabaseValueConvertible {
        struct Refusal: Error {}
        init() {}
        func encode(to encoder: any Encoder) throws { throw Refusal() }
        init(from decoder: any Decoder) throws { throw Refusal() }
    }

    private struct WrongCoder: Codable, DatabaseValueConvertible {
        var numbers = [1]
        static func databaseJSONEncoder() -> Int { 1 }
    }

    /// Values that SQLite can't store, or that have no text.
    static let encoding: [BadInput] = [
        .connection(
            "an unsigned integer that doesn't fit",
            """
            SQLITE_MISMATCH: could not bind 18446744073709551615 to parameter 1: it doesn't fit in a signed \
            integer of 64 bits - while executing `UPDATE player SET score = ?`
            """
        ) { db in
            try db.execute(sql: "UPDATE player SET score = ?", arguments: [UInt64.max])
        },
        .connection(
            "a named unsigned integer that doesn't fit",
            """
            SQLITE_MISMATCH: could not bind 18446744073709551615 to parameter :score: it doesn't fit in a signed \
            integer of 64 bits - while executing `UPDATE player SET score = :score`
            """
        ) { db in
            try db.execute(sql: "UPDATE player SET score = :score", arguments: ["score": UInt.max])
        },
        .connection(
            "an unsigned integer in a literal",
            """
            SQLITE_MISMATCH: could not bind 9223372036854775808 to parameter 1: it doesn't fit in a signed \
            integer of 64 bits - while executing `UPDATE player SET score = ?`
            """
        ) { db in
            try db.execute(literal: "UPDATE player SET score = \(UInt64(Int64.max) + 1)")
        },
        .connection(
            "an unsigned integer in a list",
            """
            SQLITE_MISMATCH: could not bind 18446744073709551615 to parameter 2: it doesn't fit in a signed \
            integer of 64 bits - while executing `DELETE FROM player WHERE score IN (?,?)`
            """
        ) { db in
            try db.execute(literal: "DELETE FROM player WHERE score IN \([1, UInt64.max])")
        },
        .connection(
            "an unsigned integer that a cursor binds",
            """
            SQLITE_MISMATCH: could not bind 18446744073709551615 to parameter 1: it doesn't fit in a signed \
            integer of 64 bits - while executing `SELECT ?`
            """
        ) { db in
            _ = try Row.fetchCursor(db, sql: "SELECT ?", arguments: [UInt64.max])
        },
        .connection(
            "a date before year 0",
            """
            SQLITE_MISMATCH: could not bind the date -62167219200.001 seconds from 1970 to parameter 1: its year \
            isn't from 0 to 9999 - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Date(timeIntervalSince1970: -62_167_219_200.001)])
        },
        .connection(
            "a date after year 9999",
            """
            SQLITE_MISMATCH: could not bind the date 253402300800.0 seconds from 1970 to parameter 1: its year \
            isn't from 0 to 9999 - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Date(timeIntervalSince1970: 253_402_300_800)])
        },
        .connection(
            "a date that is no number",
            """
            SQLITE_MISMATCH: could not bind the date nan seconds from 1970 to parameter 1: its year isn't from 0 \
            to 9999 - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Date(timeIntervalSince1970: .nan)])
        },
        .connection(
            "a date at the end of time",
            """
            SQLITE_MISMATCH: could not bind the date inf seconds from 1970 to parameter 1: its year isn't from 0 \
            to 9999 - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Date(timeIntervalSince1970: .infinity)])
        },
        .connection(
            "the 30th of February",
            """
            SQLITE_MISMATCH: could not bind the date components year: 2024 month: 2 day: 30  to parameter :date: \
            they aren't a date or time in the format yyyy-MM-dd - while executing `SELECT :date`
            """
        ) { db in
            try bind(DateComponents(year: 2024, month: 2, day: 30), .YMD, db)
        },
        .connection(
            "the hour 25",
            """
            SQLITE_MISMATCH: could not bind the date components hour: 25 minute: 0  to parameter :date: they \
            aren't a date or time in the format HH:mm - while executing `SELECT :date`
            """
        ) { db in try bind(DateComponents(hour: 25, minute: 0), .HM, db) },
        .connection(
            "a minute below zero",
            """
            SQLITE_MISMATCH: could not bind the date components hour: 1 minute: -1  to parameter :date: they \
            aren't a date or time in the format HH:mm - while executing `SELECT :date`
            """
        ) { db in try bind(DateComponents(hour: 1, minute: -1), .HM, db) },
        .connection(
            "a second of which there are more than nanoseconds",
            """
            SQLITE_MISMATCH: could not bind the date components hour: 1 nanosecond: 1000000000  to parameter \
            :date: they aren't a date or time in the format HH:mm:ss.SSS - while executing `SELECT :date`
            """
        ) { db in
            try bind(DateComponents(hour: 1, nanosecond: 1_000_000_000), .HMSS, db)
        },
        .connection(
            "the smallest year",
            """
            SQLITE_MISMATCH: could not bind the date components year: -9223372036854775808  to parameter :date: \
            they aren't a date or time in the format yyyy-MM-dd HH:mm:ss - while executing `SELECT :date`
            """
        ) { db in try bind(DateComponents(year: .min), .YMD_HMS, db) },
        .connection(
            "a time zone with seconds",
            """
            SQLITE_MISMATCH: could not bind the date components timeZone: GMT (61) year: 2024 hour: 1  to \
            parameter :date: they aren't a date or time in the format yyyy-MM-dd HH:mm - while executing `SELECT \
            :date`
            """
        ) { db in
            try bind(DateComponents(timeZone: TimeZone(secondsFromGMT: 61), year: 2024, hour: 1), .YMD_HM, db)
        },
        .connection(
            "a decimal that is no number",
            """
            SQLITE_MISMATCH: could not bind Decimal.nan to parameter 1: it isn't a number - while executing \
            `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Decimal.nan])
        },
        .connection(
            "JSON with a number that is none",
            """
            SQLITE_MISMATCH: could not bind a value of type Unencodable to parameter 1: encoding it failed: \
            EncodingError.invalidValue: nan (Double). Path: numbers[0]. Debug description: Unable to encode \
            Double.nan directly in JSON. - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Unencodable(numbers: [.nan])])
        },
        .connection(
            "a type whose encoding throws",
            """
            SQLITE_MISMATCH: could not bind a value of type Failing to parameter 1: encoding it failed: Refusal() \
            - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [Failing()])
        },
        .connection(
            "an encoder that is none",
            """
            SQLITE_MISMATCH: could not bind a value of type WrongCoder to parameter 1: encoding it failed: \
            databaseJSONEncoder() must return Foundation's type of that name - while executing `SELECT ?`
            """
        ) { db in
            try db.execute(sql: "SELECT ?", arguments: [WrongCoder()])
        },
        .connection(
            "not a number in a NOT NULL column",
            """
            SQLITE_CONSTRAINT_NOTNULL: NOT NULL constraint failed: player.name - while executing `UPDATE player \
            SET name = ?`
            """
        ) { db in
            try db.execute(sql: "UPDATE player SET name = ?", arguments: [Double.nan])
        },
    ]

    private static func bind(
        _ components: DateComponents, _ format: DatabaseDateComponents.Format, _ db: Database
    ) throws {
        try db.execute(sql: "SELECT :date", arguments: ["date": DatabaseDateComponents(components, format: format)])
    }
}

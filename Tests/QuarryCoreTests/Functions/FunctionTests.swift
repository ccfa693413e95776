import Foundation
import QuarryCore
import QuarryTestSupport
import Synchronization
import Testing

struct PlainError: Error, CustomStringConvertible {
    var description: String
}

@Suite struct FunctionTests {
    @Test(arguments: [true, false]) func aStatementCannotRunInsideItself(asCursor: Bool) throws {
        try withConnection { (db) throws in
            // Used on this thread alone: the function runs inside the statement.
            nonisolated(unsafe) var inner: Statement?
            // Not held: the connection holds its functions.
            nonisolated(unsafe) unowned let database = db
            db.add(
                function: DatabaseFunction("again", argumentCount: 0) { _ in
                    try database.rollback()
                    try inner?.execute()
                    return 1
                })
            let statement = try db.makeStatement(sql: "SELECT again()")
            inner = statement
            expectError(.SQLITE_MISUSE, "A statement can't be run inside itself.") {
                if asCursor { _ = try Int.fetchAll(statement) } else { try statement.execute() }
            }
            inner = nil
            #expect(try Int.fetchOne(statement) == 1)
        }
    }

    @Test func returnsEveryStorageClass() throws {
        try withConnection { (db) throws in
            let echo = DatabaseFunction("echo", argumentCount: 1) { $0[0] }
            db.add(function: echo)
            let values: [DatabaseValue] = [
                .null, Int64.min.databaseValue, Int64.max.databaseValue, 1.5.databaseValue, "".databaseValue,
                "é\u{0}ü".databaseValue, ([] as [UInt8]).databaseValue, ([0, 1, 255] as [UInt8]).databaseValue,
                String(repeating: "x", count: 100_000).databaseValue,
            ]
            for value in values {
                let row = try #require(
                    try Row.fetchOne(
                        db, sql: "SELECT echo(?), typeof(echo(?)), typeof(?)", arguments: [value, value, value]))
                #expect(row[0] as DatabaseValue == value)
                #expect(row[1] as String == row[2])
            }
            #expect(try Int.fetchOne(db, sql: "SELECT ECHO(1)") == 1)
        }
    }

    @Test func nilIsNull() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("nil_", argumentCount: 0) { _ in nil })
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT nil_()") == .null)
        }
    }

    @Test func argumentCounts() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in "none" })
            db.add(function: DatabaseFunction("f", argumentCount: 2) { "two: \($0[0]) \($0[1])" })
            db.add(function: DatabaseFunction("f") { "any: \($0.count)" })
            let row = try #require(try Row.fetchOne(db, sql: "SELECT f(), f(1, 2), f(1), f(1, 2, 3)"))
            #expect(row == ["f()": "none", "f(1, 2)": "two: 1 2", "f(1)": "any: 1", "f(1, 2, 3)": "any: 3"])
            let many = (0..<127).map { "\($0)" }.joined(separator: ", ")
            #expect(try String.fetchOne(db, sql: "SELECT f(\(many))") == "any: 127")

            db.add(function: DatabaseFunction("g", argumentCount: 1) { $0[0] })
            expectError(.SQLITE_ERROR, "wrong number of arguments to function g()") {
                try db.execute(sql: "SELECT g(1, 2)")
            }
        }
    }

    /// `DatabaseFunction("f")` and `db.add(function:)` don't throw: the access does.
    @Test(arguments: [-1, 1001, Int.max])
    func badArgumentCountFailsTheAccess(_ count: Int) throws {
        let connection = try TestConnection()
        // 127, or 1000 from SQLite 3.48 on.
        let maximum = try connection.access { db in db.limit(.functionArgument) }
        expectError(.SQLITE_MISUSE, "function f can't have \(count) arguments, but 0 to \(maximum)") {
            try connection.access { $0.add(function: DatabaseFunction("f", argumentCount: count) { _ in nil }) }
        }
        try connection.access { (db) throws in try db.execute(sql: "SELECT 1") }
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "x", count: 256)])
    func badNameFailsTheAccess(_ name: String) throws {
        let failure = expectError(DatabaseError.self) {
            try withConnection { (db) throws in db.add(function: DatabaseFunction(name) { _ in nil }) }
        }
        let error = try #require(failure)
        #expect(error.message?.hasPrefix("the name of a function has 1 to 255 bytes") == true)
    }

    @Test func useOutsideAnAccessFailsTheNext() throws {
        let connection = try TestConnection()
        connection.database.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 1 })
        expectError(.SQLITE_MISUSE, "Database was used outside of its access.") {
            try connection.access { (db) throws in
                _ = #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT f()") }
            }
        }
        try connection.access { _ in }
    }

    @Test func replacedAndRemoved() throws {
        try withConnection { (db) throws in
            let f = DatabaseFunction("f", argumentCount: 0) { _ in 1 }
            db.add(function: f)
            #expect(try Int.fetchOne(db, sql: "SELECT f()") == 1)
            db.add(function: DatabaseFunction("F", argumentCount: 0) { _ in 2 })
            // The statement that was kept is prepared again.
            #expect(try Int.fetchOne(db, sql: "SELECT f()") == 2)
            db.remove(function: f)
            expectError(.SQLITE_ERROR, "no such function: f") { try db.execute(sql: "SELECT f()") }
        }
    }

    @Test func identity() {
        let one = DatabaseFunction("f", argumentCount: 1) { _ in nil }
        #expect(one.id == DatabaseFunction("F", argumentCount: 1) { _ in 1 }.id)
        #expect(one.id != DatabaseFunction("f", argumentCount: 2) { _ in nil }.id)
        #expect(one.id != DatabaseFunction("f") { _ in nil }.id)
    }

    @Test func replacingInUseIsBusy() throws {
        let connection = try TestConnection()
        expectError(
            .SQLITE_BUSY, "could not add function f: unable to delete/modify user-function due to active statements"
        ) {
            try connection.access { (db) throws in
                db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 1 })
                let cursor = try Int.fetchCursor(db, sql: "SELECT f() UNION ALL SELECT f()")
                #expect(try cursor.next() == 1)
                db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in 2 })
                #expect(try cursor.next() == 1)
                #expect(try cursor.next() == nil)
            }
        }
    }

    @Test func errorsKeepCodeAndMessage() throws {
        try withConnection { (db) throws in
            db.add(
                function: DatabaseFunction("fail", argumentCount: 1) { values in
                    switch Int.fromDatabaseValue(values[0]) {
                    case 1: throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "too \"small\" 'é'")
                    case 2: throw DatabaseError(resultCode: .SQLITE_FULL)
                    case 3: throw PlainError(description: "plain")
                    case 4: throw DatabaseError(resultCode: .SQLITE_OK, message: "fine?")
                    case 5: throw DatabaseError(resultCode: .SQLITE_ROW)
                    case 6: throw DatabaseError(message: "")
                    default: return UInt64.max
                    }
                })
            func error(_ number: Int) -> DatabaseError? {
                expectError(DatabaseError.self) { try db.execute(sql: "SELECT fail(?)", arguments: [number]) }
            }
            let check = try #require(error(1))
            #expect(check.extendedResultCode == .SQLITE_CONSTRAINT_CHECK)
            #expect(check.message == "too \"small\" 'é'")
            #expect(check.sql == "SELECT fail(?)")
            #expect(check.arguments == [1])
            #expect(error(2)?.extendedResultCode == .SQLITE_FULL)
            #expect(error(2)?.message == "database or disk is full")
            #expect(error(3)?.extendedResultCode == .SQLITE_ERROR)
            #expect(error(3)?.message == "plain")
            #expect(error(4)?.extendedResultCode == .SQLITE_ERROR)
            #expect(error(4)?.message == "fine?")
            #expect(error(5)?.extendedResultCode == .SQLITE_ERROR)
            #expect(error(6)?.message == "")
            #expect(error(7)?.extendedResultCode == .SQLITE_MISMATCH)
            #expect(
                error(7)?.message
                    == "could not return 18446744073709551615 from a function: it doesn't fit in a signed integer of 64 bits"
            )
            #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test func cancellationInsideAFunction() throws {
        let function = DatabaseFunction("checked", argumentCount: 0) { _ in throw CancellationError() }
        try withConnection { db in
            db.add(function: function)
            expectError(.SQLITE_INTERRUPT) { try db.execute(sql: "SELECT checked()") }
        }
        let token = AccessToken()
        let connection = try TestConnection()
        let cancelling = DatabaseFunction("cancel", argumentCount: 0) { _ in
            token.cancel()
            throw CancellationError()
        }
        #expect(throws: CancellationError.self) {
            try connection.access(token) { db in
                db.add(function: cancelling)
                try db.execute(sql: "SELECT cancel()")
            }
        }
    }

    @Test func pureFunctionsCanBeIndexed() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("pure", argumentCount: 1, pure: true) { $0[0] })
            db.add(function: DatabaseFunction("impure", argumentCount: 1) { $0[0] })
            try db.execute(sql: "CREATE TABLE t (a); CREATE INDEX i ON t (pure(a))")
            expectError(.SQLITE_ERROR, "non-deterministic functions prohibited in index expressions") {
                try db.execute(sql: "CREATE INDEX j ON t (impure(a))")
            }
        }
    }

    @Test func directOnlyFunctionsStayOutOfTheSchema() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("f", argumentCount: 0, options: .directOnly) { _ in 1 })
            #expect(try Int.fetchOne(db, sql: "SELECT f()") == 1)
            try db.execute(sql: "CREATE VIEW v AS SELECT f() AS a")
            expectError(.SQLITE_ERROR, "unsafe use of f()") { try db.execute(sql: "SELECT * FROM v") }
        }
    }

    @Test func innocuousFunctionsWorkInUntrustedSchemas() throws {
        try withConnection { (db) throws in
            db.add(function: DatabaseFunction("safe", argumentCount: 0, options: .innocuous) { _ in 1 })
            db.add(function: DatabaseFunction("unsafe", argumentCount: 0) { _ in 1 })
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    CREATE VIEW v AS SELECT safe(); CREATE VIEW w AS SELECT unsafe();
                    """)
            #expect(try Int.fetchOne(db, sql: "SELECT * FROM v") == 1)
            expectError(.SQLITE_ERROR, "unsafe use of unsafe()") { try db.execute(sql: "SELECT * FROM w") }
        }
    }

    /// A call inside a call must not share its arguments.
    @Test func callsCanNest() throws {
        let connection = try TestConnection()
        try connection.access { (db) throws in
            nonisolated(unsafe) let database = db
            let factorial = DatabaseFunction("factorial", argumentCount: 1) { values in
                let number = try #require(Int.fromDatabaseValue(values[0]))
                if number <= 1 { return 1 }
                let rest = try Int.fetchOne(database, sql: "SELECT factorial(?)", arguments: [number - 1])
                // The arguments are still this call's.
                #expect(values == [number.databaseValue])
                return rest.map { $0 * number }
            }
            db.add(function: factorial)
            #expect(try Int.fetchOne(db, sql: "SELECT factorial(factorial(3))") == 720)
            // The connection and the closure keep each other.
            db.remove(function: factorial)
        }
    }

    /// Deep calls work, endless ones are an error: neither needs more than a small stack. The statement from outside is
    /// run to its end; those of the function are cursors, or run to their end too.
    @Test(arguments: [true, false]) func endlessCallsAreAnError(isCursor: Bool) throws {
        let error = Mutex<DatabaseError?>(nil)
        let result = Mutex<Int?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            try? withConnection { db in
                // The function runs on the connection's thread.
                nonisolated(unsafe) let database = db
                let count = DatabaseFunction("countdown", argumentCount: 1) { values in
                    guard let number = Int.fromDatabaseValue(values[0]), number != 0 else { return 0 }
                    let sql = "SELECT countdown(?)"
                    if isCursor { return try Int.fetchOne(database, sql: sql, arguments: [number - 1]).map { $0 + 1 } }
                    try database.execute(sql: sql, arguments: [number - 1])
                    return number
                }
                db.add(function: count)
                // The connection and the closure keep each other.
                defer { db.remove(function: count) }
                result.withLock { $0 = try? Int.fetchOne(db, sql: "SELECT countdown(90)") }
                let thrown = expectError(DatabaseError.self) { try db.execute(sql: "SELECT countdown(-1)") }
                error.withLock { $0 = thrown }
            }
            done.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
        done.wait()
        #expect(result.withLock { $0 } == 90)
        #expect(error.withLock { $0?.resultCode } == .SQLITE_ERROR)
        #expect(
            error.withLock { $0?.message }
                == "\(isCursor ? 101 : 100) statements run inside each other: does a function or collation call itself?"
        )
    }

    @Test func argumentsOutliveTheCall() throws {
        try withConnection { (db) throws in
            let kept = Mutex<[[DatabaseValue]]>([])
            db.add(
                function: DatabaseFunction("keep") { values in
                    kept.withLock { $0.append(values) }
                    return values.count
                })
            try db.execute(sql: "SELECT keep('a', 1), keep('b'), keep()")
            let all = kept.withLock { $0 }
            #expect(all == [["a".databaseValue, 1.databaseValue], ["b".databaseValue], []])
        }
    }

    @Test func closureIsFreedWithTheFunction() throws {
        final class Witness: Sendable {}
        weak var removed: Witness?
        weak var replaced: Witness?
        weak var refused: Witness?
        weak var closed: Witness?
        func function(_ name: String, count: Int = 0, _ witness: Witness) -> DatabaseFunction {
            DatabaseFunction(name, argumentCount: count) { _ in "\(witness)" }
        }
        _ = try? withConnection { db in
            do {
                let witnesses = (Witness(), Witness(), Witness(), Witness())
                (removed, replaced, refused, closed) = witnesses
                db.add(function: function("removed", witnesses.0))
                db.add(function: function("replaced", witnesses.1))
                db.add(function: function("refused", count: 2000, witnesses.2))
                db.add(function: function("closed", witnesses.3))
                db.remove(function: function("removed", Witness()))
                db.add(function: function("replaced", Witness()))
            }
            #expect(removed == nil)
            #expect(replaced == nil)
            #expect(refused == nil)
            #expect(closed != nil)
        }
        #expect(closed == nil)
    }

    @Test func errorInsideATriggerRollsTheStatementBack() throws {
        try withConnection { (db) throws in
            db.add(
                function: DatabaseFunction("check_even", argumentCount: 1) { values in
                    guard Int.fromDatabaseValue(values[0]).map({ $0 % 2 == 0 }) == true else {
                        throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "\(values[0]) is odd")
                    }
                    return nil
                })
            try db.execute(
                sql: """
                    CREATE TABLE t (a);
                    CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT check_even(new.a); END;
                    """)
            expectError(.SQLITE_CONSTRAINT, "5 is odd") { try db.execute(sql: "INSERT INTO t VALUES (2), (4), (5)") }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") == 0)
        }
    }
}

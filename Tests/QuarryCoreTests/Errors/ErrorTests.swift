import QuarryTestSupport
import Testing

@testable import QuarryCore

@Suite("Errors")
struct ErrorTests {
    /// The name under which an error is caught.
    private func caught(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
            return "UNIQUE"
        } catch DatabaseError.SQLITE_CONSTRAINT {
            return "CONSTRAINT"
        } catch ResultCode.SQLITE_ERROR {
            return "ERROR"
        } catch {
            return "other"
        }
    }

    @Test(arguments: [true, false]) func decodingErrorsHidePrivateValues(isPublic: Bool) throws {
        var options = ConnectionOptions()
        options.publicStatementArguments = isPublic
        try TestConnection(options: options).access { db throws in
            let sql = "SELECT 'Bob' AS name, 7 AS id, x'01' AS key"
            let live = try #require(try Row.fetchCursor(db, sql: sql).next())
            let adapted = try #require(
                try Row.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 0).addingScopes([:])))
            var errors: [(any Error)?] = []
            errors.append(#expect(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: sql) })
            errors.append(
                #expect(throws: RowDecodingError.self) {
                    try Row.fetchAll(db, sql: sql)[0].decode(Int.self, atIndex: 0)
                })
            errors.append(#expect(throws: RowDecodingError.self) { try adapted.decode(Int.self, forColumn: "name") })
            _ = live
            for error in errors {
                let text = "\(try #require(error))"
                // The SQL is shown, as in every error.
                let values = text.components(before: ", sql:")
                if isPublic {
                    #expect(values.contains(#"value "Bob""#) && values.contains(#"row: [name:"Bob" id:7 key:x'01']"#))
                } else {
                    #expect(values.contains("value TEXT") && values.contains("row: [name:TEXT id:INTEGER key:BLOB]"))
                    #expect(!values.contains("Bob"))
                }
            }
        }
    }

    @Test func errorWithoutMessageHasThatOfItsCode() {
        #expect(DatabaseError(resultCode: .SQLITE_BUSY).message == "database is locked")
        #expect(DatabaseError(resultCode: .SQLITE_BUSY, message: "m").message == "m")
    }

    @Test func catchClausesMatchPrimaryAndExtendedCodes() throws {
        struct Other: Error {}
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a UNIQUE, b NOT NULL)")
            #expect(caught { try db.execute(sql: "INSERT INTO t VALUES (1, 1)") } == "nothing")
            #expect(caught { try db.execute(sql: "INSERT INTO t VALUES (1, 1)") } == "UNIQUE")
            #expect(caught { try db.execute(sql: "INSERT INTO t VALUES (2, NULL)") } == "CONSTRAINT")
            #expect(caught { try db.execute(sql: "INSERT INTO u VALUES (2)") } == "ERROR")
            #expect(caught { throw DatabaseError(resultCode: .SQLITE_BUSY) } == "other")
            #expect(caught { throw Other() } == "other")
        }
        #expect(ResultCode.SQLITE_BUSY ~= .SQLITE_BUSY_SNAPSHOT)
        #expect(!(ResultCode.SQLITE_BUSY_SNAPSHOT ~= .SQLITE_BUSY))
        #expect(!(ResultCode.SQLITE_BUSY ~= .SQLITE_LOCKED))
    }

    @Test func codesHaveNumbersPrimaryCodesAndDescriptions() throws {
        try withConnection { db throws in
            try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY); INSERT INTO t VALUES (1)")
            let error = expectError(.SQLITE_CONSTRAINT_PRIMARYKEY) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT && error?.resultCode.rawValue == 19)
            #expect(error?.extendedResultCode.rawValue == 1555)
            #expect(error?.extendedResultCode.name == "SQLITE_CONSTRAINT_PRIMARYKEY")
            #expect(ResultCode(rawValue: 9_999).name == nil)
            #expect(db.lastErrorCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
            #expect(db.lastErrorMessage == "UNIQUE constraint failed: t.a")
        }
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.description == "2067 (SQLITE_CONSTRAINT_UNIQUE)")
        #expect(ResultCode(rawValue: 200).description == "200 (unknown error)")
        // Every name belongs to the number SQLite gives it.
        for (number, name) in ResultCode.names {
            #expect(name.hasPrefix("SQLITE_"))
            let primary = try #require(ResultCode.names[number & 0xFF])
            #expect(name.hasPrefix(primary), "\(number) \(name)")
        }
    }

    @Test func descriptionHasCodeMessageAndSQL() throws {
        func error(_ isPublic: Bool) throws -> DatabaseError {
            var options = ConnectionOptions()
            options.publicStatementArguments = isPublic
            return try TestConnection(options: options).access { db throws in
                try db.execute(sql: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES ('secret')")
                return try #require(
                    expectError(.SQLITE_CONSTRAINT) {
                        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["secret"])
                    })
            }
        }
        let start = "SQLite error 19: UNIQUE constraint failed: t.a - while executing `INSERT INTO t VALUES (?)`"
        let hidden = try error(false)
        #expect(hidden.description == start)
        #expect("\(hidden)" == start)
        #expect(hidden.expandedDescription == start + #" with arguments ["secret"]"#)
        #expect(hidden.arguments == ["secret"] && !hidden.publicStatementArguments)
        let shown = try error(true)
        #expect(shown.description == start + #" with arguments ["secret"]"#)
        #expect(shown.publicStatementArguments)
    }

    @Test func decodingErrorsShowPublicArguments() throws {
        func description(_ isPublic: Bool) throws -> String {
            var options = ConnectionOptions()
            options.publicStatementArguments = isPublic
            return try TestConnection(options: options).access { db throws in
                let error = #expect(throws: RowDecodingError.self) {
                    try Int.fetchAll(db, sql: "SELECT NULL AS a WHERE ? > 0", arguments: [1])
                }
                return error?.description ?? ""
            }
        }
        let start =
            #"could not decode Int from database value NULL - column: "a", column index: 0, row: [a:NULL], "#
            + "sql: `SELECT NULL AS a WHERE ? > 0`"
        #expect(try description(false) == start)
        #expect(try description(true) == start + ", arguments: [1]")
    }

    @Test func madeErrorsHaveDefaultsAndDescriptions() {
        #expect(DatabaseError().description == "SQLite error 1: SQL logic error")
        #expect(DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT).description == "SQLite error 5: database is locked")
        #expect(DatabaseError(resultCode: .SQLITE_MISUSE, message: "x").description == "SQLite error 21: x")
        let error = DatabaseError(message: "m", sql: "SELECT ?", arguments: [1], publicStatementArguments: true)
        #expect(error.description == "SQLite error 1: m - while executing `SELECT ?` with arguments [1]")
        #expect(DatabaseError.reentrantAccess("the writer").message == "Database methods are not reentrant.")
    }

    @Test func interruptionsAreRecognized() {
        #expect(DatabaseError(resultCode: .SQLITE_INTERRUPT).isInterruptionError)
        #expect(DatabaseError(resultCode: .SQLITE_ABORT).isInterruptionError)
        #expect(DatabaseError(resultCode: .SQLITE_ABORT_ROLLBACK).isInterruptionError)
        #expect(!DatabaseError(resultCode: .SQLITE_BUSY).isInterruptionError)
    }

    @Test func interruptionOfAnAlteration() {
        let message = "error in trigger player_ai: interrupted"
        #expect(Database.isInterruptedAlteration(.SQLITE_ERROR, message))
        #expect(!Database.isInterruptedAlteration(.SQLITE_CONSTRAINT, message))
        #expect(!Database.isInterruptedAlteration(.SQLITE_ERROR, "error in trigger player_ai: no such table: main.t"))
        #expect(!Database.isInterruptedAlteration(.SQLITE_ERROR, "no such table: interrupted"))
    }

    @Test func processHasOneErrorLog() throws {
        let messages = Lock<[String]>([])
        let previous = Database.logError
        Database.logError = { code, message in messages.withLock { $0.append("\(code): \(message)") } }
        defer { Database.logError = previous }
        try withConnection { db throws in
            expectError(.SQLITE_ERROR) { try db.makeStatement(sql: "SELECT * FROM nowhere_to_be_found") }
        }
        try TestConnection().access { db throws in
            let statement = try db.makeStatement(sql: "SELECT 'left behind'")
            expectError(.SQLITE_BUSY) { try db.close() }
            #expect(try String.fetchOne(statement) == "left behind")
        }
        let all = messages.withLock { $0 }
        #expect(all.contains("5 (SQLITE_BUSY): unfinalized statement: SELECT 'left behind'"), "\(all)")
        #expect(
            all.contains {
                $0.hasPrefix(
                    "1 (SQLITE_ERROR): no such table: nowhere_to_be_found in \"SELECT * FROM nowhere_to_be_found\"")
            }, "\(all)")
    }
}

extension String {
    /// The part before a text, or all if the text is missing.
    fileprivate func components(before text: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return String(self[..<range.lowerBound])
    }
}

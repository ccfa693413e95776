import Foundation
import Quarry
import QuarryTestSupport
import Testing

@Suite struct AnyValuesTests {
    @Test func anyValueThatConverts() throws {
        let url = try #require(URL(string: "http://example.com"))
        let values: [(Any, DatabaseValue)] = [
            (1, 1.databaseValue), ("a", "a".databaseValue), (1.5, 1.5.databaseValue), (true, 1.databaseValue),
            (Data([1]), ([1] as [UInt8]).databaseValue), (url, "http://example.com".databaseValue),
            (Date(timeIntervalSince1970: 0), "1970-01-01 00:00:00.000".databaseValue),
            (CGFloat(1.5), 1.5.databaseValue), (NSNull(), .null), (Int?.none as Any, .null),
            (Int?.some(3) as Any, 3.databaseValue), (Int??.some(.none) as Any, .null), (DatabaseValue.null, .null),
        ]
        for (value, expected) in values {
            #expect(DatabaseValue(value: value) == expected)
        }
    }

    @Test func anyOtherValue() {
        struct Other {}
        let values: [Any] = [[1], ["a": 1], Other(), (1, 2), Set([1]), Int.self]
        for value in values {
            #expect(DatabaseValue(value: value) == nil)
        }
    }

    @Test func arguments() throws {
        try withConnection { db throws in
            let values: [Any] = [1, "a", NSNull()]
            let arguments = try #require(StatementArguments(values))
            let row = try Row.fetchOne(db, sql: "SELECT ? AS a, ? AS b, ? AS c", arguments: arguments)
            #expect(row == ["a": 1, "b": "a", "c": nil])

            let named: [AnyHashable: Any] = ["a": 1, "b": NSNull()]
            let namedArguments = try #require(StatementArguments(named))
            let namedRow = try Row.fetchOne(db, sql: "SELECT :a AS a, :b AS b", arguments: namedArguments)
            #expect(namedRow == ["a": 1, "b": nil])
        }
        #expect(StatementArguments([1, [2]] as [Any]) == nil)
        #expect(StatementArguments([1: 1] as [AnyHashable: Any]) == nil)
        #expect(StatementArguments(["a": [1]] as [AnyHashable: Any]) == nil)
    }

    @Test func rows() {
        #expect(Row(["b": NSNull(), "a": 1] as [AnyHashable: Any]) == ["a": 1, "b": nil])
        #expect(Row([:] as [AnyHashable: Any]) == [:])
        #expect(Row([1: 1] as [AnyHashable: Any]) == nil)
        #expect(Row(["a": [1]] as [AnyHashable: Any]) == nil)
    }

    @Test func graphicsNumbers() throws {
        try withConnection { db throws in
            #expect(try stored(CGFloat(1.5), in: db) == 1.5.databaseValue)
            #expect(try read(CGFloat.self, from: 1.5.databaseValue, in: db) == 1.5)
            #expect(try read(CGFloat.self, from: 2.databaseValue, in: db) == 2)
            #expect(try read(CGFloat.self, from: "2".databaseValue, in: db) == nil)
            #expect(try read(CGFloat.self, from: .null, in: db) == nil)
        }
    }
}

@Suite struct ErrorTests {
    @Test func databaseErrorsAreLocalizedAndBridge() {
        let error = DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_UNIQUE, message: "UNIQUE constraint failed: t.a",
            sql: "INSERT INTO t VALUES (?)", arguments: ["secret"])
        let description = "SQLite error 19: UNIQUE constraint failed: t.a - while executing `INSERT INTO t VALUES (?)`"
        #expect(error.localizedDescription == description)
        #expect((error as any Error).localizedDescription == description)
        #expect(error.failureReason == "UNIQUE constraint failed: t.a")
        let bridged = error as NSError
        #expect(bridged.domain == "Quarry.DatabaseError")
        #expect(bridged.code == 2067)
        #expect(bridged.userInfo[NSLocalizedDescriptionKey] as? String == description)
        #expect(bridged.userInfo[NSLocalizedFailureReasonErrorKey] as? String == "UNIQUE constraint failed: t.a")
        #expect(!"\(bridged) \(bridged.userInfo)".contains("secret"))
        let reason = DatabaseError(resultCode: .SQLITE_FULL).errorUserInfo[NSLocalizedFailureReasonErrorKey]
        #expect(reason as? String == "database or disk is full")
    }

    @Test func rowDecodingErrorsAreLocalized() throws {
        try withConnection { db throws in
            let error = try #require(
                #expect(throws: RowDecodingError.self) { try Date.fetchAll(db, sql: "SELECT 'noon' AS a") })
            #expect(error.localizedDescription == error.description)
            #expect(
                error.localizedDescription == """
                    could not decode Date from database value TEXT - column: "a", column index: 0, row: [a:TEXT], \
                    sql: `SELECT 'noon' AS a`
                    """)
        }
    }
}

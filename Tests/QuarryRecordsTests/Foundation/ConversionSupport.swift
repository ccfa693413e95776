import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryCore

/// The value of type `T` that a database value reads as, nil if there is none.
///
/// It is read in each way there is (from the database value, from a statement, from a row that was copied, as an
/// optional), and all have to agree.
func read<T: DatabaseValueConvertible & Equatable>(
    _ type: T.Type, from value: DatabaseValue, in db: Database, sourceLocation: SourceLocation = #_sourceLocation
) throws -> T? {
    let expected = T.fromDatabaseValue(value)
    let row = try #require(try Row.fetchOne(db, sql: "SELECT ? AS value", arguments: [value]))
    #expect(row[0] as DatabaseValue == value, sourceLocation: sourceLocation)
    if let expected {
        #expect(try T.fetchAll(db, sql: "SELECT ?", arguments: [value]) == [expected], sourceLocation: sourceLocation)
        #expect(try row.decode(T.self, atIndex: 0) == expected, sourceLocation: sourceLocation)
    } else {
        let error = #expect(throws: RowDecodingError.self, sourceLocation: sourceLocation) {
            try T.fetchAll(db, sql: "SELECT ?", arguments: [value])
        }
        let message = "could not decode \(T.self) from database value \(value.storageClass)"
        #expect(error?.description.hasPrefix(message) == true, sourceLocation: sourceLocation)
        #expect(throws: RowDecodingError.self, sourceLocation: sourceLocation) { try row.decode(T.self, atIndex: 0) }
    }
    let optionals = try? T?.fetchAll(db, sql: "SELECT ?", arguments: [value])
    #expect(optionals == (expected != nil || value.isNull ? [expected] : nil), sourceLocation: sourceLocation)
    return expected
}

/// The value that a value is stored as: its `databaseValue`, and what it binds by itself, have to agree.
func stored<T: DatabaseValueConvertible>(
    _ value: T, in db: Database, sourceLocation: SourceLocation = #_sourceLocation
) throws -> DatabaseValue {
    let stored = try #require(try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [value]))
    #expect(stored == value.databaseValue, sourceLocation: sourceLocation)

    let bound = try withStatement(sql: "SELECT ?", in: db) { statement in
        #expect(value.bind(to: statement.sqliteStatement, at: 1) == 0, sourceLocation: sourceLocation)
        _ = statement.handle.step()
        return DatabaseValue(sqliteStatement: statement.sqliteStatement, index: 0)
    }
    #expect(bound == stored, sourceLocation: sourceLocation)
    return stored
}

/// The message of the error that binding a value throws.
func bindingError<T: DatabaseValueConvertible>(
    _ value: T, in db: Database, sourceLocation: SourceLocation = #_sourceLocation
) throws -> String? {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
        try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [value])
    }
    #expect(error?.resultCode == .SQLITE_MISMATCH, sourceLocation: sourceLocation)
    let code = try withStatement(sql: "SELECT ?", in: db) { value.bind(to: $0.sqliteStatement, at: 1) }
    #expect(code == ResultCode.SQLITE_MISMATCH.rawValue, sourceLocation: sourceLocation)
    return error?.message
}

private func withStatement<T>(sql: String, in db: Database, _ body: (Statement) throws -> T) throws -> T {
    let statement = try db.makeStatement(sql: sql)
    defer { statement.handle.reset() }
    return try body(statement)
}

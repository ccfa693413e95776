import QuarryCore
import Testing

/// Expects that `body` throws a `DatabaseError` with that extended code, message and SQL.
///
/// ```swift
/// expectError(.SQLITE_ERROR, "no such table: t", sql: "DELETE FROM t") {
///     try db.execute(sql: "DELETE FROM t")
/// }
/// ```
@discardableResult
func expectError<T>(
    _ code: ResultCode, _ message: String, sql: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> T
) -> DatabaseError? {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { _ = try body() }
    guard let error else { return nil }
    #expect(error.extendedResultCode == code, sourceLocation: sourceLocation)
    #expect(error.message == message, sourceLocation: sourceLocation)
    #expect(error.sql == sql, sourceLocation: sourceLocation)
    return error
}

/// Expects that `body` throws a `RowDecodingError` with that description.
func expectDecodingError<T>(
    _ description: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) {
    let error = #expect(throws: RowDecodingError.self, sourceLocation: sourceLocation) { _ = try body() }
    #expect(error?.description == description, sourceLocation: sourceLocation)
}

/// Expects that `body` throws a `DatabaseError` that the code matches: a primary code matches its extended codes.
@discardableResult
func expectCode<T>(
    _ code: ResultCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> DatabaseError? {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { _ = try body() }
    guard let error else { return nil }
    #expect(code ~= error.extendedResultCode, "\(error)", sourceLocation: sourceLocation)
    return error
}

/// Expects that a process ended with a message on its standard error.
func expectMessage(_ message: String, of result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation) {
    let output = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(output.contains("Quarry: \(message)\n"), "\(output)", sourceLocation: sourceLocation)
}

public import QuarryCore
public import Testing

/// Expects that `body` throws a `DatabaseError` with that extended code and that message.
///
/// ```swift
/// expectError(.SQLITE_ERROR, "no such table: t") {
///     try db.execute(sql: "DELETE FROM t")
/// }
/// ```
///
/// - returns: the error, so that a test can look further.
@discardableResult
public func expectError<T>(
    _ code: ResultCode, _ message: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> DatabaseError? {
    let error = expectError(DatabaseError.self, sourceLocation: sourceLocation, body)
    error?.expect(code, message, sourceLocation)
    return error
}

/// As above, for an asynchronous `body`.
@discardableResult
public func expectError<T>(
    _ code: ResultCode, _ message: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> T
) async -> DatabaseError? {
    let error = await expectError(DatabaseError.self, sourceLocation: sourceLocation, body)
    error?.expect(code, message, sourceLocation)
    return error
}

/// Expects that `body` throws a `DatabaseError` with that extended code, that message, and that SQL: nil for none.
@discardableResult
public func expectError<T>(
    _ code: ResultCode, _ message: String, sql: String?, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> T
) -> DatabaseError? {
    let error = expectError(code, message, sourceLocation: sourceLocation, body)
    if let error, error.sql != sql {
        record("the error's SQL is \(quoted(error.sql)), not \(quoted(sql))", sourceLocation)
    }
    return error
}

/// Expects that `body` throws a `DatabaseError` that the code matches: a primary code matches its extended codes. If
/// the code is nil, expects that `body` throws nothing.
@discardableResult
public func expectError<T>(
    _ code: ResultCode?, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> DatabaseError? {
    do {
        _ = try body()
    } catch {
        return expected(error, code, sourceLocation)
    }
    return expected(nil, code, sourceLocation)
}

/// As above, for an asynchronous `body`.
@discardableResult
public func expectError<T>(
    _ code: ResultCode?, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> T
) async -> DatabaseError? {
    do {
        _ = try await body()
    } catch {
        return expected(error, code, sourceLocation)
    }
    return expected(nil, code, sourceLocation)
}

/// Expects that `body` throws an error of that type, with that description unless it is nil.
///
/// ```swift
/// expectError(RecordError.self, "Key not found in table player: [id:4]") { try Player.find(db, key: 4) }
/// ```
@discardableResult
public func expectError<E: Error, T>(
    _ type: E.Type, _ description: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> T
) -> E? {
    do {
        _ = try body()
    } catch {
        return expected(error, type, description, sourceLocation)
    }
    return expected(nil, type, description, sourceLocation)
}

/// As above, for an asynchronous `body`.
@discardableResult
public func expectError<E: Error, T>(
    _ type: E.Type, _ description: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> T
) async -> E? {
    do {
        _ = try await body()
    } catch {
        return expected(error, type, description, sourceLocation)
    }
    return expected(nil, type, description, sourceLocation)
}

/// Expects that a process ended with that message of Quarry on its standard error.
public func expectError(
    _ message: String, of result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
) {
    let output = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    if !output.contains("Quarry: \(message)\n") {
        record("the process's error is \(quoted(output)), without \(quoted(message))", sourceLocation)
    }
}

/// The thrown error, if it has the expected type; otherwise nil, after an issue.
private func expected<E: Error>(
    _ thrown: (any Error)?, _ type: E.Type, _ description: String?, _ sourceLocation: SourceLocation
) -> E? {
    guard let thrown else {
        record("nothing was thrown, where \(type) is expected", sourceLocation)
        return nil
    }
    guard let error = thrown as? E else {
        record("\(Swift.type(of: thrown)) was thrown, where \(type) is expected: \(thrown)", sourceLocation)
        return nil
    }
    if let description, description != "\(error)" {
        record("the error is \(quoted("\(error)")), not \(quoted(description))", sourceLocation)
    }
    return error
}

private func expected(
    _ thrown: (any Error)?, _ code: ResultCode?, _ sourceLocation: SourceLocation
) -> DatabaseError? {
    guard let code else {
        if let thrown { record("an error was thrown, where none is expected: \(thrown)", sourceLocation) }
        return thrown as? DatabaseError
    }
    let error = expected(thrown, DatabaseError.self, nil, sourceLocation)
    if let error, !(code ~= error.extendedResultCode) {
        record("the error has not the code \(code): \(error)", sourceLocation)
    }
    return error
}

extension DatabaseError {
    fileprivate func expect(_ code: ResultCode, _ message: String, _ sourceLocation: SourceLocation) {
        if extendedResultCode != code || self.message != message {
            record(
                "the error is \(extendedResultCode) \(quoted(self.message)), not \(code) \(quoted(message))",
                sourceLocation)
        }
    }
}

private func record(_ text: String, _ sourceLocation: SourceLocation) {
    Issue.record(Comment(rawValue: text), sourceLocation: sourceLocation)
}

private func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "nil" }

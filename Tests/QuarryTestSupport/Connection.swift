import Foundation
public import QuarryCore

/// Runs `body` with a connection of its own, in memory unless a path is given.
///
/// ```swift
/// try withConnection { db in
///     #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
/// }
/// ```
@discardableResult
public func withConnection<T>(path: String = ":memory:", _ body: (Database) throws -> T) throws -> T {
    try TestConnection(path: path).access(body)
}

/// Runs `body` with a folder that is removed afterwards.
@discardableResult
public func withTemporaryFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try body(folder.path)
}

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
    return try body(folder.path)
}

/// A folder that is removed when it goes.
public final class TemporaryFolder: Sendable {
    public let path: String

    /// - parameter isFast: whether it may lie in memory, where a sync costs nothing, for tests of thousands of
    ///   transactions.
    public init(isFast: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let parent =
            isFast && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        let url = parent.appendingPathComponent("quarry-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

public import Quarry
import QuarryTestSupport

/// Writes that wait in line behind an access, and then run.
public enum WritesInLine {
    public typealias Write = @Sendable (any DatabaseWriter) async throws -> Void

    /// A write of a task.
    public static func write(_ body: @escaping @Sendable (Database) throws -> Void) -> Write {
        { writer in try await writer.write(body) }
    }

    /// Makes writes wait in this order behind an access, and then lets them run.
    ///
    /// - parameter whenInLine: called when all wait, with their tasks.
    /// - returns: the errors; nil for a write that has succeeded.
    public static func errors(
        of writes: [Write], in writer: any DatabaseWriter,
        whenInLine: ([Task<(any Error)?, Never>]) async throws -> Void = { _ in }
    ) async throws -> [(any Error)?] {
        let (hasBegun, mayEnd) = (Step("the access has begun"), Step("the access may end"))
        let access = OwnThread {
            try writer.writeWithoutTransaction { _ in
                hasBegun.reach()
                try mayEnd.wait()
            }
        }
        try await hasBegun.reached(by: access)
        var tasks: [Task<(any Error)?, Never>] = []
        for write in writes {
            tasks.append(
                Task {
                    do { try await write(writer) } catch { return error }
                    return nil
                })
            try await until("a write waits", by: access) { writer.statistics.writer.waiters == tasks.count }
        }
        try await whenInLine(tasks)
        mayEnd.reach()
        var errors: [(any Error)?] = []
        for task in tasks { errors.append(await task.value) }
        try await access.value
        return errors
    }
}

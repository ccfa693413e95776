public import QuarryCore

/// A connection without a queue around it: each access is framed as a queue frames it.
public final class TestConnection {
    public let database: Database

    package init(
        path: String = ":memory:", options: ConnectionOptions = ConnectionOptions(), setups: ConnectionSetups? = nil
    ) throws {
        database = try Database(path: path, options: options, setups: setups)
    }

    public convenience init(path: String) throws {
        try self.init(path: path, options: ConnectionOptions())
    }

    /// - parameter clock: the clock of waits for locks.
    public convenience init(path: String, _ clock: ManualMonotonicClock) throws {
        var options = ConnectionOptions()
        options.monotonicClock = clock.monotonicClock
        try self.init(path: path, options: options)
    }

    /// Runs `body` as one access.
    @discardableResult
    public func access<T>(_ body: (Database) throws -> T) throws -> T {
        try access(nil, body)
    }

    /// Runs `body` as one access that can be cancelled.
    @discardableResult
    package func access<T>(_ token: AccessToken?, _ body: (Database) throws -> T) throws -> T {
        try database.beginAccess(token)
        let result: T
        do {
            result = try body(database)
        } catch {
            _ = database.endAccess()
            throw error
        }
        if let error = database.endAccess() { throw error }
        return result
    }
}

import BenchSupport
import CSQLiteBench

/// A connection with the statements of an access prepared once.
final class PreparedConnection: Sendable {
    let connection: Connection
    private let beginDeferred: Statement
    private let beginImmediate: Statement
    private let commit: Statement
    private let pin: Statement
    private let player: Statement?

    /// Unchecked: used by whoever may use the connection.
    private struct Statement: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// - parameter looksUp: whether the file has players to look up.
    init(_ connection: Connection, looksUp: Bool) throws {
        self.connection = connection
        beginDeferred = Statement(pointer: try connection.cached("BEGIN DEFERRED TRANSACTION"))
        beginImmediate = Statement(pointer: try connection.cached("BEGIN IMMEDIATE TRANSACTION"))
        commit = Statement(pointer: try connection.cached("COMMIT TRANSACTION"))
        pin = Statement(pointer: try connection.cached("PRAGMA schema_version"))
        player = looksUp ? Statement(pointer: try connection.cached(BenchSQL.selectPlayer)) : nil
    }

    @inline(__always)
    func read<T>(_ body: () throws -> T) throws -> T {
        try connection.run(beginDeferred.pointer)
        let result = try body()
        try connection.run(commit.pointer)
        return result
    }

    /// A read that takes its snapshot of a WAL file at once, rather than at its first query.
    @inline(__always)
    func pinnedRead<T>(_ body: () throws -> T) throws -> T {
        try connection.run(beginDeferred.pointer)
        try connection.run(pin.pointer)
        let result = try body()
        try connection.run(commit.pointer)
        return result
    }

    @inline(__always)
    func write<T>(_ body: () throws -> T) throws -> T {
        try connection.run(beginImmediate.pointer)
        let result = try body()
        try connection.run(commit.pointer)
        return result
    }

    /// The checksum of the player with the key.
    @inline(__always)
    func lookUp(_ key: Int64) throws -> Int {
        guard let statement = player?.pointer else { return 0 }
        defer { sqlite3_reset(statement) }
        sqlite3_bind_int64(statement, 1, key)
        guard try connection.step(statement) else { return 0 }
        return Player(statement).checksum
    }
}

/// A writer in WAL mode and a free list of readers.
///
/// Unchecked: `free` is used under the mutex alone.
final class ReaderPool: @unchecked Sendable {
    let writer: PreparedConnection
    private let mutex = PthreadMutex()
    private let available = PthreadCondition()
    private var free: [PreparedConnection] = []

    init(path: String, looksUp: Bool, readers: Int = 5) throws {
        writer = try PreparedConnection(walWriter(path), looksUp: looksUp)
        for _ in 0..<readers {
            let reader = try Connection(path, flags: SQLITE_OPEN_READONLY)
            free.append(try PreparedConnection(reader, looksUp: looksUp))
        }
    }

    @inline(__always)
    func withReader<T>(_ body: (PreparedConnection) throws -> T) throws -> T {
        let reader = take()
        defer { give(reader) }
        return try body(reader)
    }

    private func take() -> PreparedConnection {
        mutex.withLock {
            while true {
                if let reader = free.popLast() { return reader }
                mutex.wait(for: available)
            }
        }
    }

    private func give(_ reader: PreparedConnection) {
        mutex.withLock { free.append(reader) }
        available.signal()
    }
}

/// A connection that has switched the file to WAL and left something in it, so that readers find a log to open.
func walWriter(_ path: String) throws -> Connection {
    let connection = try Connection(path)
    try connection.execute(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        CREATE TABLE opened(x);
        DROP TABLE opened;
        """)
    return connection
}

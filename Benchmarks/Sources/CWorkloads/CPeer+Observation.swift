import BenchSupport
import CSQLiteBench
import Foundation

/// Rows 10: writes, and a thread that fetches the new value after each.
extension CPeer {
    /// - parameter fixtures: where to put the file of a pool; nil for a connection in memory.
    static func observe(_ fixtures: Fixtures?) throws -> Workload {
        let (writer, path) = try observedConnection(fixtures)
        let reader = try path.map {
            try PreparedConnection(Connection($0, flags: SQLITE_OPEN_READONLY), looksUp: false)
        }
        let prepared = try PreparedConnection(writer, looksUp: false)
        let raise = Prepared(pointer: try writer.cached(BenchSQL.raiseObserved))
        let connection = reader?.connection ?? writer
        let select = Prepared(pointer: try connection.cached(BenchSQL.selectObserved))
        let observer = ObservingThread {
            let body = {
                defer { sqlite3_reset(select.pointer) }
                _ = try connection.step(select.pointer)
                return Int(sqlite3_column_int64(select.pointer, 0))
            }
            return if let reader { try reader.pinnedRead(body) } else { try prepared.read(body) }
        }
        return Workload(
            .sync { range in
                var sum = 0
                for _ in range {
                    try prepared.write { try writer.run(raise.pointer) }
                    sum += observer.next() > 0 ? 1 : 0
                }
                return sum
            }, finish: { try finish(writer) })
    }

    static func writeObserved(_ sql: String, _ fixtures: Fixtures?) throws -> Workload {
        let (writer, _) = try observedConnection(fixtures)
        let prepared = try PreparedConnection(writer, looksUp: false)
        let statement = Prepared(pointer: try writer.cached(sql))
        let mutex = PthreadMutex()
        return Workload(
            .sync { range in
                for _ in range {
                    try mutex.withLock { try prepared.write { try writer.run(statement.pointer) } }
                }
                return range.count
            }, finish: { try finish(writer) })
    }

    /// Makes a thousand writes; then a connection ends its read, and begins another.
    static func writeAndPin(_ fixtures: Fixtures) throws -> Workload {
        let (writer, path) = try observedConnection(fixtures)
        let reader = try Connection(path ?? "", flags: SQLITE_OPEN_READONLY)
        let prepared = try PreparedConnection(writer, looksUp: false)
        let statement = Prepared(pointer: try writer.cached(BenchSQL.raiseObserved))
        let select = Prepared(pointer: try reader.cached(BenchSQL.selectObserved))
        let mutex = PthreadMutex()
        try reader.execute("BEGIN")
        return Workload(
            .sync { range in
                for _ in range {
                    for _ in 0..<BenchSQL.commitCount {
                        try mutex.withLock { try prepared.write { try writer.run(statement.pointer) } }
                    }
                    try reader.execute("COMMIT; BEGIN")
                    try reader.run(select.pointer)
                }
                return range.count * BenchSQL.commitCount
            }, finish: { try finish(writer) })
    }

    private static func observedConnection(_ fixtures: Fixtures?) throws -> (Connection, path: String?) {
        let path = fixtures?.newPath()
        let connection = try path.map { try walWriter($0) } ?? Connection(":memory:")
        try connection.execute(BenchSQL.createObserved)
        try connection.execute(BenchSQL.insertObserved)
        return (connection, path)
    }

    private static func finish(_ connection: Connection) throws -> Int {
        let score = try connection.integer(BenchSQL.selectObserved)
        try connection.execute(BenchSQL.resetObserved)
        return score
    }

    /// Unchecked: used by whoever may use the connection.
    private struct Prepared: @unchecked Sendable {
        let pointer: OpaquePointer
    }
}

/// A thread that fetches a value whenever it is told to.
///
/// Unchecked: `value` is written before `fetched` is signalled, and read after it.
private final class ObservingThread: @unchecked Sendable {
    private let changed = DispatchSemaphore(value: 0)
    private let fetched = DispatchSemaphore(value: 0)
    private var value = 0
    private var isClosed = false

    init(_ fetch: @escaping @Sendable () throws -> Int) {
        let thread = Thread { [changed, fetched, weak self] in
            while true {
                changed.wait()
                guard let self, !self.isClosed else { return }
                self.value = (try? fetch()) ?? 0
                fetched.signal()
            }
        }
        thread.start()
    }

    deinit {
        isClosed = true
        changed.signal()
    }

    /// Tells the thread of a change, and returns the value that it fetches.
    func next() -> Int {
        changed.signal()
        fetched.wait()
        return value
    }
}

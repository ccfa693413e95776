import Foundation
import Quarry
import QuarryCore
import QuarryTestSupport
import Testing

/// The kinds of writers that a test runs with.
enum WriterKind: String, CaseIterable, Codable, CustomTestStringConvertible {
    case memoryQueue
    case fileQueue
    case walQueue
    case pool
    case anyQueue
    case anyPool

    var testDescription: String { rawValue }
    var isPool: Bool { self == .pool || self == .anyPool }

    func make(
        _ folder: TemporaryFolder, _ configuration: Configuration = Configuration()
    ) throws -> any DatabaseWriter {
        let path = folder.file("\(rawValue).sqlite")
        switch self {
        case .memoryQueue: return try DatabaseQueue(configuration: configuration)
        case .fileQueue: return try DatabaseQueue(path: path, configuration: configuration)
        case .walQueue:
            var configuration = configuration
            configuration.journalMode = .wal
            return try DatabaseQueue(path: path, configuration: configuration)
        case .pool: return try DatabasePool(path: path, configuration: configuration)
        case .anyQueue: return AnyDatabaseWriter(try DatabaseQueue(path: path, configuration: configuration))
        case .anyPool: return AnyDatabaseWriter(try DatabasePool(path: path, configuration: configuration))
        }
    }
}

extension TemporaryFolder {
    /// A pool whose asynchronous accesses run on the library's threads.
    func offloadedPool(_ name: String = "a.sqlite", readerCount: Int = 2) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = readerCount
        return try DatabasePool(path: file(name), configuration: configuration)
    }
}

/// Frequent accesses: a table of integers, its rows, its count.
extension DatabaseWriter {
    /// Creates `t (a INTEGER)` with a row for each value.
    func makeTable(_ values: Int...) throws {
        try write { db in
            try db.execute(sql: "CREATE TABLE t (a INTEGER)")
            for value in values { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }
        }
    }
}

extension Database {
    /// The rows of `t`, in order.
    func values() throws -> [Int] { try Int.fetchAll(self, sql: "SELECT a FROM t ORDER BY a") }

    func insert(_ value: Int) throws { try execute(sql: "INSERT INTO t VALUES (?)", arguments: [value]) }

    func count() throws -> Int { try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM t") ?? -1 }

    /// Runs until it is interrupted: the rows of an endless query. It throws after some minutes, so that a test ends
    /// whose canceller has failed.
    func runForever() throws {
        SwiftThreads.willBlock(until: "an endless query is interrupted")
        try runUntilTimeout()
    }

    /// As `runForever`, in a test whose timeout ends the query: no task of the test needs a thread meanwhile.
    func runUntilTimeout() throws {
        try interrupting(at: SystemClock.monotonicNanoseconds() + UInt64(2 * Step.patience * 1e9)) {
            try execute(
                sql: """
                    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
                    SELECT n FROM numbers WHERE n < 0
                    """)
        }
        throw Step.NeverReached("the interruption of an endless query")
    }
}

/// The SQL that connections run, as SQLite's trace reports it.
final class SQLTrace: Sendable {
    private let lines = Recorded<[String]>([])
    private let statements = Recorded<[String: Set<Int>]>([:])

    /// Adds the trace to each connection that is opened with a configuration.
    func install(in configuration: inout Configuration) {
        configuration.prepareDatabase { [lines, statements] db in
            _ = db.hooks.onTrace(.statements) { event in
                guard case .statement(let statement, let text) = event else { return }
                let sql = String(cString: text)
                lines.update { $0.append(sql) }
                _ = statements.update { $0[sql, default: []].insert(Int(bitPattern: statement)) }
            }
        }
    }

    /// The statements that have run since the last call.
    func take() -> [String] {
        lines.update { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// How many prepared statements have run that text.
    func statementCount(_ sql: String) -> Int { statements.value[sql]?.count ?? 0 }
}

/// Suspends until a completion-style access has called back.
func completion<T: Sendable>(_ body: (@escaping @Sendable (T) -> Void) -> Void) async -> T {
    await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
}

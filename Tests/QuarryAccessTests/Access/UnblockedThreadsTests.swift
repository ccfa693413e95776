import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// The asynchronous forms hold none of Swift's threads while they wait: more of them wait than there are threads, and
/// another task goes on.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct UnblockedThreadsTests {
    /// A method that waits for an access to end, or for the lock of a file.
    enum Method: String, CaseIterable, Codable, Sendable {
        case read, write, close, closeGently, backup, releaseMemory, open, copy

        /// Keeps the method waiting.
        fileprivate func hold(_ pool: DatabasePool, _ file: DatabaseQueue, _ body: (Database) throws -> Void) throws {
            switch self {
            case .read, .closeGently, .backup: try pool.read(body)
            case .write, .close, .releaseMemory: try pool.write(body)
            case .open, .copy:
                try file.inTransaction(.exclusive) { db in
                    try body(db)
                    return .commit
                }
            }
        }

        fileprivate func run(_ pool: DatabasePool, _ file: DatabaseQueue) async throws {
            let long = Duration.seconds(600)
            var configuration = Configuration()
            configuration.busyMode = .timeout(600)
            switch self {
            case .read: try await pool.read(timeout: long) { _ in }
            case .write: try await pool.write(timeout: long) { _ in }
            case .close: try await pool.closeAsync()
            case .closeGently: try await pool.close(gracePeriod: long)
            case .backup: try await pool.backupAsync(to: try DatabaseQueue())
            case .releaseMemory: await pool.releaseMemoryAsync()
            case .open: _ = try await DatabaseQueue.open(path: file.path, configuration: configuration)
            case .copy:
                _ = try await DatabaseQueue.temporaryCopyAsync(fromPath: file.path, configuration: configuration)
            }
        }
    }

    @Test(arguments: Method.allCases) func methodsThatWait(_ method: Method) async throws {
        let folder = try TemporaryFolder()
        let count = 2 * CooperativePool.width
        let mayEnd = Step("another task has run")
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        var databases: [(pool: DatabasePool, file: DatabaseQueue)] = []
        var holders: [OwnThread<Void>] = []
        for index in 0..<count {
            let pool = try DatabasePool(path: folder.file("\(index)-pool.sqlite"), configuration: configuration)
            let file = try DatabaseQueue(path: folder.file("\(index).sqlite"))
            try await file.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER)") }
            databases.append((pool, file))
            let isHeld = Step("an access goes on")
            holders.append(
                OwnThread {
                    try method.hold(pool, file) { _ in
                        isHeld.reach()
                        try mayEnd.wait()
                    }
                })
            try await isHeld.reached()
        }
        let begun = Recorded(0)
        let ended = Recorded(0)
        let tasks = databases.map { pool, file in
            Task {
                begun.update { $0 += 1 }
                defer { ended.update { $0 += 1 } }
                try await method.run(pool, file)
            }
        }
        try await until("all have begun") { begun.value == count }
        // Each of these needs a thread.
        for _ in 0..<count { await Task { await Task.yield() }.value }
        #expect(ended.value == 0)
        mayEnd.reach()
        for holder in holders { try await holder.value }
        for task in tasks { try await task.value }
    }

    /// Readers with connections of their own, whose opening takes long.
    @Test(arguments: OwnReaderTests.OwnReader.allCases) func readersThatOpen(
        _ reader: OwnReaderTests.OwnReader
    ) async throws {
        let folder = try TemporaryFolder()
        let count = 2 * CooperativePool.width
        let mayOpen = Step("another task has run")
        let opening = Recorded(0)
        let isMade = Recorded(false)
        var configuration = Configuration()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { _ in
            guard isMade.value else { return }
            opening.update { $0 += 1 }
            try mayOpen.wait()
        }
        let pools = try (0..<count).map { index in
            try DatabasePool(path: folder.file("\(index).sqlite"), configuration: configuration)
        }
        isMade.update { $0 = true }
        let tasks = pools.map { pool in Task { try await reader.make(pool).closeAsync() } }
        try await until("all are being opened") { opening.value == count }
        // Each of these needs a thread.
        for _ in 0..<count { await Task { await Task.yield() }.value }
        mayOpen.reach()
        for task in tasks { try await task.value }
    }
}

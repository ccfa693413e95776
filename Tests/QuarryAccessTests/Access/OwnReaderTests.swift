import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

@testable import QuarryAccess

/// Making the readers that have connections of their own, by tasks.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct OwnReaderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makePool() throws -> DatabasePool {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.makeTable(1)
        return pool
    }

    /// The readers with connections of their own.
    enum OwnReader: String, CaseIterable, Codable {
        case snapshot, snapshotPool, stableReader

        func make(_ pool: DatabasePool) async throws -> any DatabaseReader {
            switch self {
            case .snapshot: try await pool.makeSnapshotAsync()
            case .snapshotPool: try await pool.makeSnapshotPoolAsync()
            case .stableReader: try await pool.makeStableReader()
            }
        }
    }

    /// A task that is cancelled while `prepareDatabase` runs on a connection of a snapshot gets none.
    @Test(arguments: OwnReader.allCases) func makingAReaderIsCancelledWhileItOpens(_ reader: OwnReader) async throws {
        let opened = Recorded(0)
        let isOpening = Step("a connection is being opened")
        let mayGoOn = Step("the task is cancelled")
        var configuration = Configuration()
        configuration.prepareDatabase { _ in
            guard
                opened.update({
                    $0 += 1
                    return $0
                }) == 2
            else { return }
            isOpening.reach()
            try mayGoOn.wait()
        }
        let pool = try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)
        let making = Task { try await reader.make(pool) }
        try await isOpening.reached()
        making.cancel()
        mayGoOn.reach()
        await #expect(throws: CancellationError.self) { _ = try await making.value }
        // Nothing of it is left.
        #expect(pool.core.pinnedReadersIfMade?.all.isEmpty ?? true)
        #expect(pool.core.journalIfMade?.keptCount ?? 0 == 0)
        #expect(try await reader.make(pool).read { db in db.isInsideTransaction })
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reader.make(pool)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }

    /// Making a reader waits for no write, and doesn't see it.
    @Test(arguments: OwnReader.allCases) func makingAReaderDuringAWrite(_ reader: OwnReader) async throws {
        let pool = try makePool()
        let (hasWritten, mayCommit) = (Step("a write runs"), Step("the reader is made"))
        let write = OwnThread {
            try pool.write { db in
                try db.insert(2)
                hasWritten.reach()
                try mayCommit.wait()
            }
        }
        try await hasWritten.reached()
        let made = try await reader.make(pool)
        #expect(try await made.read { db in try db.values() } == [1])
        mayCommit.reach()
        try await write.value
        #expect(try await made.read { db in try db.values() } == [1])
        if let stable = made as? StableReader {
            #expect(try await stable.advance().count == 1)
            #expect(try await stable.read { db in try db.values() } == [1, 2])
        }
    }

    @Test(arguments: OwnReader.allCases) func makingAReaderOfAClosedPool(_ reader: OwnReader) async throws {
        let pool = try makePool()
        try await pool.closeAsync()
        await expectError(.SQLITE_MISUSE, "Connection is closed") { _ = try await reader.make(pool) }
        #expect(try folder.names == ["a.sqlite"])
    }
}

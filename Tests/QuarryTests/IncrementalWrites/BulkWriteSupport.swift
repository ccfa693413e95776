import Quarry
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryIncrementalWrites

/// The form of a bulk write: of a sequence, on a thread or in a task, or of an asynchronous sequence.
enum BulkWriteForm: CaseIterable, Codable {
    case thread
    case task
    case stream

    /// Inserts records: in chunks of 100 from a stream, and otherwise in steps of 128.
    func insert<Record: MutablePersistableRecord & Sendable>(
        _ records: [Record], into writer: any DatabaseWriter,
        onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ pace: IncrementalWritePace = IncrementalWritePace(maximumHold: .seconds(600)),
        progress: @escaping @Sendable (BulkWriteProgress) throws -> Void = { _ in }
    ) async throws -> BulkWriteProgress {
        switch self {
        case .thread:
            try await onOwnThread {
                try writer.insertIncrementally(
                    records, onConflict: conflictResolution, pace: pace, progress: progress)
            }
        case .task:
            try await writer.insertIncrementally(
                records, onConflict: conflictResolution, pace: pace, progress: progress)
        case .stream:
            try await writer.insertIncrementally(
                Stream(records), chunkSize: 100, onConflict: conflictResolution, pace: pace, progress: progress)
        }
    }

    func upsert(
        _ records: [BulkPlayer], into writer: any DatabaseWriter, _ pace: IncrementalWritePace
    ) async throws -> BulkWriteProgress {
        switch self {
        case .thread: try await onOwnThread { try writer.upsertIncrementally(records, pace: pace) }
        case .task: try await writer.upsertIncrementally(records, pace: pace)
        case .stream: try await writer.upsertIncrementally(Stream(records), chunkSize: 100, pace: pace)
        }
    }

    /// An asynchronous sequence of some elements.
    struct Stream<Element: Sendable>: AsyncSequence, Sendable {
        let elements: [Element]

        init(_ elements: [Element]) { self.elements = elements }

        func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
            let remaining = Recorded(elements[...])
            return AsyncStream { remaining.update { $0.popFirst() } }.makeAsyncIterator()
        }
    }
}

/// A record without callbacks.
struct BulkPlayer: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"

    var id: Int
    var name = "Arthur"
}

extension DatabaseWriter {
    func playerIDs() async throws -> [Int] {
        try await read { db in try Int.fetchAll(db, sql: "SELECT id FROM player ORDER BY id") }
    }
}

/// An error of the test.
struct BulkFailure: Error, Equatable {}

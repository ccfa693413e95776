import Quarry
import QuarryTestSupport
import Testing

/// The databases that banks have.
enum BankKind: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
    case pool
    /// With all the deadlines that there are.
    case hurriedPool
    case walQueue
    case fileQueue
    case memoryQueue

    var testDescription: String { rawValue }

    /// Why accesses may fail.
    var allowed: Set<Refusal> {
        let interruptions: Set<Refusal> = [.interrupted, .aborted, .sharedTransactionLost]
        return self == .hurriedPool
            ? interruptions.union([.acquireTimeout, .tooManyWaiters, .statementTimeout]) : interruptions
    }

    private func configuration(_ connections: LiveConnections) -> Configuration {
        var configuration = Configuration()
        configuration.label = "the bank"
        configuration.maximumReaderCount = 3
        // A checkpoint that waits for a reader keeps the writer meanwhile.
        configuration.busyMode = .timeout(0.05)
        if self == .hurriedPool {
            configuration.acquireTimeout = 0.02
            configuration.maximumWaiters = 40
            configuration.statementTimeout = 0.02
        }
        if self == .walQueue { configuration.journalMode = .wal }
        configuration.prepareDatabase { db in
            connections.add(db)
            // Small enough for checkpoints to come often.
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 50")
        }
        return configuration
    }

    /// Whether the database is in a file.
    var isOnFile: Bool { self != .memoryQueue }

    func open(_ folder: TemporaryFolder, _ connections: LiveConnections) throws -> any DatabaseWriter {
        let path = folder.file("\(rawValue).sqlite")
        let configuration = configuration(connections)
        switch self {
        case .pool, .hurriedPool: return try DatabasePool(path: path, configuration: configuration)
        case .walQueue, .fileQueue: return try DatabaseQueue(path: path, configuration: configuration)
        case .memoryQueue: return try DatabaseQueue(configuration: configuration)
        }
    }
}

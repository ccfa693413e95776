public import Quarry
public import QuarryTestSupport
public import Testing

/// The kinds of writers that a test runs with.
public enum WriterKind: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
    case memoryQueue
    case fileQueue
    case walQueue
    case pool
    case anyQueue
    case anyPool

    public var testDescription: String { rawValue }
    public var isPool: Bool { self == .pool || self == .anyPool }

    public func make(
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
    public func offloadedPool(_ name: String = "a.sqlite", readerCount: Int = 2) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.asyncExecution = .offloaded
        configuration.maximumReaderCount = readerCount
        return try DatabasePool(path: file(name), configuration: configuration)
    }
}

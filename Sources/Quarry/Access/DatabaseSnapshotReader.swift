public import QuarryCore

/// A type that reads a state that doesn't change: `DatabaseSnapshot`, `DatabaseSnapshotPool`.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Reads; inside an access of this thread, with that access's connection, which sees the same state.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

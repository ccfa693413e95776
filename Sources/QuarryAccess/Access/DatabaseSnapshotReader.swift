public import QuarryCore

/// A type that reads a state that doesn't change: `DatabaseSnapshot`, `DatabaseSnapshotPool`.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Reads as `read`. Inside an access of this thread, uses that access's connection, which sees the same state.
    ///
    /// - throws: the errors of `read`.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

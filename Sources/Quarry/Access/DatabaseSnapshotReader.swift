public import QuarryCore

/// What reads a state that doesn't change: `DatabaseSnapshot`, `DatabaseSnapshotPool`.
public protocol DatabaseSnapshotReader: DatabaseReader {
    /// Reads; inside an access of this thread, with that access's connection. Nothing can go wrong with that: the state
    /// is the same.
    func reentrantRead<T>(_ value: (Database) throws -> T) throws -> T
}

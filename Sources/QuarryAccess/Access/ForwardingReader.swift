package import QuarryCore

/// A reader that forwards to another one: an erased reader, for example. A type that conforms has the other reader
/// alone.
package protocol ForwardingReader: DatabaseReader {
    var base: any DatabaseReader { get }
}

extension ForwardingReader {
    /// The configuration of the wrapped reader.
    public var configuration: Configuration { base.configuration }

    /// The path of the wrapped reader.
    public var path: String { base.path }

    public func close() throws { try base.close() }

    public func closeAsync() async throws { try await base.closeAsync() }

    @discardableResult
    public func prepareConnections(
        _ setup: @escaping @Sendable (Database) throws -> Void
    ) -> ConnectionPreparation { base.prepareConnections(setup) }

    public func interrupt() { base.interrupt() }

    public func read<T>(_ value: (Database) throws -> T) throws -> T { try base.read(value) }

    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await base.read(value)
    }

    public func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.asyncRead(value)
    }

    public func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T { try base.unsafeRead(value) }

    public func unsafeRead<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await base.unsafeRead(value)
    }

    public func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        base.asyncUnsafeRead(value)
    }

    public func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T {
        try base.unsafeReentrantRead(value)
    }
}

/// A writer that forwards to another one.
package protocol ForwardingWriter: ForwardingReader, DatabaseWriter {
    var writer: any DatabaseWriter { get }
}

extension ForwardingWriter {
    package var base: any DatabaseReader { writer }

    public func write<T>(_ updates: (Database) throws -> T) throws -> T { try writer.write(updates) }

    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.write(updates)
    }

    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.writeWithoutTransaction(updates)
    }

    public func writeWithoutTransaction<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await writer.writeWithoutTransaction(updates)
    }

    public func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void) {
        writer.asyncWriteWithoutTransaction(updates)
    }

    public func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.barrierWriteWithoutTransaction(updates)
    }

    public func barrierWriteWithoutTransaction<T: Sendable>(
        _ updates: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.barrierWriteWithoutTransaction(updates)
    }

    public func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.asyncBarrierWriteWithoutTransaction(updates)
    }

    public func asyncWrite<T: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        writer.asyncWrite(updates, completion: completion)
    }

    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T {
        try writer.unsafeReentrantWrite(updates)
    }

    public func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        writer.spawnConcurrentRead(value)
    }
}

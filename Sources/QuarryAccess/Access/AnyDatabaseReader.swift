/// A type-erased reader.
///
/// ```swift
/// let reader = AnyDatabaseReader(dbPool)
/// ```
public final class AnyDatabaseReader: ForwardingReader {
    package let base: any DatabaseReader

    /// Wraps a reader.
    public init(_ base: any DatabaseReader) { self.base = base }
}

/// A type-erased writer.
///
/// ```swift
/// let writer = AnyDatabaseWriter(dbPool)
/// ```
public final class AnyDatabaseWriter: ForwardingWriter {
    package let writer: any DatabaseWriter

    /// Wraps a writer.
    public init(_ base: any DatabaseWriter) { writer = base }
}

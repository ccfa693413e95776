/// A type that is decoded from rows: rows themselves, values of the leftmost column, types of the layers above.
///
/// All fetch verbs are written for this protocol. Types conform to it through a protocol that inherits from it, such as
/// `DatabaseValueConvertible`.
public protocol RowDecodable {
    /// Decodes the current row of a cursor.
    ///
    /// - throws: `RowDecodingError` if the row has no such value; or the error of the type's decoding.
    static func decoded(from row: Row) throws -> Self

    /// Decodes a value that outlives the row.
    ///
    /// - throws: the errors of `decoded(from:)`.
    static func detached(from row: Row) throws -> Self

    /// Decodes the first row of a result; nil if the row has no value.
    ///
    /// - throws: the errors of `decoded(from:)`.
    static func decodedFirst(from row: Row) throws -> Self?
}

extension RowDecodable {
    /// Same as `decoded(from:)`: most values outlive their row.
    ///
    /// - throws: the errors of `decoded(from:)`.
    @inlinable
    public static func detached(from row: Row) throws -> Self { try decoded(from: row) }

    /// Same as `detached(from:)`: the row has a value.
    ///
    /// - throws: the errors of `decoded(from:)`.
    @inlinable
    public static func decodedFirst(from row: Row) throws -> Self? { try detached(from: row) }
}

extension DatabaseValueConvertible {
    /// The value of the leftmost column.
    ///
    /// - throws: `RowDecodingError` if the column has no such value, or the row has no column.
    @inlinable
    public static func decoded(from row: Row) throws -> Self {
        if let value = row.fastDecode(Self.self, 0) { return value }
        return try row.decodeSlowly(Self.self, atIndex: 0)
    }

    /// The value of the leftmost column; nil for NULL.
    ///
    /// - throws: `RowDecodingError` if the column has no such value, or the row has no column.
    @inlinable
    public static func decodedFirst(from row: Row) throws -> Self? {
        if let value = row.fastDecode(Self.self, 0) { return value }
        return try row.decodeFirstSlowly(Self.self)
    }
}

extension Row: RowDecodable {
    /// The row itself.
    ///
    /// - throws: nothing.
    @inlinable
    public static func decoded(from row: Row) throws -> Self { unsafeDowncast(row, to: Self.self) }

    /// A copy.
    ///
    /// - throws: nothing.
    public static func detached(from row: Row) throws -> Self { unsafeDowncast(row.copy(), to: Self.self) }
}

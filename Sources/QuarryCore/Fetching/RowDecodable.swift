/// How a row becomes a value: rows themselves, values of the leftmost column, records.
///
/// It is the one protocol behind all fetch verbs; types conform through `DatabaseValueConvertible`.
public protocol RowDecodable {
    /// The value of the row a cursor stands on.
    static func decoded(from row: Row) throws -> Self

    /// A value that outlives the row.
    static func detached(from row: Row) throws -> Self

    /// The value of the first row of a result, or nil if it counts for none.
    static func decodedFirst(from row: Row) throws -> Self?
}

extension RowDecodable {
    /// The same: most values outlive their row.
    @inlinable
    public static func detached(from row: Row) throws -> Self { try decoded(from: row) }

    /// The value of the row.
    @inlinable
    public static func decodedFirst(from row: Row) throws -> Self? { try detached(from: row) }
}

extension DatabaseValueConvertible {
    /// The value of the leftmost column.
    @inlinable
    public static func decoded(from row: Row) throws -> Self {
        if let value = row.fastDecode(Self.self, 0) { return value }
        return try row.decodeSlowly(Self.self, atIndex: 0)
    }

    /// The value of the leftmost column; nil for NULL.
    @inlinable
    public static func decodedFirst(from row: Row) throws -> Self? {
        if let value = row.fastDecode(Self.self, 0) { return value }
        return try row.decodeFirstSlowly(Self.self)
    }
}

extension Row: RowDecodable {
    /// The row itself.
    @inlinable
    public static func decoded(from row: Row) throws -> Self { unsafeDowncast(row, to: Self.self) }

    /// A copy.
    public static func detached(from row: Row) throws -> Self { unsafeDowncast(row.copy(), to: Self.self) }
}

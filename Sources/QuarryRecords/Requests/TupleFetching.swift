public import QuarryCore
import QuarrySQL

// Rows as tuples of their first columns. A tuple can't conform to a protocol, so it has its own verbs.

/// The values of a row's first columns.
private struct Values<each Value: DatabaseValueConvertible>: RowDecodable {
    var values: (repeat each Value)

    static func decoded(from row: Row) throws -> Self {
        var index = 0
        func next<T: DatabaseValueConvertible>(_ type: T.Type) throws -> T {
            defer { index += 1 }
            return try row.decode(type, atIndex: index)
        }
        return Values(values: (repeat try next((each Value).self)))
    }
}

extension FetchRequest {
    /// A cursor over the rows, as tuples.
    ///
    /// ```swift
    /// let scores = try Player.select({ ($0.name, $0.score) }, as: (String, Int).self).fetchCursor(db)
    /// while let (name, score) = try scores.next() { … }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func fetchCursor<A, B, each C>(_ db: Database) throws -> AnyCursor<RowDecoder>
    where
        RowDecoder == (A, B, repeat each C), A: DatabaseValueConvertible, B: DatabaseValueConvertible,
        repeat each C: DatabaseValueConvertible
    {
        AnyCursor(try Values<A, B, repeat each C>.fetchCursor(db, self).map { $0.values })
    }

    /// All rows, as tuples.
    ///
    /// ```swift
    /// let scores: [(String, Int)] = try Player.select { ($0.name, $0.score) }.fetchAll(db)
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    public func fetchAll<A, B, each C>(_ db: Database) throws -> [RowDecoder]
    where
        RowDecoder == (A, B, repeat each C), A: DatabaseValueConvertible, B: DatabaseValueConvertible,
        repeat each C: DatabaseValueConvertible
    {
        try Values<A, B, repeat each C>.fetchAll(db, self).map { $0.values }
    }

    /// The first row, as a tuple; nil if there is no row.
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    public func fetchOne<A, B, each C>(_ db: Database) throws -> RowDecoder?
    where
        RowDecoder == (A, B, repeat each C), A: DatabaseValueConvertible, B: DatabaseValueConvertible,
        repeat each C: DatabaseValueConvertible
    {
        try Values<A, B, repeat each C>.fetchOne(db, self)?.values
    }
}

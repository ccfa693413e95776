public import QuarryCore

extension FetchableRecord where Self: Decodable {
    /// Decodes the record: each property from the column of its name.
    ///
    /// A property whose type is no value of a column is decoded from JSON; one that has no column, from the row's scope
    /// of that name.
    ///
    /// Keys that are one byte, as the cases of an enum are, are asked for their names in the first rows of a fetch, not
    /// in each.
    ///
    /// - throws: `RowDecodingError`, which names the key, the column and the value.
    public init(row: borrowing Row) throws {
        self = try RowDecoder.decode(Self.self, from: row)
    }
}

/// Decodes records from rows, where a type has an `init(row:)` of its own, and wants to do something besides.
///
/// ```swift
/// struct Player: Decodable, FetchableRecord {
///     var name: String
///     init(row: Row) throws {
///         self = try FetchableRecordDecoder().decode(Player.self, from: row)
///         name = name.uppercased()
///     }
/// }
/// ```
public final class FetchableRecordDecoder {
    /// A decoder.
    public init() {}

    /// A record of a row.
    ///
    /// - throws: `RowDecodingError`.
    public func decode<T: FetchableRecord & Decodable>(_ type: T.Type, from row: Row) throws -> T {
        try RowDecoder.decode(type, from: row)
    }
}

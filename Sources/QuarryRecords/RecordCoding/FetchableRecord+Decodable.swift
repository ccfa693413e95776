public import QuarryCore

/// Decodes records from rows, for types whose own `init(row:)` does more than decode.
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
    /// ```swift
    /// let player = try FetchableRecordDecoder().decode(Player.self, from: ["id": 1, "name": "Arthur"])
    /// ```
    ///
    /// - throws: `RowDecodingError` for a missing column, and for a value that can't be what the property needs;
    ///   `DecodingError.keyNotFound` for a missing record or list.
    public func decode<T: FetchableRecord & Decodable>(_ type: T.Type, from row: Row) throws -> T {
        let (decoder, decoding) = row.beginDecoding(type)
        defer { row.endDecoding(decoding) }
        return try T(from: decoder)
    }
}

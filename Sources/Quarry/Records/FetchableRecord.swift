public import QuarryCore

/// A type that is made of a row.
///
/// ```swift
/// struct Player: FetchableRecord {
///     var id: Int64
///     var name: String
///
///     init(row: Row) throws {
///         id = try row.decode(forColumn: "id")
///         name = try row.decode(forColumn: "name")
///     }
/// }
/// let players = try Player.fetchAll(db, sql: "SELECT * FROM player") // [Player]
/// let best = try Player.fetchOne(db, sql: "SELECT * FROM player ORDER BY score DESC LIMIT 1") // Player?
/// ```
///
/// A `Decodable` type needs no `init(row:)`: each of its properties is read from the column of the same name.
///
/// ```swift
/// struct Player: Decodable, FetchableRecord {
///     var id: Int64
///     var name: String
/// }
/// ```
public protocol FetchableRecord: RowDecodable, RecordDecodingStrategies {
    /// A record of the row.
    ///
    /// The row may be that of a cursor, and is another one at its next step: `copy()` it to keep it.
    init(row: borrowing Row) throws
}

extension FetchableRecord {
    /// A record of the row.
    @inlinable
    public static func decoded(from row: Row) throws -> Self { try Self(row: row) }
}

/// A cursor of records.
///
/// ```swift
/// let players = try Player.fetchCursor(db, sql: "SELECT * FROM player") // RecordCursor<Player>
/// while let player = try players.next() { print(player.name) }
/// ```
public typealias RecordCursor<Record: FetchableRecord> = FetchCursor<Record>

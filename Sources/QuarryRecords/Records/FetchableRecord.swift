public import QuarryCore

/// A type that can be decoded from a row.
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
/// A `Decodable` type needs no `init(row:)`: each property is read from the column with its name.
///
/// ```swift
/// struct Player: Decodable, FetchableRecord {
///     var id: Int64
///     var name: String
/// }
/// ```
public protocol FetchableRecord: RowDecodable, RecordDecodingStrategies {
    /// Makes a record from a row.
    ///
    /// The row may be a cursor's, which changes at the next step: use `copy()` to keep it.
    ///
    /// - throws: any error: the fetch throws it, such as a `RowDecodingError` of `Row.decode`.
    init(row: borrowing Row) throws
}

extension FetchableRecord {
    /// Makes a record from the row.
    ///
    /// - throws: the error of `init(row:)`.
    @inlinable
    public static func decoded(from row: Row) throws -> Self { try Self(row: row) }
}

extension FetchableRecord where Self: Decodable {
    /// Decodes the record: each property from the column with its name.
    ///
    /// ```swift
    /// struct Player: Decodable, FetchableRecord {
    ///     var id: Int64
    ///     var name: String
    /// }
    /// let player = try Player(row: ["id": 1, "name": "Arthur"])
    /// ```
    ///
    /// A property whose type isn't a column's value is decoded from JSON; a property without a column is decoded from
    /// the row's scope with that name.
    ///
    /// Keys of one byte, such as the cases of an enum, are asked for their names only in the first rows of a fetch.
    ///
    /// - throws: `RowDecodingError` for a missing column, and for a value that can't be converted to the property's
    ///   type: it names the key and the column, and the value if `Configuration.publicStatementArguments` is set.
    ///   `DecodingError.keyNotFound` for a record or list that isn't a scope of the row, and wasn't prefetched: its
    ///   `underlyingError` is a `RowDecodingError` with the row and the SQL.
    @inlinable
    public init(row: borrowing Row) throws {
        let (decoder, decoding) = row.beginDecoding(Self.self)
        do {
            try self.init(from: consume decoder)
        } catch {
            row.endDecoding(decoding)
            throw error
        }
        row.endDecoding(decoding)
    }
}

extension Row {
    /// Begins to decode a record, in the session that the row's cursor has kept, or a new one.
    ///
    /// - returns: the decoder, and the session, which must be passed to `endDecoding`.
    @usableFromInline
    func beginDecoding(_ type: any RecordDecodingStrategies.Type) -> (RecordDecoder, RecordDecoding) {
        let session = DecodingSession.begin(type, self)
        return (session._withUnsafeGuaranteedRef { $0.decoder }, RecordDecoding(session: session))
    }

    /// Ends the decoding of a record: the row's cursor keeps the session for the next one.
    @usableFromInline
    func endDecoding(_ decoding: RecordDecoding) { DecodingSession.end(decoding.session, self) }
}

/// The session of a record that is being decoded, retained: the decoder owns it too, but user code drops the decoder.
@usableFromInline
struct RecordDecoding {
    let session: Unmanaged<DecodingSession>
}

/// The decoder of one record. After the record it throws, which `CodingSession` explains.
@usableFromInline
struct RecordDecoder: Decoder {
    let session: DecodingSession
    let generation: UInt

    /// The session; nil if the record has ended.
    var activeSession: DecodingSession? { session.generation == generation ? session : nil }

    @usableFromInline var codingPath: [any CodingKey] { activeSession?.codingPath ?? [] }

    @usableFromInline var userInfo: [CodingUserInfoKey: Any] { activeSession?.type.databaseDecodingUserInfo ?? [:] }

    @usableFromInline
    func container<Key: CodingKey>(keyedBy keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard session.generation == generation else { throw DecoderHasEnded() }
        return session.container(keyedBy: keys)
    }

    @usableFromInline
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let activeSession else { throw DecoderHasEnded() }
        throw try activeSession.row().decodingError(
            "a row has named columns: \(activeSession.type) can't be decoded as a list")
    }

    @usableFromInline
    func singleValueContainer() -> any SingleValueDecodingContainer { RowSingleValueContainer(decoder: self) }
}

/// A cursor of records.
///
/// ```swift
/// let players = try Player.fetchCursor(db, sql: "SELECT * FROM player") // RecordCursor<Player>
/// while let player = try players.next() { print(player.name) }
/// ```
public typealias RecordCursor<Record: FetchableRecord> = FetchCursor<Record>

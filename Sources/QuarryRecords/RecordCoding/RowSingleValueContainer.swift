import QuarryCore

/// A value was requested for a key that has no column. The session of the row around throws an error that names the
/// key.
private struct NoColumn: Error {}

/// The row as a single value: of a type that wraps another.
struct RowSingleValueContainer: SingleValueDecodingContainer {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Whether all columns are NULL.
    func decodeNil() -> Bool {
        guard let row = try? decoder.activeSession?.row() else { return false }
        return !row.containsNonNullValue
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let session = decoder.activeSession else { throw DecoderHasEnded() }
        if let record = type as? any FetchableRecord.Type { return try fetchRecord(record, from: session.row()) }
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: decoder) }
        if session.replacesKey { throw NoColumn() }
        if type is any DecodedByStrategy.Type || type is any OptionalValue.Type {
            // They are decoded as in any column.
            let value = try session.row().decode(DatabaseValue.self, atIndex: 0)
            let single = SingleValueDecoder(value: value, column: session.firstColumn, path: codingPath)
            return try single.singleValueContainer().decode(type)
        }
        return try decodeFirst(convertible, session)
    }

    private func fetchRecord<Record: FetchableRecord, T>(_ record: Record.Type, from row: Row) throws -> T {
        reinterpret(try Record(row: row))
    }

    /// The leftmost column.
    private func decodeFirst<C: DatabaseValueConvertible, T>(_ type: C.Type, _ session: DecodingSession) throws -> T {
        reinterpret(try session.row().decode(C.self, atIndex: 0))
    }
}

import QuarryCore

/// A value was asked of a key that has no column. The decoder of the row around throws an error that names the key.
private struct NoColumn: Error {}

/// The row as a single value: of a type that wraps another.
struct RowSingleValueContainer: SingleValueDecodingContainer {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Whether all columns are NULL.
    func decodeNil() -> Bool {
        guard let row = try? decoder.rowDecoder().takeUnretainedValue().row() else { return false }
        return !row.containsNonNullValue
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let rowDecoder = try decoder.rowDecoder().takeUnretainedValue()
        if let record = type as? any FetchableRecord.Type { return try fetchRecord(record, from: rowDecoder.row()) }
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: decoder) }
        if rowDecoder.standsForKey { throw NoColumn() }
        if type is any DecodedByStrategy.Type || type is any OptionalValue.Type {
            // They are decoded as in any column.
            let value = try rowDecoder.row().decode(DatabaseValue.self, atIndex: 0)
            let single = SingleValueDecoder(value: value, column: rowDecoder.firstColumn, path: codingPath)
            return try single.singleValueContainer().decode(type)
        }
        return try decodeFirst(convertible, rowDecoder)
    }

    private func fetchRecord<Record: FetchableRecord, T>(_ record: Record.Type, from row: Row) throws -> T {
        reinterpret(try Record(row: row))
    }

    /// The leftmost column.
    private func decodeFirst<C: DatabaseValueConvertible, T>(_ type: C.Type, _ rowDecoder: RowDecoder) throws -> T {
        reinterpret(try rowDecoder.row().decode(C.self, atIndex: 0))
    }
}

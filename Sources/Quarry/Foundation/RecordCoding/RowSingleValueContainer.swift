import QuarryCore

/// The row as a single value: of a type that wraps another.
struct RowSingleValueContainer: SingleValueDecodingContainer {
    let decoder: RecordDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let convertible = type as? any DatabaseValueConvertible.Type else { return try T(from: decoder) }
        return try decodeFirst(convertible)
    }

    /// The leftmost column.
    private func decodeFirst<C: DatabaseValueConvertible, T>(_ type: C.Type) throws -> T {
        reinterpret(try decoder.rowDecoder().takeUnretainedValue().row().decode(C.self, atIndex: 0))
    }
}

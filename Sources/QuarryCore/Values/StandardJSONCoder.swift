/// Stands for the encoder and the decoder of JSON that the library uses where a type names none.
///
/// The coders of Foundation are known to the layer above: an associated type lets `databaseJSONEncoder()` be a
/// requirement all the same.
public struct StandardJSONCoder: Sendable {
    @inlinable
    init() {}
}

extension DatabaseValueConvertible where DatabaseJSONEncoder == StandardJSONCoder {
    /// The library's encoder: sorted keys, dates as milliseconds since 1970, data as base 64.
    @inlinable
    public static func databaseJSONEncoder() -> StandardJSONCoder { StandardJSONCoder() }
}

extension DatabaseValueConvertible where DatabaseJSONDecoder == StandardJSONCoder {
    /// The library's decoder, which reads what its encoder writes.
    @inlinable
    public static func databaseJSONDecoder() -> StandardJSONCoder { StandardJSONCoder() }
}

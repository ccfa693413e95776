/// A placeholder for the library's JSON encoder and decoder, for types that don't choose their own.
///
/// Foundation's coders are known only to the layer above, so the protocol names the result of `databaseJSONEncoder()`
/// by a type of its own.
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
    /// The library's decoder, which reads the encoder's JSON.
    @inlinable
    public static func databaseJSONDecoder() -> StandardJSONCoder { StandardJSONCoder() }
}

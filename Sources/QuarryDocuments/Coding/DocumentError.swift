import Quarry

/// A document that can't be encoded, decoded or upgraded.
///
/// ```swift
/// do {
///     _ = try books.get(db, key: "moby-dick")
/// } catch let error as DocumentError {
///     print(error)
///     // document books/moby-dick: could not decode the object as Book at author.name: key not found
/// }
/// ```
///
/// The description has no values of the document; `underlyingError` may have.
public struct DocumentError: Error, CustomStringConvertible {
    /// The failed operation.
    public enum Operation: Hashable, Sendable {
        /// The object could not be encoded.
        case encodingObject
        /// The JSON could not be decoded as the object's type.
        case decodingObject
        /// The metadata could not be encoded.
        case encodingMetadata
        /// The JSON could not be decoded as the metadata's type.
        case decodingMetadata
        /// An object of an older version could not be converted to the current one.
        case upgradingObject
    }

    /// The failed operation.
    public let operation: Operation

    /// The name of the store.
    public let store: String

    /// The name of the collection.
    public let collection: String

    /// The key of the document.
    public let key: String

    /// The place in the object or metadata; empty for the whole.
    public let codingPath: [String]

    /// The reason, without values.
    public let reason: String

    /// The error of the encoder, the decoder or the closure; nil if there was none.
    public let underlyingError: (any Error)?

    /// The name of the type.
    private let typeName: String

    init(
        _ operation: Operation, _ type: Any.Type, _ address: DocumentAddress, reason: String? = nil,
        _ error: (any Error)? = nil
    ) {
        self.operation = operation
        typeName = "\(type)"
        store = address.store
        collection = address.collection
        key = address.key
        let place = error.flatMap(CodingPlace.init)
        codingPath = place?.path ?? []
        self.reason = reason ?? place?.reason ?? error.map { "it threw \(Swift.type(of: $0))" } ?? "it is missing"
        underlyingError = error
    }

    /// `document books/moby-dick: could not decode the object as Book at author.name: key not found`
    public var description: String {
        let action =
            switch operation {
            case .encodingObject: "encode the object of type \(typeName)"
            case .decodingObject: "decode the object as \(typeName)"
            case .encodingMetadata: "encode the metadata of type \(typeName)"
            case .decodingMetadata: "decode the metadata as \(typeName)"
            case .upgradingObject: "upgrade the object to \(typeName)"
            }
        let place = codingPath.isEmpty ? "" : " at \(codingPath.joined(separator: "."))"
        return "\(store) \(collection)/\(key): could not \(action)\(place): \(reason)"
    }
}

/// The place of a document.
struct DocumentAddress {
    let store: String
    let collection: String
    let key: String
}

/// The path and the reason of a coding error.
private struct CodingPlace {
    let path: [String]
    let reason: String

    init?(_ error: any Error) {
        var keys: [any CodingKey]
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            keys = context.codingPath + [key]
            reason = "key not found"
        case DecodingError.valueNotFound(_, let context):
            keys = context.codingPath
            reason = context.debugDescription
        case DecodingError.typeMismatch(_, let context):
            keys = context.codingPath
            reason = context.debugDescription
        case DecodingError.dataCorrupted(let context):
            keys = context.codingPath
            // The description may have the value.
            reason = "the data is not valid"
        case EncodingError.invalidValue(let value, let context):
            keys = context.codingPath
            reason = "a value of type \(type(of: value)) can't be encoded"
        default: return nil
        }
        path = keys.map { $0.intValue.map(String.init) ?? $0.stringValue }
    }
}

import QuarryCore
import QuarrySQL

/// The place between two rows of a request where a page begins or ends.
///
/// A token has the values by which its row is ordered, and a hash of the order. Its text can be a part of a URL:
///
/// ```swift
/// // GET /players?after=…
/// let token = try request.uri.queryParameters["after"].map { try PageToken(String($0)) }
/// let page = try await dbPool.read { db in try Player.order(\.score.desc).page(size: 20, after: token).fetch(db) }
/// ```
///
/// The text isn't encrypted: a client can read the values, and make others. It can't reach other rows than those of the
/// request. To notice a forged token, sign it: `text(signature:)`.
public struct PageToken: Sendable, Hashable {
    let orderIdentifier: UInt64
    let position: PageOrder.Position

    init(_ orderIdentifier: UInt64, _ position: PageOrder.Position) {
        self.orderIdentifier = orderIdentifier
        self.position = position
    }

    /// The token in a text.
    ///
    /// ```swift
    /// let token = try PageToken("AQAuu…")
    /// ```
    ///
    /// - throws: `PageTokenError.malformed` for another text, or for a signed token.
    public init(_ text: String) throws(PageTokenError) {
        guard let bytes = [UInt8](pageTokenText: text) else { throw .malformed }
        try self.init(bytes: bytes)
    }

    /// The token in a signed text.
    ///
    /// ```swift
    /// let token = try PageToken(text) { bytes in Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }
    /// ```
    ///
    /// - parameters:
    ///   - text: a text of `text(signature:)`.
    ///   - signature: makes the signature of bytes.
    /// - throws: `PageTokenError.malformed` for another text; `PageTokenError.wrongSignature`; the error of
    ///   `signature`.
    public init(_ text: String, signature: (_ bytes: [UInt8]) throws -> [UInt8]) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = [UInt8](pageTokenText: String(parts[0])),
            let given = [UInt8](pageTokenText: String(parts[1]))
        else { throw PageTokenError.malformed }
        let expected = try signature(bytes)
        // All bytes are compared, so that the time doesn't reveal how many of them are right.
        let difference = zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) }
        guard !expected.isEmpty, given.count == expected.count, difference == 0 else {
            throw PageTokenError.wrongSignature
        }
        try self.init(bytes: bytes)
    }

    /// The text: letters, digits, `-` and `_`.
    public var text: String { bytes.pageTokenText }

    /// The text with a signature: two texts of letters, digits, `-` and `_`, with a point between them.
    ///
    /// ```swift
    /// let text = page.next?.text { bytes in Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }
    /// ```
    ///
    /// - parameter signature: makes the signature of bytes.
    /// - throws: the error of `signature`.
    public func text(signature: (_ bytes: [UInt8]) throws -> [UInt8]) rethrows -> String {
        "\(bytes.pageTokenText).\(try signature(bytes).pageTokenText)"
    }
}

/// Why a text isn't a token of a request's pages. A server answers 400.
///
/// ```swift
/// do {
///     return try await players(after: request.uri.queryParameters["after"].map(String.init))
/// } catch let error as PageTokenError {
///     throw HTTPError(.badRequest, message: "\(error)")
/// }
/// ```
public enum PageTokenError: Error, Hashable {
    /// The text isn't a token.
    case malformed

    /// The token is that of a request with another order: the order has changed since, or the token has been made for
    /// another request.
    case otherOrder

    /// The signature isn't that of the token.
    case wrongSignature
}

extension PageTokenError: CustomStringConvertible {
    /// The problem, and the cure.
    public var description: String {
        switch self {
        case .malformed: "This isn't a page token: begin with the first page."
        case .otherOrder: "The page token belongs to rows in another order: begin with the first page."
        case .wrongSignature: "The page token has a wrong signature: begin with the first page."
        }
    }
}

extension PageToken: CustomStringConvertible, Codable {
    /// Same as `text`.
    public var description: String { text }

    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
        }
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

// MARK: - Bytes

extension PageToken {
    private static let version: UInt8 = 1

    /// A version, whether the row is included, the hash of the order, and values: each a kind, and its bytes.
    private var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.version, position.isIncluded ? 1 : 0]
        bytes.append(bigEndian: orderIdentifier)
        for value in position.values {
            switch value.rawStorage {
            case .null: bytes.append(0)
            case .int64(let integer):
                bytes.append(1)
                bytes.append(bigEndian: UInt64(bitPattern: integer))
            case .double(let double):
                bytes.append(2)
                bytes.append(bigEndian: double.bitPattern)
            case .string(let string): bytes.append(3, Array(string.utf8))
            case .blob(let blob): bytes.append(4, blob)
            }
        }
        return bytes
    }

    private init(bytes: [UInt8]) throws(PageTokenError) {
        var rest = bytes[...]
        guard rest.popFirst() == Self.version, let flags = rest.popFirst(), flags < 2,
            let orderIdentifier = rest.popBigEndian()
        else { throw .malformed }
        var values: [DatabaseValue] = []
        while let kind = rest.popFirst() {
            guard let value = rest.popValue(kind) else { throw .malformed }
            values.append(value)
        }
        self.init(orderIdentifier, PageOrder.Position(values: values, isIncluded: flags == 1))
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    fileprivate mutating func append(_ kind: UInt8, _ bytes: [UInt8]) {
        append(kind)
        append(bigEndian: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func popBigEndian() -> UInt64? {
        guard count >= 8 else { return nil }
        defer { removeFirst(8) }
        return prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    fileprivate mutating func popValue(_ kind: UInt8) -> DatabaseValue? {
        switch kind {
        case 0: return .null
        case 1: return popBigEndian().map { Int64(bitPattern: $0).databaseValue }
        case 2: return popBigEndian().map { Double(bitPattern: $0).databaseValue }
        case 3, 4:
            guard let length = popBigEndian(), length <= UInt64(count) else { return nil }
            let bytes = Array(prefix(Int(length)))
            removeFirst(bytes.count)
            if kind == 4 { return bytes.databaseValue }
            return String(validating: bytes, as: UTF8.self)?.databaseValue
        default: return nil
        }
    }
}

internal import Foundation
internal import Hummingbird
internal import HummingbirdCore

/// The parameters after the question mark of a URI, as HTML forms write them: `q=database+library&section=libs`.
///
/// Stricter than Hummingbird's own parser: wrong escapes, invalid UTF-8 and repeated parameters are errors, so that no
/// request is answered as another one than was meant.
struct QueryParameters {
    private var values: [String: String] = [:]

    /// - throws: `RequestError` with the status 400.
    init(_ uri: URI) throws {
        for pair in (uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decode(parts[0], named: "parameter", plusIsSpace: true)
            let value = parts.count == 1 ? "" : try Self.decode(parts[1], named: name, plusIsSpace: true)
            guard values.updateValue(value, forKey: name) == nil else {
                throw RequestError.bad("The parameter \(name.excerpt) was given twice.")
            }
        }
    }

    /// The value of a parameter; nil if it is absent or empty, as a form sends fields that were not filled in.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A text without its percent escapes.
    ///
    /// - throws: `RequestError` with the status 400.
    static func decode(
        _ text: some StringProtocol, named name: String, plusIsSpace: Bool = false
    ) throws -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                guard digits.count == 2 else {
                    throw RequestError.bad("The percent encoding of \(name.excerpt) is broken: \(text.excerpt).")
                }
                rest = rest.dropFirst(2)
                bytes.append(UInt8(digits[0] * 16 + digits[1]))
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw RequestError.bad("The value of \(name.excerpt) is not valid UTF-8: \(text.excerpt).")
        }
        return decoded
    }
}

extension PageRequest {
    /// - throws: `RequestError` with the status 400.
    init(_ parameters: QueryParameters, limits: ServerLimits) throws {
        self.init(section: parameters["section"], package: parameters["package"])
        if let query = parameters["q"], query.contains(where: { !$0.isWhitespace }) {
            guard query.utf8.count <= limits.queryLength else {
                throw RequestError.bad(
                    "The search text has \(query.utf8.count) bytes; at most \(limits.queryLength) are allowed.")
            }
            self.query = query
        }
        if let text = parameters["page"] {
            guard let page = Int(text), page >= 1 else {
                throw RequestError.bad("The page must be a number from 1, not \(text.excerpt).")
            }
            guard page <= limits.pageNumber else {
                throw RequestError.bad("The page must be at most \(limits.pageNumber), not \(text.excerpt).")
            }
            self.page = page
        }
    }
}

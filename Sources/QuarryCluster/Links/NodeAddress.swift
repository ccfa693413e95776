#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The host and the port of a node: `db1.example.org:9000`, `10.0.0.1:9000`, `[::1]:9000`.
///
/// ```swift
/// let address = try NodeAddress("10.0.0.1:9000")
/// address.host   // "10.0.0.1"
/// address.port   // 9000
/// ```
///
/// Names are in lowercase, and addresses of IPv6 in their shortest form, so that two spellings of an address are equal.
public struct NodeAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, or an address of IPv4 or IPv6. It has no brackets.
    public let host: String

    /// 1 to 65535.
    public let port: UInt16

    /// Parses an address.
    ///
    /// - throws: `InvalidNodeAddress` if the text is no host and port.
    public init(_ text: String) throws(InvalidNodeAddress) {
        guard text.utf8.count <= NodeAddress.maximumLength else {
            throw InvalidNodeAddress(text, "it has \(text.utf8.count) bytes; \(NodeAddress.maximumLength) are the most")
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            throw InvalidNodeAddress(text, "the port is missing")
        }
        let digits = text[text.utf8.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(NodeAddress.isDigit), let port = UInt16(digits), port > 0 else {
            throw InvalidNodeAddress(text, "the port isn't a number from 1 to 65535")
        }
        let name = text[..<colon]
        if name.hasPrefix("["), name.hasSuffix("]") {
            guard let address = NodeAddress.shortestIPv6(name.dropFirst().dropLast()) else {
                throw InvalidNodeAddress(text, "the brackets contain no address of IPv6")
            }
            host = address
        } else {
            host = try NodeAddress.checkedName(name, of: text)
        }
        self.port = port
    }

    /// `host:port`, with brackets around an address of IPv6.
    public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The longest name of a host has 253 bytes; a zone, a port and brackets add fewer than the rest.
    private static let maximumLength = 320

    /// A name or an address of IPv4, in lowercase.
    private static func checkedName(_ name: Substring, of text: String) throws(InvalidNodeAddress) -> String {
        guard !name.isEmpty else { throw InvalidNodeAddress(text, "the host is missing") }
        guard !name.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidNodeAddress(text, "an address of IPv6 needs brackets")
        }
        guard name.utf8.allSatisfy(isOfName) else {
            throw InvalidNodeAddress(text, "a host has letters, digits, dots, hyphens and underscores only")
        }
        // The resolver reads "10.1" as 10.0.0.1, and asks name servers for "10.0.0.300". Neither is meant.
        let last = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last
        if let last, last.allSatisfy(isDigit) {
            var address = in_addr()
            guard inet_pton(AF_INET, String(name), &address) == 1 else {
                throw InvalidNodeAddress(text, "the host is no address of IPv4, and a name doesn't end with a number")
            }
        }
        return name.lowercased()
    }

    /// An address of IPv6 in the form of <https://www.rfc-editor.org/rfc/rfc5952>, with its zone: `fe80::1%eth0`.
    private static func shortestIPv6(_ text: Substring) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
        var address = in6_addr()
        // A NUL would end the text for C.
        guard let first = parts.first, !first.contains(0), inet_pton(AF_INET6, String(Substring(first)), &address) == 1
        else { return nil }
        let shortest = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(AF_INET6, &address, buffer.baseAddress!, socklen_t(buffer.count)).map { String(cString: $0) }
        }
        guard parts.count == 2 else { return shortest }
        guard !parts[1].isEmpty, parts[1].allSatisfy(isOfName) else { return nil }
        return shortest.map { "\($0)%\(Substring(parts[1]))" }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: isDigit(byte)
        }
    }
}

/// A text that is no address of a node.
public struct InvalidNodeAddress: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text, shortened, and the reason.
    public let description: String

    init(_ text: String, _ reason: String) {
        let start = String(text.prefix(80))
        let quoted = start.debugDescription + (start.utf8.count < text.utf8.count ? "…" : "")
        description = "\(quoted) is no address of a node, such as 10.0.0.1:9000: \(reason)."
    }
}

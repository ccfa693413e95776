/// A host and a port: `db1.example.org:9000`, `10.0.0.1:9000`.
public struct NodeAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address of IPv4.
    public let host: String

    /// 1 to 65535.
    public let port: UInt16

    /// Parses an address.
    public init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":") else {
            throw NodeError("\"\(text)\" has no port: an address is host:port, such as 10.0.0.1:9000.")
        }
        let host = text[..<colon]
        let number = text[text.index(after: colon)...]
        guard !host.isEmpty, !host.contains(":"), !host.utf8.contains(0) else {
            throw NodeError("\"\(text)\" has no host that is a name or an address of IPv4.")
        }
        guard let port = UInt16(number), port > 0 else {
            throw NodeError("\"\(text)\" has the port \"\(number)\": a port is 1 to 65535.")
        }
        self.host = String(host)
        self.port = port
    }

    /// `host:port`.
    public var description: String { "\(host):\(port)" }
}

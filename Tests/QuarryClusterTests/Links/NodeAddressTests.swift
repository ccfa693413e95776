import QuarryCluster
import Testing

@Suite struct NodeAddressTests {
    @Test(arguments: [
        ("10.0.0.1:9000", "10.0.0.1", 9_000, "10.0.0.1:9000"),
        ("DB1.Example.org:1", "db1.example.org", 1, "db1.example.org:1"),
        ("node_1:65535", "node_1", 65_535, "node_1:65535"),
        ("[::1]:9000", "::1", 9_000, "[::1]:9000"),
        ("[0:0:0:0:0:0:0:1]:9000", "::1", 9_000, "[::1]:9000"),
        ("[2001:DB8::0A]:80", "2001:db8::a", 80, "[2001:db8::a]:80"),
        ("[fe80::1%eth0]:9000", "fe80::1%eth0", 9_000, "[fe80::1%eth0]:9000"),
    ]) func validAddresses(_ text: String, _ host: String, _ port: UInt16, _ description: String) throws {
        let address = try NodeAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == description)
        #expect(try NodeAddress(address.description) == address)
    }

    @Test(arguments: [
        ("", "the port is missing"),
        ("10.0.0.1", "the port is missing"),
        ("10.0.0.1:", "the port isn't a number from 1 to 65535"),
        ("10.0.0.1:0", "the port isn't a number from 1 to 65535"),
        ("10.0.0.1:+9000", "the port isn't a number from 1 to 65535"),
        ("10.0.0.1:65536", "the port isn't a number from 1 to 65535"),
        ("10.0.0.1:٩", "the port isn't a number from 1 to 65535"),
        (":9000", "the host is missing"),
        ("::1:9000", "an address of IPv6 needs brackets"),
        ("[::1:9000", "an address of IPv6 needs brackets"),
        ("[]:9000", "the brackets contain no address of IPv6"),
        ("[10.0.0.1]:9000", "the brackets contain no address of IPv6"),
        ("[::1%]:9000", "the brackets contain no address of IPv6"),
        ("[::1\0]:9000", "the brackets contain no address of IPv6"),
        ("[::1%a\0]:9000", "the brackets contain no address of IPv6"),
        ("a b:9000", "a host has letters, digits, dots, hyphens and underscores only"),
        ("a\0:9000", "a host has letters, digits, dots, hyphens and underscores only"),
        ("@1:9000", "a host has letters, digits, dots, hyphens and underscores only"),
        ("bücher.de:9000", "a host has letters, digits, dots, hyphens and underscores only"),
        ("10.0.0.300:9000", "the host is no address of IPv4, and a name doesn't end with a number"),
        ("10.1:9000", "the host is no address of IPv4, and a name doesn't end with a number"),
    ]) func invalidAddresses(_ text: String, _ reason: String) {
        let error = #expect(throws: InvalidNodeAddress.self) { try NodeAddress(text) }
        #expect(
            error?.description == "\(text.debugDescription) is no address of a node, such as 10.0.0.1:9000: \(reason).")
    }

    @Test func errorsQuoteTheBeginningOfALongText() {
        let error = #expect(throws: InvalidNodeAddress.self) { try NodeAddress(String(repeating: "a", count: 9_999)) }
        #expect(
            error?.description == """
                "\(String(repeating: "a", count: 80))"… is no address of a node, such as 10.0.0.1:9000: it has \
                9999 bytes; 320 are the most.
                """)
    }
}

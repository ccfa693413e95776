import ClusterTestSupport
import QuarryClusterTLS
import Testing

/// Connectors and listeners on this machine, which accept only peers of their authority. `TLSTests` of
/// `ClusterNodeTests`, and `EncryptedTests`, have them in front of real nodes.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    private let folder = try! NodeFolder()

    /// The cluster's certificate, or a stranger's, with an authority of the same name.
    private func files(_ name: String = "own") throws -> CertificateFiles { try CertificateFiles(in: folder, name) }

    @Test(arguments: ["127.0.0.1", "localhost"]) func bytesPassInBothDirections(host: String) throws {
        let files = try files()
        let server = try EchoServer(files)
        let socket = try TestSocket(
            TLSConnector(files.certificates()).connect(to: host, port: server.port, milliseconds: 10_000))
        // More than the sockets' buffers hold.
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 8) }
        socket.sendOnThread(bytes)
        #expect(socket.receive(bytes.count) == bytes)
        #expect(server.connectionCount == 1)
        // Connections outlive their listener.
        server.close()
        #expect(!server.isListening)
        socket.sendOnThread([7])
        #expect(socket.receive(1) == [7])
        // Another program may have the port by now, but nothing reaches this server.
        _ = try? TLSConnector(files.certificates()).connect(to: host, port: server.port, milliseconds: 10_000)
        #expect(server.connectionCount == 1)
    }

    @Test func strangersAreRefused() throws {
        let (own, other) = (try files(), try files("other"))
        let server = try EchoServer(own)
        // Each refuses the other's; only the server refuses the client's; only the client refuses the server's.
        let strangers = [
            (try other.certificates(), server),
            (
                try Certificates(certificate: other.certificate, key: other.key, authority: own.authority), server
            ),
            (
                try own.certificates(),
                try EchoServer(
                    Certificates(certificate: other.certificate, key: other.key, authority: own.authority))
            ),
        ]
        for (certificates, server) in strangers {
            let socket = try TestSocket(
                TLSConnector(certificates).connect(to: "127.0.0.1", port: server.port, milliseconds: 10_000))
            socket.sendOnThread([1, 2, 3])
            #expect(socket.receive(1) == [])
            #expect(server.connectionCount == 0)
        }
        // Others still get through.
        let socket = try TestSocket(
            TLSConnector(own.certificates()).connect(to: "127.0.0.1", port: server.port, milliseconds: 10_000))
        socket.sendOnThread([1, 2, 3])
        #expect(socket.receive(3) == [1, 2, 3])
    }

    @Test func aPortWithoutListenerIsNamed() throws {
        let files = try files()
        let (socket, port) = try TestSocket.withPort()
        let error = #expect(throws: ClusterTLSError.self) {
            try TLSConnector(files.certificates()).connect(to: "127.0.0.1", port: port, milliseconds: 10_000)
        }
        withExtendedLifetime(socket) {}
        #expect(
            error?.description.hasPrefix("Can't connect to 127.0.0.1:\(port) with TLS: ") == true, "\(error as Any)")
    }

    @Test func anAddressInUseIsNamed() throws {
        let files = try files()
        let server = try EchoServer(files)
        let error = #expect(throws: ClusterTLSError.self) {
            try TLSListener(host: "127.0.0.1", port: server.port, files.certificates()) { throw CancellationError() }
        }
        #expect(error?.description.hasPrefix("Can't listen at 127.0.0.1:\(server.port): ") == true, "\(error as Any)")
    }

    @Test func badFilesAreNamed() throws {
        let (own, other) = (try files(), try files("other"))
        let missing = #expect(throws: ClusterTLSError.self) {
            try Certificates(certificate: "/nowhere.pem", key: own.key, authority: own.authority)
        }
        #expect(missing?.description.hasPrefix("/nowhere.pem can't be read:") == true)
        let mismatch = #expect(throws: ClusterTLSError.self) {
            try Certificates(certificate: own.certificate, key: other.key, authority: own.authority)
        }
        #expect(mismatch?.description.contains("aren't a certificate and its key") == true)
    }
}

#if ClusterTLS
internal import NIOSSL

/// The files of TLS in both directions: a node shows its certificate to clients and to other nodes, and accepts only
/// certificates of the cluster's own authority.
///
/// ```swift
/// let certificates = try Certificates(certificate: "node1.pem", key: "node1.key", authority: "authority.pem")
/// ```
///
/// Names in certificates aren't compared with addresses: the authority signs for nothing but this cluster.
public struct Certificates: Sendable {
    let server: NIOSSLContext
    let client: NIOSSLContext

    /// Reads files of PEM.
    ///
    /// - throws: `ClusterTLSError`, which names the file that can't be read or doesn't fit the others.
    public init(certificate: String, key: String, authority: String) throws {
        let chain = try Certificates.read(certificate) { try NIOSSLCertificate.fromPEMFile(certificate) }
        let privateKey = try Certificates.read(key) { try NIOSSLPrivateKey(file: key, format: .pem) }
        let roots = try Certificates.read(authority) { try NIOSSLCertificate.fromPEMFile(authority) }
        guard !roots.isEmpty, !chain.isEmpty else {
            throw ClusterTLSError("\(certificate) or \(authority) has no certificate.")
        }

        var incoming = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey),
            trustRoots: .certificates(roots))
        incoming.certificateVerification = .noHostnameVerification
        incoming.minimumTLSVersion = .tlsv12
        var outgoing = TLSConfiguration.makeClientConfiguration()
        outgoing.certificateChain = chain.map { .certificate($0) }
        outgoing.privateKey = .privateKey(privateKey)
        outgoing.trustRoots = .certificates(roots)
        outgoing.certificateVerification = .noHostnameVerification
        outgoing.minimumTLSVersion = .tlsv12
        do {
            server = try NIOSSLContext(configuration: incoming)
            client = try NIOSSLContext(configuration: outgoing)
        } catch {
            throw ClusterTLSError("\(certificate) and \(key) aren't a certificate and its key: \(error)")
        }
    }

    private static func read<T>(_ path: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw ClusterTLSError("\(path) can't be read: \(error)")
        }
    }
}
#endif

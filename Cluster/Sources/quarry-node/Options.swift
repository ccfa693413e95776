public import ArgumentParser
public import ClusterNode
import QuarryClusterTLS

/// The files of TLS: all three, or none.
struct TLSOptions: ParsableArguments {
    @Option(help: "This node's certificate, a file of PEM.") var certificate: String?
    @Option(help: "The certificate's private key, a file of PEM.") var key: String?
    @Option(help: "The certificate of the cluster's own authority, a file of PEM.") var authority: String?

    func validate() throws {
        let given = [certificate, key, authority].compactMap { $0 }.count
        if given != 0, given != 3 {
            throw ValidationError("--certificate, --key and --authority are given together.")
        }
    }

    func certificates() throws -> Certificates? {
        guard let certificate, let key, let authority else { return nil }
        return try Certificates(certificate: certificate, key: key, authority: authority)
    }

    func connector() throws -> any Connector {
        try certificates().map { TLSConnector($0) as any Connector } ?? SocketConnector()
    }
}

/// Nodes to ask, with the files of TLS.
struct ClusterOptions: ParsableArguments {
    @Option(name: .long, parsing: .upToNextOption, help: "One or more nodes of the cluster, as host:port.")
    var node: [NodeAddress]
    @OptionGroup var tls: TLSOptions

    func leader() throws -> NodeClient { try NodeClient.leader(of: node, tls.connector()) }
}

extension NodeAddress: ExpressibleByArgument {
    public init?(argument: String) { try? self.init(argument) }
}

package import ClusterNode
import Foundation
package import QuarryClusterTLS

/// An authority and a certificate of its own, in a folder.
package struct CertificateFiles {
    package let certificate: String
    package let key: String
    package let authority: String

    package init(in folder: NodeFolder, _ name: String) throws {
        let path = "\(folder.path)/\(name)"
        let script = Process()
        script.executableURL = URL(fileURLWithPath: "/bin/sh")
        script.arguments = [
            "-euc",
            """
            mkdir "$0" && cd "$0"
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj "/CN=authority" 2>/dev/null
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout node.key -out node.csr \
                -subj "/CN=node" 2>/dev/null
            openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out node.pem -days 2 2>/dev/null
            """, path,
        ]
        try script.run()
        script.waitUntilExit()
        guard script.terminationStatus == 0 else {
            throw NodeProcess.Failure(description: "openssl ended with \(script.terminationStatus)")
        }
        (certificate, key, authority) = ("\(path)/node.pem", "\(path)/node.key", "\(path)/ca.pem")
    }

    /// The options of `quarry-node`.
    package var options: [String] { ["--certificate", certificate, "--key", key, "--authority", authority] }

    package func certificates() throws -> Certificates {
        try Certificates(certificate: certificate, key: key, authority: authority)
    }
}

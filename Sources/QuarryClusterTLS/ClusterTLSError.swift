#if ClusterTLS
/// A file of TLS, a connection or a listener can't be used.
public struct ClusterTLSError: Error, Sendable, CustomStringConvertible {
    /// The sentence for the user.
    public let description: String

    init(_ description: String) { self.description = description }
}
#endif

#if !ClusterTLS
#if QUARRY_IS_DEPENDENCY
#error("add traits: [\"ClusterTLS\"] to the dependency on Quarry")
#endif

// The types of this module when the trait isn't enabled, for packages that depend on a folder.

/// The files of TLS, with the trait `ClusterTLS`.
@available(*, unavailable, message: "add traits: [\"ClusterTLS\"] to the dependency on Quarry")
public struct Certificates { public init(_ arguments: Any...) {} }

/// A failure of TLS, with the trait `ClusterTLS`.
@available(*, unavailable, message: "add traits: [\"ClusterTLS\"] to the dependency on Quarry")
public struct ClusterTLSError { public init(_ arguments: Any...) {} }

/// Connects with TLS, with the trait `ClusterTLS`.
@available(*, unavailable, message: "add traits: [\"ClusterTLS\"] to the dependency on Quarry")
public struct TLSConnector { public init(_ arguments: Any...) {} }

/// Listens with TLS, with the trait `ClusterTLS`.
@available(*, unavailable, message: "add traits: [\"ClusterTLS\"] to the dependency on Quarry")
public struct TLSListener { public init(_ arguments: Any...) {} }
#endif

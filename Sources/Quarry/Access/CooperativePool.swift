#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Swift's own threads.
enum CooperativePool {
    /// How many there are: one for each core.
    static let width = max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
}

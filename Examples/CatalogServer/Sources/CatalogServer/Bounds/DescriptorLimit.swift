internal import Foundation

/// How many descriptors this process may have.
///
/// A server that has none left can't accept a connection, and is told again and again that one waits.
enum DescriptorLimit {
    /// Raises the limit as far as this process may, at most to 65,536, and returns it.
    static func raised() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        let wanted = min(limit.rlim_max, 1 << 16)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}

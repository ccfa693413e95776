/// The place where asynchronous accesses run, once they have their connection. They always wait for it by suspension.
///
/// ```swift
/// var config = Configuration()
/// config.asyncExecution = .offloaded
/// ```
///
/// A hop to another thread and back costs several times a short read. But a long read, or a write that waits for the
/// disk, must not hold a thread of Swift's pool.
public enum AsyncExecution: Sendable {
    /// In memory: where the caller runs, even if the access takes long; use `offloaded` for a database in memory with
    /// long statements. On files: writes run on the library's threads; reads run where the caller runs as long as this
    /// database's reads are short and few run there at a time, and otherwise on the library's threads.
    case automatic

    /// Where the caller runs. Barriers, which wait for all other accesses, and accesses that call back run on the
    /// library's threads. Each write has a commit of its own, even if `Configuration.groupCommit` is set.
    case inline

    /// Always on the library's threads.
    case offloaded
}

/// Where asynchronous accesses run, once they have their connection. They wait for it by suspension, always.
///
/// ```swift
/// var config = Configuration()
/// config.asyncExecution = .offloaded
/// ```
///
/// A hop to another thread and back costs several times what a short read takes; a read that is long, or a write that
/// waits for the disk, must not hold a thread of Swift's pool.
public enum AsyncExecution: Sendable {
    /// In memory: at the caller's, however long; `offloaded` suits a database in memory with long statements. On files:
    /// writes on the library's threads; reads at the caller's as long as this database's reads turn out to be short and
    /// few run there at a time, otherwise on the library's threads.
    case automatic

    /// Where the caller runs. Accesses that wait for all others (barriers), and those that call back, run on the
    /// library's threads.
    case inline

    /// Always on the library's threads.
    case offloaded
}

public import Quarry

/// The configuration of a `DatabaseCluster`.
///
/// ```swift
/// var config = ClusterConfiguration()
/// config.database.label = "app"
/// config.database.maximumReaderCount = 8
/// config.statementTimeout = .milliseconds(500)
/// ```
public struct ClusterConfiguration: Sendable {
    /// The settings that a cluster shares with other databases: the label, the number of readers, the limits of waits,
    /// the preparation of connections, tracers, group commit.
    ///
    /// Settings of files have no effect: `synchronous`, `cacheSize`, `mmapSize`, `vfs` and the like. The readers are
    /// sessions at the leader, so `maximumReaderCount` bounds the reads that are on their way at the same time.
    public var database = Configuration()

    /// The longest time to find the leader and to open the database there. Elections take less than a second with the
    /// default latency of `quarry-node`.
    ///
    /// While there is no leader, accesses that wait in line count the time from the beginning of the first search. Each
    /// has an eighth of the time for itself nevertheless, and at least a quarter of a second.
    public var connectTimeout: Duration = .seconds(10)

    /// The longest time that an answer is waited for. Then the statement throws `SQLITE_INTERRUPT`, and its transaction
    /// is rolled back. If COMMIT has no answer by then, another connection settles its outcome.
    ///
    /// A node runs one statement at a time, and one that takes longer than the election timeout of the nodes costs the
    /// leader its leadership: 15 times the latency of `quarry-node run --latency`, so 300 ms with the default. The node
    /// finishes such a statement although its client has gone: a shorter timeout doesn't prevent the election, but says
    /// which statement caused it.
    public var statementTimeout: Duration = .seconds(5)

    /// The longest time that a commit takes to be settled, after the connection was lost while it was on its way.
    public var settlementTimeout: Duration = .seconds(30)

    /// Whether each write adds an identifier to the table `quarry_commit`, by which the outcome of a commit is learned
    /// whose answer was lost.
    ///
    /// If it is false, such a write throws an error that says that the outcome is unknown.
    public var keepsCommitJournal = true

    /// Whether a read runs again, until `connectTimeout` has passed, if the leader is lost in its midst. Its closure
    /// must have no effects beside its result.
    public var retriesReads = false

    /// Whether a write runs again, until `connectTimeout` has passed, if the leader is lost before its COMMIT or if
    /// none is found. Nothing of the earlier run is kept. Its closure must have no effects beside its changes and its
    /// result.
    ///
    /// With both, a rolling restart of the nodes costs time, and no errors.
    public var retriesWrites = false

    /// Called when a statement is prepared whose plan scans a whole table: it takes the longer the larger the table is,
    /// and a long statement costs the leader its leadership.
    ///
    /// ```swift
    /// config.onScan = { scan in logger.warning("scans \(scan.tables): \(scan.sql)") }
    /// ```
    ///
    /// Small tables are scanned with good reason. The plan is made without the statistics of `ANALYZE`.
    public var onScan: (@Sendable (ClusterScan) -> Void)?

    /// How often the counters of changes are read, while observations exist and the tables have counters: see
    /// `DatabaseCluster.countChanges(in:)`.
    public var changePollingInterval: Duration = .milliseconds(200)

    /// Makes connections by other means than TCP, such as TLS: returns the descriptor of a connected stream socket,
    /// which the session then closes. The second parameter is the number of milliseconds that are left.
    ///
    /// It is called on a thread that may block.
    public var connect: (@Sendable (_ node: NodeAddress, _ milliseconds: Int) throws -> CInt)?

    /// The microseconds since 1970 that the commit journal notes.
    package var wallClock: @Sendable () -> Int64 = CommitIdentifier.now

    /// The defaults.
    public init() {}
}

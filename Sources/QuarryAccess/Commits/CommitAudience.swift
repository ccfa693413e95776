import QuarryCore

/// Learns of each commit of a database: its observations.
protocol CommitAudience: AnyObject, Sendable {
    /// A commit has become visible.
    ///
    /// - returns: whether no observation needs commits any more.
    func commitDidHappen(_ changes: DatabaseRegion, number: Int) -> Bool
}

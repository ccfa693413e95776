/// The last reason for which each node wasn't used, for the error of a search that found no leader.
struct SearchReport: CustomStringConvertible {
    private var reasons: [(address: NodeAddress, reason: String)] = []
    /// The number of reasons that were dropped.
    private var droppedCount = 0

    /// More nodes are counted only: a faulty node can name any number of leaders.
    private static let maximumCount = 10

    /// Replaces the reason of a node.
    ///
    /// A timeout replaces no other reason: the last attempts of each search have too little time to tell of a node.
    mutating func note(_ address: NodeAddress, _ error: LinkError) {
        if case .timedOut = error, reasons.contains(where: { $0.address == address }) { return }
        note(address, error.description)
    }

    /// Replaces the reason of a node.
    ///
    /// - parameter reason: a sentence that names the node.
    mutating func note(_ address: NodeAddress, _ reason: String) {
        if let index = reasons.firstIndex(where: { $0.address == address }) {
            reasons[index].reason = reason
        } else if reasons.count < SearchReport.maximumCount {
            reasons.append((address, reason))
        } else {
            droppedCount += 1
        }
    }

    var description: String {
        if reasons.isEmpty { return "No node was asked." }
        let sentences = reasons.map { $0.reason.shortened(to: 300) }
        let rest = droppedCount > 0 ? ["\(droppedCount) attempts at other nodes failed, too."] : []
        return (sentences + rest).joined(separator: " ")
    }
}

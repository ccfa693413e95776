/// Why a benchmark can't be trusted or run.
package enum BenchError: Error, CustomStringConvertible {
    case checksumsDiffer(row: String, checksums: [(peer: PeerName, checksum: Int)])
    case checksumChanged(row: String, peer: PeerName, from: Int, to: Int)
    case missingWorkload(row: String, peer: PeerName)
    case noResult
    case settlingTasks

    package var description: String {
        switch self {
        case .checksumsDiffer(let row, let checksums):
            let list = checksums.map { "\($0.peer.rawValue) \($0.checksum)" }.joined(separator: ", ")
            return "row \(row): the peers did not do the same work, checksums \(list)"
        case .checksumChanged(let row, let peer, let from, let to):
            return "row \(row): \(peer.rawValue) returned checksum \(from), then \(to)"
        case .missingWorkload(let row, let peer):
            return "row \(row): \(peer.rawValue) has no workload"
        case .noResult:
            return "an asynchronous workload ended without a result"
        case .settlingTasks:
            return "a workload that settles after each operation must be synchronous"
        }
    }
}

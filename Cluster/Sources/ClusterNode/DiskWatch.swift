internal import Glibc

/// Decides what a node does about a full disk.
///
/// dqlite writes its log into files of 8 MB, which it allocates ahead. When it can't allocate one, a leader's process
/// ends, and a follower gives its log up for good, without a word: it would never vote for a write again, not even once
/// there is space.
public struct DiskWatch: Hashable, Sendable {
    /// The bytes of a file of the log.
    public static let segmentSize: UInt64 = 8 << 20

    /// The looks without a file to write into, after which the log counts as given up.
    private static let patience = 3

    private var hasHadSegment = false
    private var wasFull = false
    private var missingCount = 0
    private var hasHandedOver = false

    /// A watch that hasn't looked yet.
    public init() {}

    /// The next thing to do.
    public enum Action: Hashable, Sendable {
        case none
        /// The next files don't fit: another node should lead.
        case handOver
        /// The log is given up: only a new start mends that.
        case end
        /// There is space again, but the log may have been given up: unless the node leads, it should start again.
        case endUnlessLeading
    }

    /// Looks at a disk.
    ///
    /// - parameter freeBytes: the free space.
    /// - parameter hasSegment: whether there is a file for the next entries of the log. A node that has received no
    ///   entry since its start has none.
    public mutating func look(freeBytes: UInt64, hasSegment: Bool) -> Action {
        if freeBytes < DiskWatch.segmentSize { wasFull = true }
        if hasSegment { hasHadSegment = true }
        missingCount = hasHadSegment && wasFull && !hasSegment ? missingCount + 1 : 0
        if missingCount >= DiskWatch.patience { return .end }
        guard freeBytes < 2 * DiskWatch.segmentSize else {
            hasHandedOver = false
            // The files don't always tell that a log has ended.
            return wasFull ? .endUnlessLeading : .none
        }
        // Once: where all disks are full, the leadership would go from node to node.
        defer { hasHandedOver = true }
        return hasHandedOver ? .none : .handOver
    }

    /// Looks at the disk of a node's folder.
    mutating func look(at directory: String) -> Action {
        var system = statvfs()
        guard statvfs(directory, &system) == 0, let stream = opendir(directory) else { return .none }
        defer { closedir(stream) }
        var hasSegment = false
        while let entry = readdir(stream) {
            let isSegment = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { strncmp($0, "open-", 5) == 0 }
            }
            if isSegment { hasSegment = true }
        }
        return look(freeBytes: UInt64(system.f_bavail) * UInt64(system.f_frsize), hasSegment: hasSegment)
    }
}

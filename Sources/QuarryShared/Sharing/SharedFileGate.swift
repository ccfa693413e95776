import Quarry
import QuarryCore

/// The gate of a shared database that others have to make room for: one of a directory.
protocol SharedFileGate: DatabaseGate {
    /// The pool was made, and nothing uses it yet.
    func setRunners(_ writer: AccessRunner, readers: AccessRunner, _ file: SharedFile)

    /// An opening lacks file descriptors or memory: closes another database that is idle.
    ///
    /// - returns: whether one was closed.
    func closeOtherForShortage() -> Bool

    /// The pool is about to be released.
    func poolWillEnd(_ statistics: DatabaseStatistics)

    /// The last connection of the database is closed, and nothing can open another.
    func fileDidEnd()
}

extension DatabasePool {
    /// The file of a shared database; nil for any other pool.
    var sharedFile: SharedFile? { opener as? SharedFile }

    /// The pool of a shared file.
    convenience init(of file: SharedFile) {
        self.init(path: file.path, file.configuration, file.core, file.directory?.workers, file.tracers, file)
        file.setRunners(writer, readers: readers)
        file.directory?.gate.setRunners(writer, readers: readers, file)
    }
}

extension SharedFile {
    var poolGate: (any DatabaseGate)? { directory?.gate }

    func poolWillEnd(_ writer: AccessRunner, readers: AccessRunner) -> Bool {
        // The threads of a directory serve other databases, too.
        guard let directory else { return true }
        directory.gate.poolWillEnd(DatabaseStatistics(of: [writer.group, readers.group], writer, readers: readers))
        return false
    }

    func poolWasReleased(_ groups: [ConnectionGroup]) { end.poolWasReleased(groups) }
}

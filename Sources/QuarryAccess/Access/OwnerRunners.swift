import QuarryCore

/// The runners of a queue or pool, for the accesses of the library. It holds no references, because a core keeps no
/// connections: the queue or pool takes it back before it is released.
package struct OwnerRunners {
    private let writer: Unmanaged<AccessRunner>
    private let readers: Unmanaged<AccessRunner>
    private let configuration: Configuration

    /// One lock for all databases: it is taken when a database is opened or released, at its first commit, and when its
    /// file is damaged.
    fileprivate static let lock = Lock(())

    fileprivate init(_ writer: AccessRunner, readers: AccessRunner, _ configuration: Configuration) {
        self.writer = .passUnretained(writer)
        self.readers = .passUnretained(readers)
        self.configuration = configuration
    }

    /// The runners, which the caller's lock keeps from being released.
    fileprivate var retained: Retained {
        Retained(
            writer: writer.takeUnretainedValue(), readers: readers.takeUnretainedValue(), configuration: configuration)
    }

    /// The runners of a queue or pool that isn't being released, and its configuration.
    package struct Retained {
        package let writer: AccessRunner
        /// That of the writer, for a queue.
        package let readers: AccessRunner
        package let configuration: Configuration
    }
}

extension DatabaseCore {
    /// Lets the library's accesses use the runners of a queue or pool, until `ownerWillEnd`.
    ///
    /// - parameter readers: the runner of the connections that read; that of the writer, for a queue.
    package func setOwner(_ writer: AccessRunner, readers: AccessRunner, _ configuration: Configuration) {
        OwnerRunners.lock.withLock { _ in
            runnersOfOwner = OwnerRunners(writer, readers: readers, configuration)
        }
    }

    /// The queue or pool is about to be released.
    func ownerWillEnd() {
        // Released without the lock: the configuration has closures of the user.
        let runners = OwnerRunners.lock.withLock { _ in runnersOfOwner.take() }
        _ = consume runners
    }

    /// The runners of the queue or pool; nil once it is being released.
    package var runners: OwnerRunners.Retained? {
        OwnerRunners.lock.withLock { _ in runnersOfOwner?.retained }
    }
}

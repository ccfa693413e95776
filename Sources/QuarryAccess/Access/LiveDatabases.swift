import QuarryCore
import Synchronization

/// The queues and pools of the process that are open or closed, but not released.
///
/// A list through the writers themselves, so that opening a database allocates nothing for it, and an access costs
/// nothing. A database is taken out by its `deinit`, which still holds its writer: so each writer in the list may be
/// retained while the lock is held.
package enum LiveDatabases {
    /// The neighbours of a writer in the list.
    struct Links {
        fileprivate var next: Unmanaged<AccessRunner>?
        fileprivate var previous: Unmanaged<AccessRunner>?
    }

    private static let first = Lock<Unmanaged<AccessRunner>?>(nil)

    package static func add(_ writer: AccessRunner) {
        first.withLock { first in
            let reference = Unmanaged.passUnretained(writer)
            writer.links.next = first
            first?.takeUnretainedValue().links.previous = reference
            first = reference
        }
    }

    package static func remove(_ writer: AccessRunner) {
        first.withLock { first in
            let links = writer.links
            if let previous = links.previous {
                previous.takeUnretainedValue().links.next = links.next
            } else {
                first = links.next
            }
            links.next?.takeUnretainedValue().links.previous = links.previous
            writer.links = Links()
        }
    }

    /// Whether a database is open, not counting one that is just being opened.
    static var hasAny: Bool { first.withLock { $0 != nil } }

    private final class SharedPaths: Sendable {
        let path: @Sendable (String) -> String?

        init(_ path: @escaping @Sendable (String) -> String?) { self.path = path }
    }

    private static let sharedPaths = AtomicLazyReference<SharedPaths>()

    /// Adds the databases that several parts of the program share: they know each name by which a file was opened.
    ///
    /// - parameter path: the path of the one that has the file of a path open.
    package static func addSharedDatabases(_ path: @escaping @Sendable (String) -> String?) {
        _ = sharedPaths.storeIfNil(SharedPaths(path))
    }

    /// The path of the shared database that has the file of a path open; nil if none has.
    static func sharedPath(of path: String) -> String? { sharedPaths.load()?.path(path) }

    /// The writers of the databases.
    static var writers: [AccessRunner] {
        first.withLock { first in
            var writers: [AccessRunner] = []
            var next = first
            while let writer = next?.takeUnretainedValue() {
                writers.append(writer)
                next = writer.links.next
            }
            return writers
        }
    }
}

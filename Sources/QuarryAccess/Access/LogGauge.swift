import QuarryCore
import Synchronization

/// The length of a database's write-ahead log, as its commits tell it. A commit stores two numbers, and compares one.
struct LogGauge: ~Copyable, Sendable {
    /// The number of pages in the log after the last commit.
    private let pages = Atomic<Int>(0)

    /// The number of commits.
    private let commitCount = Atomic<Int>(0)

    /// The number of pages of which a commit tells the keeper.
    private let tellingPages = Atomic<Int>(0)

    /// The access of the writer's connection that has run a checkpoint alone.
    private let checkpointAccess = Atomic<Int>(0)

    /// The number of pages and of commits now.
    var extent: (pages: Int, commits: Int) {
        (pages.load(ordering: .relaxed), commitCount.load(ordering: .relaxed))
    }

    /// A commit has let the log grow. One connection at a time commits.
    ///
    /// - returns: the number of commits, if the log is so long that the keeper learns of each; otherwise nil.
    func didGrow(toPages pages: Int) -> Int? {
        self.pages.store(pages, ordering: .relaxed)
        let count = commitCount.load(ordering: .relaxed) + 1
        commitCount.store(count, ordering: .relaxed)
        return pages >= tellingPages.load(ordering: .relaxed) ? count : nil
    }

    /// The log was emptied.
    func logWasEmptied() { pages.store(0, ordering: .relaxed) }

    /// The access that runs changes nothing: it runs a checkpoint.
    func noteCheckpoint(of db: Database) { checkpointAccess.store(db.accessNumber, ordering: .relaxed) }

    /// Whether the access that has the writer's connection changes nothing.
    func isCheckpoint(of db: Database) -> Bool { checkpointAccess.load(ordering: .relaxed) == db.accessNumber }

    func setTellingPages(_ pages: Int) { tellingPages.store(pages, ordering: .relaxed) }
}

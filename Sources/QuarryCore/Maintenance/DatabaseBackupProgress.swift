/// The progress of a backup.
///
/// ```swift
/// try dbQueue.backup(to: DatabaseQueue(path: path), pagesPerStep: 100) { progress in
///     print("\(progress.completedPageCount) of \(progress.totalPageCount) pages")
/// }
/// ```
///
/// See <https://www.sqlite.org/c3ref/backup_finish.html#sqlite3backupremaining>.
public struct DatabaseBackupProgress: Sendable {
    /// The number of pages that remain to be copied.
    public let remainingPageCount: Int

    /// The number of pages of the source.
    public let totalPageCount: Int

    /// The number of copied pages.
    public var completedPageCount: Int { totalPageCount - remainingPageCount }

    /// Whether the backup is complete, so that an error can no longer end it.
    public let isCompleted: Bool

    package init(remainingPageCount: Int, totalPageCount: Int, isCompleted: Bool) {
        self.remainingPageCount = remainingPageCount
        self.totalPageCount = totalPageCount
        self.isCompleted = isCompleted
    }
}

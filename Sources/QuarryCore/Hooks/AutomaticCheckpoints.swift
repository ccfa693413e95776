/// The checkpoints of a log that a commit runs by itself:
/// <https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint>. A value.
///
/// A checkpoint that can't empty the log, because of readers, isn't tried again by the next commit, as SQLite does: it
/// waits for the disk twice. It is tried again when the log has grown by a quarter of the limit.
struct AutomaticCheckpoints {
    /// The length of the log from which a checkpoint is due; 0 for never.
    let pages: Int

    /// The length at which the next one is due.
    private var next: Int

    init(pages: Int = 0) {
        self.pages = pages
        next = pages
    }

    /// A commit has made the log longer, or has begun it anew.
    ///
    /// - returns: whether a checkpoint is due.
    mutating func logDidGrow(toPages length: Int) -> Bool {
        if length < pages { next = pages }
        guard pages > 0, length >= next else { return false }
        next = length + max(1, pages / 4)
        return true
    }
}

/// Learns of the length of a write-ahead log. It is called after each commit, on the thread that has the connection.
package protocol LogListener: AnyObject, Sendable {
    /// A commit has made the log of the main database longer, or has begun it anew.
    ///
    /// - parameter pages: the number of pages in the log.
    /// - parameter hooks: the hooks of the connection that has committed.
    func logDidGrow(toPages pages: Int, of hooks: HookSlots)
}

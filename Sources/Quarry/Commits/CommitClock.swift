/// Numbers the commits of a database, and says whether one is about to show. A value.
struct CommitClock {
    /// The number of the last commit.
    private(set) var number = 0

    /// Whether a commit has begun to show: a read may see the state before or after it.
    private(set) var isCommitting = false

    mutating func commitWillHappen() { isCommitting = true }

    mutating func commitDidNotHappen() { isCommitting = false }

    /// A commit shows that has changed nothing.
    mutating func emptyCommitDidHappen() { isCommitting = false }

    /// A commit shows.
    ///
    /// - returns: its number.
    mutating func commitDidHappen() -> Int {
        isCommitting = false
        number += 1
        return number
    }
}

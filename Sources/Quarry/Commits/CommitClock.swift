/// Numbers the commits of a database, and says whether one is about to show. A value.
struct CommitClock {
    /// The number of the last commit.
    private(set) var number = 0

    /// Whether a commit has begun to show: a read may see the state before or after it.
    private(set) var isCommitting = false

    mutating func commitWillHappen() { isCommitting = true }

    mutating func commitDidNotHappen() { isCommitting = false }

    /// Another connection has committed, before a commit that is about to show.
    ///
    /// - returns: the number of the commit.
    mutating func otherCommitDidHappen() -> Int {
        number += 1
        return number
    }

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

/// Numbers the commits of a database, and says whether one is about to show. A value.
struct CommitClock {
    /// The number of the last commit, in the order in which they are told.
    private(set) var number = 0

    /// The number in the file of the last commit; nil if the file keeps none.
    private var stored: Int?

    /// The number of the last commit that the program is told.
    var commitNumber: CommitNumber { CommitNumber(rawValue: stored ?? number) }

    /// The file keeps the numbers.
    mutating func storeNumbers(from number: Int) { stored = max(stored ?? 0, number) }

    /// Whether a commit has begun to show: a read may see the state before or after it.
    private(set) var isCommitting = false

    mutating func commitWillHappen() { isCommitting = true }

    mutating func commitDidNotHappen() { isCommitting = false }

    /// Another connection has committed, before a commit that is about to show.
    ///
    /// - parameter stored: the number in the file.
    /// - returns: the number of the commit.
    mutating func otherCommitDidHappen(stored new: Int? = nil) -> Int {
        if let new { note(new) }
        number += 1
        return number
    }

    /// A commit shows that has changed nothing.
    mutating func emptyCommitDidHappen() { isCommitting = false }

    /// A commit shows.
    ///
    /// - parameter stored: its number in the file.
    /// - returns: its number.
    mutating func commitDidHappen(stored new: Int? = nil) -> Int {
        if let new { note(new) }
        isCommitting = false
        number += 1
        return number
    }

    private mutating func note(_ new: Int) {
        if let stored, new > stored { self.stored = new }
    }
}

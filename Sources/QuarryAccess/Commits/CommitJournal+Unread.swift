extension CommitJournal {
    /// The commits that a reader may not have seen, if the state of the database is settled.
    package enum Unread {
        /// A commit is becoming visible, or the connections are closed.
        case unsettled
        /// The reader's database was closed.
        case ended
        /// It has read all, up to the number.
        case none(Int)
        /// The next commits.
        case commits([DatabaseCommit])
    }
}

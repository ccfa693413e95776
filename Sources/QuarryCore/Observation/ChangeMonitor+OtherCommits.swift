extension ChangeMonitor {
    /// The progress of a commit.
    enum CommitPhase {
        case none
        /// An observer has refused it.
        case refused
        /// The commit hook has been called, and the listener knows.
        case willCommit
        /// After the commit hook, SQLite has rolled back.
        case rolledBack
    }

    /// Begins or ends to notice the commits of other connections.
    func seeOthers(_ sees: Bool, _ db: Database) {
        guard sees != (others != nil) else { return }
        others = sees ? OtherCommits(db) : nil
    }

    /// A transaction of this connection is committed: tells of others' commits before it.
    @inline(__always)
    func noteOthersBeforeCommit(_ db: Database) {
        if let others, others.writeDidCommit(db) { tellOthers(number: db.watchers.storedCommitNumber?.beforeWritten) }
        if db.watchers.storedCommitNumber != nil { db.watchers.storedCommitNumber?.didCommit() }
    }

    /// A transaction of this connection was rolled back.
    func didNotCommit(_ db: Database) {
        others?.forgetComparison()
        if db.watchers.storedCommitNumber != nil { db.watchers.storedCommitNumber?.didRollBack() }
    }

    func writeDidBegin(_ db: Database) {
        guard let others, others.writeDidBegin(db) else { return }
        tellOthersOfState(db)
        others.othersWereTold()
    }

    /// Tells the listener that other connections have committed the state that the connection sees.
    func tellOthersOfState(_ db: Database) {
        let number = db.configuredCommitNumber
        if let number { db.watchers.storedCommitNumber?.note(number) }
        tellOthers(number: number)
    }

    private func tellOthers(number: Int?) { listener?.otherConnectionDidCommit(number: number) }
}

import CSQLite
package import QuarryCore
package import Testing

/// A listener that records the calls for each commit, and checks that they come in pairs.
package final class RecordingListener: CommitListener {
    private struct State {
        var isCommitting = false
        var changes: [DatabaseRegion] = []
        var problems: [String] = []
        var keys: [[TableName: KeyChanges]] = []
        var failedCommits = 0
        var isUnneeded = false
        var otherCommits = 0
        var otherCommitsBefore: [Int] = []
    }

    private let state = Recorded(State())

    package let needsWillCommit: Bool

    package let needs = NeedsVersion()

    /// Says that the changes of the commits that follow are of no interest, or are.
    package func setUnneeded(_ isUnneeded: Bool) {
        state.update { state in
            needs.grow()
            state.isUnneeded = isUnneeded
        }
    }

    package init(needsWillCommit: Bool = true) { self.needsWillCommit = needsWillCommit }

    /// The changes of the commits, in order, without commits that changed nothing.
    package func takeChanges() -> [DatabaseRegion] {
        state.update { state in
            defer { (state.changes, state.keys) = ([], []) }
            return state.changes
        }
    }

    /// The changed keys of the commits since the last call of `takeChanges`, in order.
    package var keys: [[TableName: KeyChanges]] { state.value.keys }

    /// The number of commits that were announced and didn't happen.
    package var failedCommits: Int { state.value.failedCommits }

    /// The calls that had no partner.
    package var problems: [String] {
        let state = state.value
        return state.problems + (state.isCommitting ? ["a commit was announced, and its end was not told"] : [])
    }

    package func databaseWillCommit() {
        state.update { state in
            if state.isCommitting { state.problems.append("databaseWillCommit twice") }
            state.isCommitting = true
        }
    }

    package func databaseDidCommit(_ db: Database, changes: DatabaseRegion, keys: [TableName: KeyChanges]) -> Int? {
        let isWriting = sqlite3_txn_state(db.sqliteConnection, nil) == SQLITE_TXN_WRITE
        return state.update { state in
            if isWriting { state.problems.append("databaseDidCommit before the commit: \(changes)") }
            state.isCommitting = false
            if !changes.isEmpty {
                state.changes.append(changes)
                state.keys.append(keys)
                state.otherCommitsBefore.append(state.otherCommits)
            }
            return state.isUnneeded ? needs.current : nil
        }
    }

    package func otherConnectionDidCommit(number: Int?) { state.update { $0.otherCommits += 1 } }

    /// How many commits of other connections were told before each of this connection's, since the last call of
    /// `takeChanges`.
    package var otherCommitsBefore: [Int] { state.value.otherCommitsBefore }

    /// How many commits of other connections were told.
    package var otherCommits: Int { state.value.otherCommits }

    package func databaseDidNotCommit() {
        state.update { state in
            if !state.isCommitting { state.problems.append("databaseDidNotCommit without databaseWillCommit") }
            state.isCommitting = false
            state.failedCommits += 1
        }
    }
}

extension Database {
    /// Listens to the commits that `body` makes, and returns what each has changed.
    ///
    /// - parameter needsWillCommit: whether the listener needs the commit hook.
    package func changes(
        rowTables: [String] = [], needsWillCommit: Bool = true, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) throws -> [String] {
        let listener = RecordingListener(needsWillCommit: needsWillCommit)
        try listenToCommits(listener, rowTables: Set(rowTables.map { TableName(schema: "main", name: $0) }))
        defer { try? listenToCommits(nil) }
        try body()
        #expect(listener.problems.isEmpty, sourceLocation: sourceLocation)
        return listener.takeChanges().map(\.description)
    }
}

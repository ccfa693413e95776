/// The statements and other operations of a connection that may write, and run now, in the order in which they began.
///
/// A function that a statement calls may run other statements, and a cursor may be read while other statements run.
///
/// A statement that runs alone, and of which no row is told, isn't in the list: a list of one takes 200 instructions
/// more. `settle` moves it there when anything else comes to pass.
struct RunningChanges {
    struct Change {
        /// The statement; nil for an operation that isn't a statement.
        let statement: Statement?
        /// The changes that the statement may make.
        var accesses: StatementAccesses
        /// `sqlite3_total_changes` at its beginning, plus the changes of the statements that have ended inside it.
        var totalChanges: Int
        /// The value of `AccessRecorder.ownReportCount` for which `accesses` is true.
        var ownReportCount: Int
        /// The rows that it has changed; nil as long as none was told. Most statements are asked for none, and nil is
        /// cheap to copy.
        fileprivate(set) var toldRows: RowChanges?
        /// How often SQLite had prepared the statement again at its beginning.
        let repreparations: CInt
        /// Whether SQLite's count of changed rows has moved on account of it; known at its end.
        fileprivate(set) var hasChanged = false
        /// Whether its changes were rolled back between two of its steps. It makes no others, because it has made all
        /// changes in its first step: <https://www.sqlite.org/lang_returning.html#processing_order>.
        var isRolledBack = false

        /// The rows that it has changed.
        var rows: RowChanges {
            get { toldRows ?? RowChanges() }
            _modify {
                if toldRows == nil { toldRows = RowChanges() }
                yield &toldRows!
            }
        }

        /// Forgets the rows.
        mutating func forgetRows() { toldRows = areRowsHidden ? RowChanges(areHidden: true) : nil }

        /// From now on, changes of rows aren't told.
        mutating func hideRows() { rows.areHidden = true }

        private var areRowsHidden: Bool { toldRows?.areHidden ?? false }
    }

    /// A statement that runs alone.
    private struct Lone {
        let statement: Statement
        let totalChanges: Int
        let ownReportCount: Int
    }

    private var changes: [Change] = []

    /// Nil if `changes` has an element.
    private var lone: Lone?

    /// Whether a statement or another operation is running.
    var hasAny: Bool { lone != nil || !changes.isEmpty }

    var indices: Range<Int> { changes.indices }

    subscript(index: Int) -> Change {
        _read { yield changes[index] }
        _modify { yield &changes[index] }
    }

    /// Finds the statement that SQLite executes at the moment: the newest of those in a step. An operation is one step.
    mutating func findStepping() -> Int? {
        settle()
        return changes.lastIndex { $0.statement?.activity.isStepping ?? true }
    }

    /// A statement begins.
    ///
    /// - parameter tellsRows: whether its changes of rows are told.
    @inline(__always)
    mutating func begin(
        _ statement: Statement, _ accesses: StatementAccesses, totalChanges: Int, ownReportCount: Int, hidesRows: Bool,
        tellsRows: Bool
    ) {
        // Afterwards, the SQL of a definition may not be valid any more: its accesses must be kept.
        if changes.isEmpty, lone == nil, !tellsRows, !hidesRows, !accesses.isDefinition {
            lone = Lone(statement: statement, totalChanges: totalChanges, ownReportCount: ownReportCount)
        } else {
            begin(
                statement, accesses, totalChanges: totalChanges, ownReportCount: ownReportCount, hidesRows: hidesRows)
        }
    }

    /// A statement or another operation begins.
    ///
    /// - parameter hidesRows: whether its changes of rows aren't told.
    mutating func begin(
        _ statement: Statement?, _ accesses: StatementAccesses, totalChanges: Int, ownReportCount: Int, hidesRows: Bool
    ) {
        settle()
        changes.append(
            Change(
                statement: statement, accesses: accesses, totalChanges: totalChanges, ownReportCount: ownReportCount,
                toldRows: hidesRows ? RowChanges(areHidden: true) : nil,
                repreparations: statement?.accesses?.repreparations ?? 0))
    }

    /// From now on, changes of rows aren't told.
    mutating func hideRows() {
        settle()
        for index in changes.indices { changes[index].hideRows() }
    }

    /// Moves a statement that has run alone to the list.
    @inline(never)
    private mutating func settle() {
        guard let statement = lone?.statement, let known = statement.accesses, let lone = lone.take() else { return }
        changes.append(
            Change(
                statement: statement, accesses: known.value, totalChanges: lone.totalChanges,
                ownReportCount: lone.ownReportCount, toldRows: nil, repreparations: known.repreparations))
    }

    /// A statement that has run alone has ended.
    ///
    /// - returns: whether SQLite's count of changed rows has moved; nil if it hasn't run alone, so that `end` must be
    ///   called.
    @inline(__always)
    mutating func endLone(_ statement: Statement, totalChanges: Int) -> Bool? {
        guard let began = lone, began.statement === statement else { return nil }
        lone = nil
        return began.totalChanges != totalChanges
    }

    /// A statement or another operation has ended.
    ///
    /// - returns: its changes; nil if its beginning wasn't told.
    mutating func end(_ statement: Statement?, totalChanges: Int) -> Change? {
        settle()
        // A loop, because `lastIndex(where:)` and `last` copy the elements.
        var index = changes.count - 1
        while index >= 0, changes[index].statement !== statement { index -= 1 }
        guard index >= 0 else { return nil }
        var change = index == changes.count - 1 ? changes.removeLast() : changes.remove(at: index)
        let count = totalChanges - change.totalChanges
        // A statement counts its own changes at its end, so the others have not yet counted theirs.
        if count != 0 { for index in changes.indices { changes[index].totalChanges += count } }
        change.hasChanged = count != 0 && !change.isRolledBack
        return change
    }

    /// The changes that the statements have made so far were rolled back.
    mutating func rollBack(totalChanges: Int) {
        settle()
        for index in changes.indices {
            changes[index].forgetRows()
            changes[index].totalChanges = totalChanges
            // SQLite also rolls back before it prepares a statement again in its first step, and then runs it.
            guard let statement = changes[index].statement else { continue }
            if statement.handle.isBusy, !statement.activity.isStepping { changes[index].isRolledBack = true }
        }
    }
}

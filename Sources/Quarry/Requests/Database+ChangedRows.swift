import QuarryCore
import QuarrySQL

extension Database {
    /// Runs a change of a table or view, and counts the rows.
    ///
    /// SQLite counts no change of a view: of one, those count that its INSTEAD OF triggers make. See
    /// <https://www.sqlite.org/c3ref/changes.html>.
    func countingChanges(of name: String, _ change: () throws -> Void) throws -> Int {
        let before = totalChangesCount
        try change()
        let total = totalChangesCount - before
        if total == 0 { return 0 }
        let count = changesCount
        if count > 0 { return count }
        // The triggers of a table may change rows, and refuse the change itself.
        return try schema.find(name, in: nil, self)?.kind == .view ? total : 0
    }
}

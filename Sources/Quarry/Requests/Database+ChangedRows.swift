import QuarryCore
import QuarrySQL

extension Database {
    /// Runs a change of a table or view, and counts the rows.
    ///
    /// SQLite doesn't count changes of a view: for a view, the changes of its INSTEAD OF triggers are counted. See
    /// <https://www.sqlite.org/c3ref/changes.html>.
    func countingChanges(of name: String, _ change: () throws -> Void) throws -> Int {
        let before = totalChangesCount
        try change()
        let total = totalChangesCount - before
        if total == 0 { return 0 }
        let count = changesCount
        if count > 0 { return count }
        // The triggers of a table may change rows, and prevent the change itself.
        return try schema.find(name, in: nil, self)?.kind == .view ? total : 0
    }
}

/// The running statements that may outlast the call that began them, in the order they began: a list that allocates no
/// memory of its own.
struct ActiveStatements {
    private var newest: Statement?

    private(set) var count = 0

    /// All statements, the one that began last first.
    var newestFirst: [Statement] {
        guard newest != nil else { return [] }
        return Array(
            sequence(state: newest) { (next: inout Statement?) in
                defer { next = next?.olderActive }
                return next
            })
    }

    @inline(__always)
    mutating func append(_ statement: Statement) {
        statement.olderActive = newest.take()
        newest = statement
        count += 1
    }

    /// Removes a statement, which must be in the list.
    @inline(__always)
    mutating func remove(_ statement: Statement) {
        count -= 1
        // Executions mostly end in the reverse of the order in which they began.
        if newest === statement {
            newest = statement.olderActive.take()
        } else {
            removeOlder(statement)
        }
    }

    @inline(never)
    private func removeOlder(_ statement: Statement) {
        var place = newest
        while let newer = place, newer.olderActive !== statement { place = newer.olderActive }
        place?.olderActive = statement.olderActive.take()
    }
}

/// The statements whose changes the listener doesn't need, and marks at those that have changed something in the open
/// transaction. A value.
///
/// A mark takes 30 instructions. Adding a statement to a list, and removing it at the commit, takes 280.
struct UnneededChanges {
    /// The version of the listener's needs for which it is true.
    private(set) var version = 0
    private var accesses: [StatementAccesses] = []
    /// A bit for each of them.
    private var marks: UInt16 = 0

    /// The number of statements that are kept: a program repeats few.
    private static let capacity = UInt16.bitWidth

    /// Whether a statement is marked.
    var hasMarks: Bool { marks != 0 }

    /// Marks a statement.
    ///
    /// It changes the value in any case, and takes indices: a function that only reads the value, and a loop over
    /// elements, retain each list and element.
    ///
    /// - returns: false if its changes may be needed.
    mutating func mark(_ statement: StatementAccesses) -> Bool {
        for index in accesses.indices where accesses[index] === statement {
            marks |= 1 << UInt16(index)
            return true
        }
        return false
    }

    /// Whether the changes of a statement aren't needed.
    func contains(_ statement: StatementAccesses) -> Bool {
        for index in accesses.indices where accesses[index] === statement { return true }
        return false
    }

    mutating func removeMarks() { marks = 0 }

    /// Removes the mark of a statement.
    ///
    /// - returns: the statement; nil if none is marked. A list of all would be allocated for each commit of a pool.
    mutating func takeMarked() -> StatementAccesses? {
        guard marks != 0 else { return nil }
        let index = marks.trailingZeroBitCount
        marks &= marks - 1
        return accesses[index]
    }

    /// Adds a statement. No other may be marked.
    mutating func insert(_ statement: StatementAccesses, version: Int) {
        if version != self.version || accesses.count == Self.capacity { accesses.removeAll(keepingCapacity: true) }
        self.version = version
        if !contains(statement) { accesses.append(statement) }
    }
}

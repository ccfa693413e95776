/// The statements whose changes the listener doesn't need. A value.
struct UnneededChanges {
    private var version = 0
    private var accesses: [StatementAccesses] = []

    /// The number of statements that are kept: a program repeats few.
    private static let capacity = 16

    /// Whether the changes of a statement aren't needed.
    ///
    /// - parameter version: the version of the listener's needs.
    func contains(_ statement: StatementAccesses, version: Int) -> Bool {
        guard version == self.version else { return false }
        for index in accesses.indices where accesses[index] === statement { return true }
        return false
    }

    mutating func insert(_ statement: StatementAccesses, version: Int) {
        if version != self.version || accesses.count == Self.capacity { accesses.removeAll(keepingCapacity: true) }
        self.version = version
        accesses.append(statement)
    }
}

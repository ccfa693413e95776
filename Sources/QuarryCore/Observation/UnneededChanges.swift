/// The changes by statements for which the listener doesn't wait. A value.
struct UnneededChanges {
    private var version = 0
    private var accesses: [StatementAccesses] = []

    /// The number of statements that are kept: a program repeats few.
    private static let capacity = 16

    /// Whether nobody waits for the changes of a statement.
    ///
    /// - parameter version: the listener's `needsVersion`.
    func contains(_ statement: StatementAccesses, version: Int) -> Bool {
        version == self.version && accesses.contains { $0 === statement }
    }

    mutating func insert(_ statement: StatementAccesses, version: Int) {
        if version != self.version || accesses.count == Self.capacity { accesses.removeAll(keepingCapacity: true) }
        self.version = version
        accesses.append(statement)
    }
}

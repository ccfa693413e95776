/// The open savepoints of a connection, the oldest first: <https://www.sqlite.org/lang_savepoint.html>.
struct SavepointStack: Equatable {
    private var names: [String] = []

    /// Whether the oldest savepoint has begun the transaction: then its release commits.
    private var isTransaction = false

    /// The number of open savepoints.
    var depth: Int { names.count }

    /// `SAVEPOINT name`
    ///
    /// - parameter beginsTransaction: whether no transaction was open before.
    mutating func begin(_ name: String, beginsTransaction: Bool = false) {
        if beginsTransaction { isTransaction = true }
        names.append(name.lowercasedASCII)
    }

    /// Whether `RELEASE name` commits the transaction.
    func releaseCommits(_ name: String) -> Bool { isTransaction && isOldest(name) }

    /// Whether the newest savepoint of a name is the oldest of all.
    func isOldest(_ name: String) -> Bool { index(of: name) == 0 }

    /// `RELEASE name`: ends the newest savepoint of that name, and those inside it.
    mutating func release(_ name: String) {
        if let index = index(of: name) { names.removeSubrange(index...) }
    }

    /// `ROLLBACK TO name`: the newest savepoint of that name stays open, those inside it end.
    mutating func rollBack(to name: String) {
        if let index = index(of: name) { names.removeSubrange((index + 1)...) }
    }

    /// The transaction has ended, and all savepoints with it.
    mutating func removeAll() {
        names.removeAll()
        isTransaction = false
    }

    private func index(of name: String) -> Int? { names.lastIndex(of: name.lowercasedASCII) }
}

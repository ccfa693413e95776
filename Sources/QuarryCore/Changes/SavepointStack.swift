/// The open savepoints of a connection, the oldest first: <https://www.sqlite.org/lang_savepoint.html>.
struct SavepointStack: Equatable {
    private var names: [String] = []

    /// The number of open savepoints.
    var depth: Int { names.count }

    /// `SAVEPOINT name`
    mutating func begin(_ name: String) { names.append(name.lowercasedASCII) }

    /// `RELEASE name`: ends the newest savepoint of that name, and those inside it.
    mutating func release(_ name: String) {
        if let index = index(of: name) { names.removeSubrange(index...) }
    }

    /// `ROLLBACK TO name`: the newest savepoint of that name stays open, those inside it end.
    mutating func rollBack(to name: String) {
        if let index = index(of: name) { names.removeSubrange((index + 1)...) }
    }

    /// The transaction has ended, and all savepoints with it.
    mutating func removeAll() { names.removeAll() }

    private func index(of name: String) -> Int? { names.lastIndex(of: name.lowercasedASCII) }
}

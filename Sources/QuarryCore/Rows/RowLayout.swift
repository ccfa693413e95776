import Synchronization

/// The names of the columns of a result, shared by its rows.
///
/// A layout never changes, so that several threads can read the rows of one result.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline
    let names: [String]

    /// The leftmost index of each name in lower case. Used for names that aren't ASCII, and for rows with so many names
    /// that a linear search would take longer. Created by the first search.
    private let indexes = AtomicLazyReference<ColumnIndexes>()

    private final class ColumnIndexes: Sendable {
        let byName: [SpelledName: Int]

        init(_ names: [String]) {
            byName = Dictionary(zip(names.lazy.map { SpelledName($0.lowercasedASCII) }, 0...)) { first, _ in first }
        }
    }

    /// Whether errors may show the values of the rows: `publicStatementArguments` of their connection.
    let showsValues: Bool

    init(names: [String], showsValues: Bool = false) {
        self.names = names
        self.showsValues = showsValues
    }

    /// The layout of rows that haven't been read yet.
    static let unread = RowLayout(names: [])

    /// The index of the leftmost column with that name, whatever the case of its ASCII letters.
    func index(of name: String) -> Int? {
        if names.count <= 16, name.utf8.allSatisfy({ $0 < 0x80 }) {
            return names.firstIndex { $0.isSameName(as: name) }
        }
        let indexes = indexes.load() ?? indexes.storeIfNil(ColumnIndexes(names))
        return indexes.byName[SpelledName(name.lowercasedASCII)]
    }
}

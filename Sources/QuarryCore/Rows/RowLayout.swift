import Synchronization

/// The names of the columns of a result, shared by its rows.
///
/// It never changes, so that rows of one result can be read by several threads.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline
    let names: [String]

    /// The leftmost index of each name in lower case, for names that aren't ASCII, and where there are so many that a
    /// search would take longer; made when a name is looked for.
    private let indexes = AtomicLazyReference<ColumnIndexes>()

    private final class ColumnIndexes: Sendable {
        let byName: [String: Int]

        init(_ names: [String]) {
            byName = Dictionary(zip(names.lazy.map(\.lowercasedASCII), 0...)) { first, _ in first }
        }
    }

    init(names: [String]) { self.names = names }

    /// Of rows that nobody has read yet.
    static let unread = RowLayout(names: [])

    /// The leftmost column of that name, whatever the case of its ASCII letters.
    func index(of name: String) -> Int? {
        if names.count <= 16, name.utf8.allSatisfy({ $0 < 0x80 }) {
            return names.firstIndex { $0.isSameName(as: name) }
        }
        let indexes = indexes.load() ?? indexes.storeIfNil(ColumnIndexes(names))
        guard let found = indexes.byName[name.lowercasedASCII] else { return nil }
        // Canonically equivalent names are one to a dictionary, and several to SQLite.
        return names[found].isSameName(as: name) ? found : names.firstIndex { $0.isSameName(as: name) } ?? found
    }
}

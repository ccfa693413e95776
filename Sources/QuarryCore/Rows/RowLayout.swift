/// The names of the columns of a result, shared by its rows.
///
/// It never changes, so that rows of one result can be read by several threads.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline
    let names: [String]

    /// The names in lower case.
    private let foldedNames: [String]

    /// The leftmost index of each name in lower case, where there are so many that a search would take longer.
    private let indexes: [String: Int]?

    init(names: [String]) {
        self.names = names
        foldedNames = names.map(\.lowercasedASCII)
        indexes = names.count <= 16 ? nil : Dictionary(zip(foldedNames, 0...)) { first, _ in first }
    }

    /// The leftmost column of that name, whatever the case of its ASCII letters.
    func index(of name: String) -> Int? {
        let name = name.lowercasedASCII
        return indexes.map { $0[name] } ?? foldedNames.firstIndex(of: name)
    }
}

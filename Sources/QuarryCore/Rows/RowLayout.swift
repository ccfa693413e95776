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
        foldedNames = names.map(\.foldingASCIICase)
        indexes = names.count <= 16 ? nil : Dictionary(zip(foldedNames, 0...)) { first, _ in first }
    }

    /// The leftmost column of that name, whatever the case of its ASCII letters.
    func index(of name: String) -> Int? {
        let name = name.foldingASCIICase
        return indexes.map { $0[name] } ?? foldedNames.firstIndex(of: name)
    }
}

extension String {
    /// With ASCII letters in lower case, as SQLite compares identifiers.
    package var foldingASCIICase: String {
        guard utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) else { return self }
        return String(
            decoding: utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

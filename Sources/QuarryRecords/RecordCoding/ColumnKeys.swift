import QuarryCore

/// The keys that a strategy makes of a row's columns.
struct ColumnKeys {
    /// In the order of the columns.
    private let keys: [String]

    /// The leftmost column of each key, if there are so many keys that a search would take longer.
    private let indexes: [SpelledName: Int]?

    private static let longestSearch = 64

    init(_ names: [String], _ strategy: DatabaseColumnDecodingStrategy) {
        keys = names.map { strategy.key(forColumn: $0) }
        indexes =
            keys.count <= Self.longestSearch
            ? nil : Dictionary(zip(keys.lazy.map(SpelledName.init), 0...)) { first, _ in first }
    }

    /// The leftmost column of a key.
    func index(of key: String) -> Int? {
        if let indexes { return indexes[SpelledName(key)] }
        return keys.firstIndex { $0.isIdentical(to: key) }
    }
}

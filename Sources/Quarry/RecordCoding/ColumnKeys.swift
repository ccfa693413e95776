import QuarryCore

/// The keys of a row's columns, found by their bytes, because names that differ in their bytes are different to SQLite.
struct ColumnKeys {
    /// In the order of the columns.
    private let keys: [String]

    /// Whether the keys are the names of the columns.
    let areNames: Bool

    /// The leftmost column of each key, if there are so many keys that a search would take longer.
    private let indexes: [SpelledName: Int]?

    private static let longestSearch = 64

    init(_ row: Row?, _ strategy: DatabaseColumnDecodingStrategy) {
        let names = row?.names ?? []
        if case .useDefaultKeys = strategy {
            areNames = true
            keys = names
        } else {
            areNames = false
            keys = names.map { strategy.key(forColumn: $0) }
        }
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

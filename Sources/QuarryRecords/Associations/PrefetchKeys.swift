import QuarryCore

/// The distinct keys of the rows that prefetched lists belong to, numbered.
struct PrefetchKeys {
    /// The number of columns.
    let width: Int

    /// The values of all keys, one key after another.
    private(set) var values: [DatabaseValue] = []

    /// The number of the key of each row; negative if one of its columns is NULL.
    private var parents: [Int] = []

    private var integers: [Int64: Int] = [:]
    private var others: [[DatabaseValue]: Int] = [:]

    private(set) var count = 0

    init(width: Int) { self.width = width }

    /// Adds the key of the next row.
    mutating func addParent(_ row: Row, _ columns: [Int]) {
        let key = columns.map { row.prefetchKey(atIndex: $0) }
        if key.contains(where: \.isNull) { return parents.append(-1) }
        if let known = number(of: key) { return parents.append(known) }
        if key.count == 1, case .int64(let integer) = key[0].rawStorage {
            integers[integer] = count
        } else {
            others[key] = count
        }
        values += key
        parents.append(count)
        count += 1
    }

    private func number(of key: [DatabaseValue]) -> Int? {
        if key.count == 1, case .int64(let integer) = key[0].rawStorage { return integers[integer] }
        return others[key]
    }

    /// The number of a row's key; nil if no row is associated with it.
    func key(ofParent parent: Int) -> Int? {
        parents.indices.contains(parent) && parents[parent] >= 0 ? parents[parent] : nil
    }

    /// The values of a range of keys.
    func values(of keys: Range<Int>) -> ArraySlice<DatabaseValue> {
        values[keys.lowerBound * width..<keys.upperBound * width]
    }

    /// The values of all keys: integers sorted, as in tables and indexes; other values in their original order.
    var sortedValues: [DatabaseValue] {
        guard width == 1, integers.count == count else { return values }
        return integers.keys.sorted().map(\.databaseValue)
    }

    func finder() -> Finder { Finder(keys: self) }

    /// Finds the keys of associated rows.
    struct Finder {
        let keys: PrefetchKeys
        private var lastInteger: Int64 = 0
        private var lastKey = -1
        private var similar: [[DatabaseValue]: [Int]]?

        init(keys: PrefetchKeys) { self.keys = keys }

        /// The number of a row's only key; negative if it has none, or may have several.
        mutating func onlyKey(of row: Row, _ columns: [Int]) -> Int {
            if columns.count == 1 {
                let value = row.prefetchKey(atIndex: columns[0])
                guard case .int64(let integer) = value.storage else { return keys.number(of: [value]) ?? -1 }
                if integer == lastInteger, lastKey >= 0 { return lastKey }
                lastInteger = integer
                lastKey = keys.integers[integer] ?? -1
                return lastKey
            }
            return keys.number(of: columns.map { row.prefetchKey(atIndex: $0) }) ?? -1
        }

        /// The numbers of all keys that SQLite considers equal to a row's.
        mutating func keys(of row: Row, _ columns: [Int]) -> [Int] {
            let key = onlyKey(of: row, columns)
            if key >= 0 { return [key] }
            // A column's affinity or collation can make different values equal.
            if similar == nil {
                var table: [[DatabaseValue]: [Int]] = [:]
                for key in 0..<keys.count {
                    table[keys.values(of: key..<key + 1).map(\.similarity), default: []].append(key)
                }
                similar = table
            }
            return similar?[columns.map { row.prefetchKey(atIndex: $0).similarity }] ?? []
        }
    }
}

extension Row {
    /// The value of a column, which must be in the row.
    fileprivate func prefetchKey(atIndex index: Int) -> DatabaseValue {
        (try? decode(DatabaseValue.self, atIndex: index)) ?? .null
    }
}

extension DatabaseValue {
    /// A value that is the same for all values that a column considers equal, whatever its affinity and collation: `1`,
    /// `1.0` and `'1'`; `'fr'`, `'FR'` and `'fr  '`.
    fileprivate var similarity: DatabaseValue {
        switch rawStorage {
        case .null, .blob: self
        case .int64(let integer): "\(integer)".databaseValue
        case .double(let number):
            (Int64(exactly: number).map { "\($0)" } ?? "\(number)").databaseValue
        case .string(let text):
            if let number = Double(text) {
                number.databaseValue.similarity
            } else {
                String(text.lowercased().reversed().drop { $0 == " " }.reversed()).databaseValue
            }
        }
    }
}

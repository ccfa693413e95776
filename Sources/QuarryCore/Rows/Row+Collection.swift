extension Row: RandomAccessCollection {
    /// A position among the columns.
    public struct Index: Hashable, Comparable, Strideable, Sendable {
        let offset: Int

        /// Whether one column is left of another.
        public static func < (lhs: Index, rhs: Index) -> Bool { lhs.offset < rhs.offset }

        /// The number of columns from this position to another.
        public func distance(to other: Index) -> Int { other.offset - offset }

        /// The position that is `count` columns to the right.
        public func advanced(by count: Int) -> Index { Index(offset: offset + count) }
    }

    /// The leftmost column.
    public var startIndex: Index { Index(offset: 0) }

    /// The position after the rightmost column.
    public var endIndex: Index { Index(offset: count) }

    /// The name and value of a column.
    ///
    /// ```swift
    /// for (name, value) in row { print(name, value) }
    /// let (name, value) = row[row.startIndex]
    /// ```
    public subscript(position: Index) -> (String, DatabaseValue) {
        let value = checkedValue(atIndex: position.offset)
        return (layout.names[position.offset], value)
    }

    /// The names of the columns, from left to right.
    public var columnNames: LazyMapCollection<Row, String> { lazy.map { $0.0 } }

    /// The values, from left to right.
    public var databaseValues: LazyMapCollection<Row, DatabaseValue> { lazy.map { $0.1 } }
}

extension Row {
    /// A row with the columns of a dictionary, sorted by name; nil is NULL.
    ///
    /// ```swift
    /// let values: [String: (any DatabaseValueConvertible)?] = ["id": 1, "name": "Arthur"]
    /// let player = try Player(row: Row(values))
    /// ```
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(columns: dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// A row with the given columns, in their order: `["id": 1, "name": "Arthur"]`.
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(columns: elements.map { ($0.0, $0.1?.databaseValue ?? .null) })
    }
}

extension Row: CustomStringConvertible {
    /// `[id:1 name:"Arthur"]`
    ///
    /// A row whose cursor has ended also has a description, because errors show rows.
    public var description: String {
        if case .expired = unadapted.source { return "[a row whose cursor has ended]" }
        return "[" + map { "\($0.0):\($0.1)" }.joined(separator: " ") + "]"
    }

    /// The row's description in errors: `[id:INTEGER name:TEXT]` if values are private.
    var shown: String {
        if case .expired = unadapted.source { return description }
        return "[" + map { "\($0.0):\(shown($0.1))" }.joined(separator: " ") + "]"
    }
}

extension Row: Hashable {
    /// Whether two rows have the same columns in the same order, with the same case of names and equal values, and the
    /// same scopes and lists of rows.
    public static func == (lhs: Row, rhs: Row) -> Bool {
        lhs === rhs
            || (lhs.count == rhs.count && lhs.elementsEqual(rhs) { $0 == $1 }
                && lhs.scopes.elementsEqual(rhs.scopes) { $0 == $1 }
                && lhs.ownLists.elementsEqual(rhs.ownLists) { $0 == $1 })
    }

    /// Hashes names and values, of columns and scopes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (name, value) in self {
            hasher.combine(name)
            hasher.combine(value)
        }
        for (name, row) in scopes {
            hasher.combine(name)
            hasher.combine(row)
        }
    }
}

extension RangeReplaceableCollection {
    /// A collection of the remaining elements of a cursor.
    ///
    /// ```swift
    /// let names = try Array(String.fetchCursor(db, sql: "SELECT name FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// A collection of the remaining elements of a cursor, with memory reserved for a number of them.
    ///
    /// - parameter minimumCapacity: the number of elements to reserve memory for.
    /// - throws: the cursor's error.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(Swift.max(0, minimumCapacity))
        try append(contentsOf: cursor)
    }

    /// Appends the remaining elements of a cursor.
    ///
    /// ```swift
    /// var names = ["nobody"]
    /// try names.append(contentsOf: String.fetchCursor(db, sql: "SELECT name FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error. The elements in front of the error are appended.
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        // Not `forEach`: a closure that captures `self` costs three times the step.
        while let element = try newElements.next() { append(element) }
    }
}

extension Set {
    /// A set of the remaining elements of a cursor.
    ///
    /// ```swift
    /// let teamIds = try Set(Int64.fetchCursor(db, sql: "SELECT teamId FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// A set of the remaining elements of a cursor, with memory reserved for a number of them.
    ///
    /// - parameter minimumCapacity: the number of elements to reserve memory for.
    /// - throws: the cursor's error.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: Swift.max(0, minimumCapacity))
        try formUnion(cursor)
    }

    /// A set of the elements of this set, and of the remaining elements of a cursor.
    ///
    /// ```swift
    /// let ids = try Set([1, 2]).union(Int.fetchCursor(db, sql: "SELECT id FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = self
        try result.formUnion(cursor)
        return result
    }

    /// Inserts the remaining elements of a cursor.
    ///
    /// ```swift
    /// var ids: Set = [1, 2]
    /// try ids.formUnion(Int.fetchCursor(db, sql: "SELECT id FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error. The elements in front of the error are inserted.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// A set of the elements of this set that a cursor produces too.
    ///
    /// ```swift
    /// let known = try Set([1, 2]).intersection(Int.fetchCursor(db, sql: "SELECT id FROM player"))
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = Set<Element>()
        try cursor.forEach {
            // The set's member is kept, not its equal in the cursor, as in the intersection of two sets.
            if let index = firstIndex(of: $0) { result.insert(self[index]) }
        }
        return result
    }

    /// Removes the elements that a cursor doesn't produce.
    ///
    /// - throws: the cursor's error. The set is unchanged then.
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }
}

extension Dictionary {
    /// A dictionary of the remaining elements of a cursor, grouped by a key, each group in the cursor's order.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db, sql: "SELECT * FROM player")
    /// let playersByTeam = try Dictionary(grouping: players) { $0.teamId }
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C, by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// A dictionary of the remaining elements of a cursor, grouped by a key, each group in the cursor's order.
    ///
    /// - parameter minimumCapacity: the number of groups to reserve memory for.
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public init<C: Cursor>(
        minimumCapacity: Int, grouping cursor: C, by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        self.init(minimumCapacity: Swift.max(0, minimumCapacity))
        try cursor.forEach {
            try self[keyForValue($0), default: []].append($0)
        }
    }

    /// A dictionary of the remaining pairs of a cursor.
    ///
    /// ```swift
    /// let names = try Row.fetchCursor(db, sql: "SELECT id, name FROM player").map { row in
    ///     (row["id"] as Int64, row["name"] as String)
    /// }
    /// let nameById = try Dictionary(uniqueKeysWithValues: names)
    /// ```
    ///
    /// - throws: the cursor's error, and a `DatabaseError` that names the key if two pairs have the same.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// A dictionary of the remaining pairs of a cursor.
    ///
    /// - parameter minimumCapacity: the number of pairs to reserve memory for.
    /// - throws: the cursor's error, and a `DatabaseError` that names the key if two pairs have the same.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: Swift.max(0, minimumCapacity))
        try keysAndValues.forEach { key, value in
            guard updateValue(value, forKey: key) == nil else { throw DatabaseError.duplicateKey(key) }
        }
    }
}

extension DatabaseError {
    @inline(never)
    @usableFromInline
    static func duplicateKey(_ key: some Any) -> DatabaseError {
        DatabaseError(message: "Dictionary(uniqueKeysWithValues:): the key \(String(reflecting: key)) occurs twice")
    }
}

extension Cursor {
    /// Whether no element is left.
    ///
    /// Reading it consumes an element. SQL's `EXISTS` answers the question without a row.
    ///
    /// - throws: the cursor's error.
    @inlinable
    public var isEmpty: Bool {
        get throws { try next() == nil }
    }

    /// Whether a closure accepts an element. The elements after the first match are left in the cursor.
    ///
    /// ```swift
    /// let names = try String.fetchCursor(db, sql: "SELECT name FROM player")
    /// try names.contains { $0.hasPrefix("A") }
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func contains(where predicate: (Element) throws -> Bool) throws -> Bool {
        while let element = try next() {
            if try predicate(element) { return true }
        }
        return false
    }

    /// The first element that a closure accepts, or nil. The elements after it are left in the cursor.
    ///
    /// ```swift
    /// let name = try String.fetchCursor(db, sql: "SELECT name FROM player").first { $0.count > 20 }
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func first(where predicate: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try predicate(element) { return element }
        }
        return nil
    }

    /// Combines the elements, from an initial result and from left to right.
    ///
    /// ```swift
    /// let total = try Int.fetchCursor(db, sql: "SELECT score FROM player").reduce(0, +)
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func reduce<Result>(
        _ initialResult: Result,
        _ nextPartialResult: (Result, Element) throws -> Result
    ) throws -> Result {
        var result = initialResult
        try forEach { result = try nextPartialResult(result, $0) }
        return result
    }

    /// Combines the elements into a result that is changed in place.
    ///
    /// ```swift
    /// let lengths = try String.fetchCursor(db, sql: "SELECT name FROM player")
    ///     .reduce(into: [:]) { counts, name in counts[name.count, default: 0] += 1 }   // [Int: Int]
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func reduce<Result>(
        into initialResult: Result,
        _ updateAccumulatingResult: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = initialResult
        try forEach { try updateAccumulatingResult(&result, $0) }
        return result
    }

    /// The least element by a strict weak order, or nil if no element is left. Among equal elements, the first.
    ///
    /// ```swift
    /// let shortest = try String.fetchCursor(db, sql: "SELECT name FROM player").min { $0.count < $1.count }
    /// ```
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func min(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var result = try next() else { return nil }
        try forEach {
            if try areInIncreasingOrder($0, result) { result = $0 }
        }
        return result
    }

    /// The greatest element by a strict weak order, or nil if no element is left. Among equal elements, the first.
    ///
    /// - throws: the error of the cursor or the closure.
    @inlinable
    public func max(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var result = try next() else { return nil }
        try forEach {
            if try areInIncreasingOrder(result, $0) { result = $0 }
        }
        return result
    }

    /// The last `maxLength` elements, in their order, in an array.
    ///
    /// ```swift
    /// let last = try String.fetchCursor(db, sql: "SELECT message FROM log ORDER BY id").suffix(10)
    /// ```
    ///
    /// This consumes the cursor (unless `maxLength` is 0), and holds no more than `maxLength` elements.
    ///
    /// - throws: the cursor's error; a `DatabaseError` with the code `SQLITE_MISUSE` if `maxLength` is negative.
    @inlinable
    public func suffix(_ maxLength: Int) throws -> [Element] {
        guard maxLength >= 0 else { throw DatabaseError.negativeCount(maxLength, in: "suffix(_:)") }
        guard maxLength > 0 else { return [] }
        var ring: [Element] = []
        var oldest = 0
        try forEach {
            if ring.count < maxLength {
                ring.append($0)
            } else {
                ring[oldest] = $0
                oldest = oldest + 1 == maxLength ? 0 : oldest + 1
            }
        }
        return oldest == 0 ? ring : Array(ring[oldest...] + ring[..<oldest])
    }

    /// The elements but the last one, in an array.
    ///
    /// ```swift
    /// let allButTheWorst = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC").dropLast()
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func dropLast() throws -> [Element] {
        try dropLast(1)
    }

    /// The elements but the last `n`, in an array.
    ///
    /// - throws: the cursor's error; a `DatabaseError` with the code `SQLITE_MISUSE` if `n` is negative.
    @inlinable
    public func dropLast(_ n: Int) throws -> [Element] {
        guard n >= 0 else { throw DatabaseError.negativeCount(n, in: "dropLast(_:)") }
        var elements = try Array(self)
        elements.removeLast(Swift.min(n, elements.count))
        return elements
    }
}

extension Cursor where Element: Equatable {
    /// Whether an element is equal to `element`. The elements after the first match are left in the cursor.
    ///
    /// ```swift
    /// let isThere = try String.fetchCursor(db, sql: "SELECT name FROM player").contains("Arthur")
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func contains(_ element: Element) throws -> Bool {
        try contains { $0 == element }
    }
}

extension Cursor where Element: Comparable {
    /// The least element, or nil if no element is left. Among equal elements, the first.
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func min() throws -> Element? {
        try min(by: <)
    }

    /// The greatest element, or nil if no element is left. Among equal elements, the first.
    ///
    /// ```swift
    /// let longest = try String.fetchCursor(db, sql: "SELECT name FROM player").map(\.count).max() // Int?
    /// ```
    ///
    /// - throws: the cursor's error.
    @inlinable
    public func max() throws -> Element? {
        try max(by: <)
    }
}

extension Cursor where Element: StringProtocol {
    /// The elements in one string.
    ///
    /// ```swift
    /// try String.fetchCursor(db, sql: "SELECT name FROM player").joined(separator: ", ")   // "Arthur, Barbara"
    /// ```
    ///
    /// - parameter separator: the text between two elements.
    /// - throws: the cursor's error.
    @inlinable
    public func joined(separator: String = "") throws -> String {
        var result = ""
        var isFirst = true
        try forEach {
            if isFirst { isFirst = false } else { result += separator }
            result += $0
        }
        return result
    }
}

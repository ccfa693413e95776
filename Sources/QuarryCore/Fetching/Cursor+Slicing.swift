extension Cursor {
    /// A cursor without the first element.
    ///
    /// ```swift
    /// let runnersUp = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC").dropFirst()
    /// ```
    @inlinable
    public func dropFirst() -> DropFirstCursor<Self> {
        dropFirst(1)
    }

    /// A cursor without the first `n` elements.
    ///
    /// ```swift
    /// let others = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC").dropFirst(3)
    /// ```
    ///
    /// The first `next()` skips the elements. SQL's `OFFSET` skips them without producing them.
    ///
    /// - parameter n: the number of elements to leave out. A negative one makes `next()` throw `SQLITE_MISUSE`.
    @inlinable
    public func dropFirst(_ n: Int) -> DropFirstCursor<Self> {
        DropFirstCursor(base: self, count: n)
    }

    /// A cursor without the leading elements that a closure accepts.
    ///
    /// ```swift
    /// let rest = try Int.fetchCursor(db, sql: "SELECT score FROM player ORDER BY score").drop { $0 < 100 }
    /// ```
    ///
    /// The closure isn't called any more once it has returned false.
    @inlinable
    public func drop(while predicate: @escaping (Element) throws -> Bool) -> DropWhileCursor<Self> {
        DropWhileCursor(base: self, predicate: predicate)
    }

    /// A cursor of the first `maxLength` elements.
    ///
    /// ```swift
    /// let best = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC").prefix(3)
    /// ```
    ///
    /// The base isn't stepped past the last of them. SQL's `LIMIT` lets SQLite plan for the limit.
    ///
    /// - parameter maxLength: the greatest number of elements. A negative one makes `next()` throw `SQLITE_MISUSE`.
    @inlinable
    public func prefix(_ maxLength: Int) -> PrefixCursor<Self> {
        PrefixCursor(base: self, maxLength: maxLength)
    }

    /// A cursor of the leading elements that a closure accepts.
    ///
    /// ```swift
    /// let small = try Int.fetchCursor(db, sql: "SELECT score FROM player ORDER BY score").prefix { $0 < 100 }
    /// ```
    ///
    /// The first element that the closure refuses ends the cursor, and is consumed.
    @inlinable
    public func prefix(while predicate: @escaping (Element) throws -> Bool) -> PrefixWhileCursor<Self> {
        PrefixWhileCursor(base: self, predicate: predicate)
    }
}

/// A cursor without the first elements of its base: the result of `dropFirst`.
public final class DropFirstCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(base: Base, count: Int) {
        self.base = base
        remaining = count
    }

    @inlinable
    public func next() throws -> Base.Element? {
        if remaining != 0 { try skip() }
        return try base.next()
    }

    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        if remaining != 0 { try skip() }
        try base.forEach(body)
    }

    @inlinable
    func skip() throws {
        guard remaining > 0 else { throw DatabaseError.negativeCount(remaining, in: "dropFirst(_:)") }
        while remaining > 0 {
            guard try base.next() != nil else {
                remaining = 0
                return
            }
            remaining -= 1
        }
    }
}

/// A cursor without the leading elements of its base that a closure accepts: the result of `drop(while:)`.
public final class DropWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isDropping = true

    @inlinable
    init(base: Base, predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard isDropping else { return try base.next() }
        while let element = try base.next() {
            if try predicate(element) { continue }
            isDropping = false
            return element
        }
        return nil
    }

    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        guard let element = try next() else { return }
        try body(element)
        try base.forEach(body)
    }
}

/// A cursor of the first elements of its base: the result of `prefix(_:)`.
public final class PrefixCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(base: Base, maxLength: Int) {
        self.base = base
        remaining = maxLength
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard remaining > 0 else {
            if remaining < 0 { throw DatabaseError.negativeCount(remaining, in: "prefix(_:)") }
            return nil
        }
        guard let element = try base.next() else { return nil }
        remaining -= 1
        return element
    }
}

/// A cursor of the leading elements of its base that a closure accepts: the result of `prefix(while:)`.
public final class PrefixWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isExhausted = false

    @inlinable
    init(base: Base, predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard !isExhausted else { return nil }
        if let element = try base.next(), try predicate(element) { return element }
        isExhausted = true
        return nil
    }
}

@available(*, unavailable) extension DropFirstCursor: Sendable {}
@available(*, unavailable) extension DropWhileCursor: Sendable {}
@available(*, unavailable) extension PrefixCursor: Sendable {}
@available(*, unavailable) extension PrefixWhileCursor: Sendable {}

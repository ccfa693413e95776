extension Cursor {
    /// A cursor of the results of a closure, which is called with each element.
    ///
    /// ```swift
    /// let names = try Row.fetchCursor(db, sql: "SELECT * FROM player").map { row in row["name"] as String }
    /// ```
    @inlinable
    public func map<T>(_ transform: @escaping (Element) throws -> T) -> MapCursor<Self, T> {
        MapCursor(base: self, transform: transform)
    }

    /// A cursor of the elements that a closure accepts.
    ///
    /// ```swift
    /// let longNames = try String.fetchCursor(db, sql: "SELECT name FROM player").filter { $0.count > 20 }
    /// ```
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> FilterCursor<Self> {
        FilterCursor(base: self, isIncluded: isIncluded)
    }

    /// A cursor of the results of a closure that aren't nil.
    ///
    /// ```swift
    /// let numbers = try String.fetchCursor(db, sql: "SELECT code FROM product").compactMap { Int($0) }
    /// ```
    @inlinable
    public func compactMap<ElementOfResult>(
        _ transform: @escaping (Element) throws -> ElementOfResult?
    ) -> MapCursor<FilterCursor<MapCursor<Self, ElementOfResult?>>, ElementOfResult> {
        map(transform).filter { $0 != nil }.map { $0! }
    }

    /// A cursor of the elements of the sequences that a closure returns for each element.
    ///
    /// ```swift
    /// let tags = try String.fetchCursor(db, sql: "SELECT tags FROM post").flatMap { $0.split(separator: ",") }
    /// ```
    @inlinable
    public func flatMap<SegmentOfResult: Sequence>(
        _ transform: @escaping (Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<Self, AnyCursor<SegmentOfResult.Element>>> {
        flatMap { try AnyCursor(transform($0)) }
    }

    /// A cursor of the elements of the cursors that a closure returns for each element.
    ///
    /// ```swift
    /// let names = try Int64.fetchCursor(db, sql: "SELECT id FROM team").flatMap { id in
    ///     try String.fetchCursor(db, sql: "SELECT name FROM player WHERE teamId = ?", arguments: [id])
    /// }
    /// ```
    ///
    /// Each cursor is made when the previous one is exhausted.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<Self, SegmentOfResult>> {
        FlattenCursor(base: map(transform))
    }

    /// A cursor of pairs: the position of an element, from 0, and the element.
    ///
    /// ```swift
    /// let ranking = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC").enumerated()
    /// while let (index, name) = try ranking.next() { print(index + 1, name) }
    /// ```
    @inlinable
    public func enumerated() -> EnumeratedCursor<Self> {
        EnumeratedCursor(base: self)
    }
}

extension Cursor where Element: Cursor {
    /// A cursor of the elements of the elements.
    ///
    /// ```swift
    /// let cursors = try Int64.fetchCursor(db, sql: "SELECT id FROM team").map { id in
    ///     try String.fetchCursor(db, sql: "SELECT name FROM player WHERE teamId = ?", arguments: [id])
    /// }
    /// let names = cursors.joined()
    /// ```
    @inlinable
    public func joined() -> FlattenCursor<Self> {
        FlattenCursor(base: self)
    }
}

extension Cursor where Element: Sequence {
    /// A cursor of the elements of the elements.
    ///
    /// ```swift
    /// let tags = try String.fetchCursor(db, sql: "SELECT tags FROM post").map { $0.split(separator: ",") }.joined()
    /// ```
    @inlinable
    public func joined() -> FlattenCursor<MapCursor<Self, AnyCursor<Element.Element>>> {
        flatMap { $0 }
    }
}

extension Sequence {
    /// A cursor of the elements of the cursors that a closure returns for each element.
    ///
    /// ```swift
    /// let names = teamIds.flatMap { id in
    ///     try String.fetchCursor(db, sql: "SELECT name FROM player WHERE teamId = ?", arguments: [id])
    /// }
    /// ```
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Iterator.Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<AnyCursor<Iterator.Element>, SegmentOfResult>> {
        AnyCursor(self).flatMap(transform)
    }
}

/// A cursor that transforms each element of its base: the result of `map`.
public final class MapCursor<Base: Cursor, Element>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let transform: (Base.Element) throws -> Element

    @inlinable
    init(base: Base, transform: @escaping (Base.Element) throws -> Element) {
        self.base = base
        self.transform = transform
    }

    @inlinable
    public func next() throws -> Element? {
        guard let element = try base.next() else { return nil }
        return try transform(element)
    }

    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        try base.forEach { try body(transform($0)) }
    }
}

/// A cursor that leaves out elements of its base: the result of `filter`.
public final class FilterCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let isIncluded: (Base.Element) throws -> Bool

    @inlinable
    init(base: Base, isIncluded: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.isIncluded = isIncluded
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while let element = try base.next() {
            if try isIncluded(element) { return element }
        }
        return nil
    }

    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        try base.forEach {
            if try isIncluded($0) { try body($0) }
        }
    }
}

/// A cursor of the elements of the cursors of its base: the result of `flatMap` and `joined`.
public final class FlattenCursor<Base: Cursor>: Cursor where Base.Element: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var segment: Base.Element?

    @inlinable
    init(base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> Base.Element.Element? {
        while true {
            if let element = try segment?.next() { return element }
            // A segment that is exhausted, or whose successor can't be made, holds nothing that is still wanted.
            segment = nil
            guard let next = try base.next() else { return nil }
            segment = next
        }
    }
}

/// A cursor of the positions and elements of its base: the result of `enumerated`.
public final class EnumeratedCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var index = 0

    @inlinable
    init(base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> (Int, Base.Element)? {
        guard let element = try base.next() else { return nil }
        defer { index += 1 }
        return (index, element)
    }

    @inlinable
    public func forEach(_ body: ((Int, Base.Element)) throws -> Void) throws {
        try base.forEach {
            defer { index += 1 }
            try body((index, $0))
        }
    }
}

@available(*, unavailable) extension MapCursor: Sendable {}
@available(*, unavailable) extension FilterCursor: Sendable {}
@available(*, unavailable) extension FlattenCursor: Sendable {}
@available(*, unavailable) extension EnumeratedCursor: Sendable {}

/// A sequence of elements that are produced one at a time, each of which may fail: usually the rows of a statement.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC")
/// while let name = try names.next() {
///     print(name)
/// }
/// ```
///
/// Memory holds one element, whatever the number of rows. Cursors of a database live in the access that made them, and
/// on its thread: make an array, or consume them, before it ends.
///
/// What cursors promise:
///
/// - **Laziness**: nothing is produced before `next()` asks for it, and no more than it asks for.
/// - **One way**: there is no start to go back to. `isEmpty`, `first(where:)` and the like consume what they look at.
/// - **Exhaustion**: `next()` returns nil at the end, and then forever.
/// - **Errors**: an error thrown by a cursor, or by a closure given to it, reaches the caller of `next()`. The element
///   at hand is lost. A derived cursor keeps no memory of the error: asked again, it asks its base again.
///
/// A cursor of rows hands out the same row at each step: `try rows.map { $0.copy() }` before rows are kept.
public protocol Cursor<Element>: AnyObject {
    /// What the cursor produces.
    associatedtype Element

    /// Produces the next element, or nil at the end.
    ///
    /// - throws: what the production of the element throws: for database cursors the `DatabaseError` of the step, or
    ///   the error of the conversion.
    func next() throws -> Element?

    /// Gives each element that is left to a closure.
    ///
    /// ```swift
    /// try Row.fetchCursor(db, sql: "SELECT * FROM player").forEach { row in
    ///     print(row)
    /// }
    /// ```
    ///
    /// It is a requirement because a whole loop can be faster than its steps: one dynamic call, not one per element.
    ///
    /// - throws: what the cursor or `body` throws first; the elements behind are not produced.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Gives each element that is left to a closure.
    ///
    /// ```swift
    /// try String.fetchCursor(db, sql: "SELECT name FROM player").forEach { name in print(name) }
    /// ```
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() {
            try body(element)
        }
    }
}

/// A cursor whose type doesn't tell where its elements come from.
///
/// ```swift
/// let numbers: AnyCursor<Int>
/// if fromDatabase {
///     numbers = try AnyCursor(Int.fetchCursor(db, sql: "SELECT score FROM player"))
/// } else {
///     numbers = AnyCursor([1, 2, 3])
/// }
/// ```
public final class AnyCursor<Element>: Cursor {
    @usableFromInline let step: () throws -> Element?
    @usableFromInline var isExhausted = false

    /// A cursor that produces what a closure returns, until it returns nil.
    ///
    /// ```swift
    /// var n = 0
    /// let numbers = AnyCursor<Int> { n += 1; return n <= 3 ? n : nil }
    /// try Array(numbers)   // [1, 2, 3]
    /// ```
    ///
    /// The closure isn't called again after it returned nil.
    @inlinable
    public init(_ next: @escaping () throws -> Element?) {
        step = next
    }

    /// A cursor that forwards to another one.
    ///
    /// ```swift
    /// let names = AnyCursor(try String.fetchCursor(db, sql: "SELECT name FROM player").map { $0.uppercased() })
    /// ```
    @inlinable
    public convenience init<C: Cursor>(_ base: C) where C.Element == Element {
        self.init { try base.next() }
    }

    /// A cursor that produces what is left in an iterator.
    @inlinable
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }

    /// A cursor of the elements of a sequence.
    ///
    /// ```swift
    /// let ids = AnyCursor([1, 2, 3])
    /// ```
    @inlinable
    public convenience init(_ sequence: some Sequence<Element>) {
        self.init(iterator: sequence.makeIterator())
    }

    @inlinable
    public func next() throws -> Element? {
        // A closure may start over after its nil; a cursor must not.
        guard !isExhausted else { return nil }
        if let element = try step() { return element }
        isExhausted = true
        return nil
    }
}

@available(*, unavailable) extension AnyCursor: Sendable {}

extension DatabaseError {
    @inline(never)
    @usableFromInline
    static func negativeCount(_ count: Int, in method: String) -> DatabaseError {
        misuse("Cursor.\(method): \(count) is not a number of elements")
    }
}

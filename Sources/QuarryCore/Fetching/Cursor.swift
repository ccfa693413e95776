/// A sequence of elements that are produced one at a time, each of which may fail: usually the rows of a statement.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY score DESC")
/// while let name = try names.next() {
///     print(name)
/// }
/// ```
///
/// Memory holds one element, whatever the number of rows. A database cursor is valid in the access that made it, and on
/// the thread of that access: consume it, or make an array, before the access ends.
///
/// Cursors promise:
///
/// - **Laziness**: nothing is produced before `next()` requests it, and nothing more.
/// - **One way**: a cursor can't start over. `isEmpty`, `first(where:)` and the like consume the elements they read.
/// - **Exhaustion**: `next()` returns nil at the end, and at every later call.
/// - **Errors**: an error thrown by a cursor, or by a closure given to it, reaches the caller of `next()`. The current
///   element is lost. A derived cursor doesn't remember the error: its next step steps its base again.
///
/// A cursor of rows returns the same `Row` at each step: `try rows.map { $0.copy() }` before rows are kept.
public protocol Cursor<Element>: AnyObject {
    /// The type of the elements.
    associatedtype Element

    /// Produces the next element, or nil at the end.
    ///
    /// - throws: the error of producing the element: for database cursors the `DatabaseError` of the step, or the error
    ///   of the conversion.
    func next() throws -> Element?

    /// Calls a closure with each element that is left.
    ///
    /// ```swift
    /// try Row.fetchCursor(db, sql: "SELECT * FROM player").forEach { row in
    ///     print(row)
    /// }
    /// ```
    ///
    /// This is a requirement, so that a cursor can run the whole loop faster: with one dynamic call, not one per
    /// element.
    ///
    /// - throws: the first error of the cursor or of `body`; no element after it is produced.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Calls a closure with each element that is left.
    ///
    /// ```swift
    /// try String.fetchCursor(db, sql: "SELECT name FROM player").forEach { name in print(name) }
    /// ```
    ///
    /// - throws: the first error of the cursor or of `body`; no element after it is produced.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() {
            try body(element)
        }
    }
}

/// A type-erased cursor.
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

    /// A cursor of the remaining elements of an iterator.
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

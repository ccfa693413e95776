/// A result that is made of rows: a ``Row``, an optional row, an array or a set of them.
///
/// ```swift
/// let rows = try await dbPool.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
/// ```
///
/// Rows aren't `Sendable`, because the row of a cursor reads the cursor's connection. Asynchronous accesses return
/// these types nevertheless: their rows have left the cursor, and no longer change. Types outside the library don't
/// conform.
public protocol RowContainer: SendableMetatype {
    /// The result, with rows that have their own values.
    ///
    /// - throws: `SQLITE_MISUSE` if the cursor of a row has ended.
    func copyingRows() throws -> Self
}

extension Row: RowContainer {
    /// The row if it has its own values, or a copy of it.
    ///
    /// - throws: `SQLITE_MISUSE` if the row's cursor has ended.
    public func copyingRows() throws -> Row {
        if isExpired { throw expiredError }
        return copy()
    }
}

extension Optional: RowContainer where Wrapped: RowContainer {
    /// The result, with rows that have their own values.
    ///
    /// - throws: `SQLITE_MISUSE` if the cursor of a row has ended.
    public func copyingRows() throws -> Wrapped? { try map { try $0.copyingRows() } }
}

extension Array: RowContainer where Element: RowContainer {
    /// The result, with rows that have their own values.
    ///
    /// - throws: `SQLITE_MISUSE` if the cursor of a row has ended.
    public func copyingRows() throws -> [Element] { try map { try $0.copyingRows() } }
}

extension Set: RowContainer where Element: RowContainer {
    /// The result, with rows that have their own values.
    ///
    /// - throws: `SQLITE_MISUSE` if the cursor of a row has ended.
    public func copyingRows() throws -> Set<Element> { try Set(map { try $0.copyingRows() }) }
}

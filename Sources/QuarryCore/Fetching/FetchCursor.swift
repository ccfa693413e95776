/// A cursor on a statement.
public protocol DatabaseCursor<Element>: Cursor {}

/// A cursor over the rows of a statement, decoded.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player")
/// while let name = try names.next() { print(name) }
/// ```
///
/// Each `next()` steps the statement. A cursor is over when its access ends, or its statement is run again: then
/// `next()` throws. It is used on the thread of its access: the first `next()` of another thread throws.
public final class FetchCursor<Element: RowDecodable>: DatabaseCursor {
    @usableFromInline
    @exclusivity(unchecked)
    var execution: Execution

    @usableFromInline
    init(_ request: consuming PreparedRequest) throws {
        execution = try Execution(request, outlivesCall: true)
    }

    /// The value of the next row, or nil after the last.
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`; `CancellationError` in a task that is cancelled. A cursor that
    ///   has thrown an error of the database is over, and answers nil.
    @inlinable
    public func next() throws -> Element? {
        guard try execution.advance() else { return nil }
        return try Element.decoded(from: execution.row)
    }

    /// The SQL that runs.
    public var sql: String { execution.statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { execution.statement.arguments }

    /// The names of the columns.
    public var columnNames: [String] { execution.row.layout.names }

    /// The number of columns.
    public var columnCount: Int { execution.row.count }
}

/// A cursor of rows: each step gives the same `Row` with other values.
public typealias RowCursor = FetchCursor<Row>

/// A cursor of values of the leftmost column.
public typealias DatabaseValueCursor<Value: DatabaseValueConvertible> = FetchCursor<Value>

/// A cursor of values of the leftmost column.
public typealias FastDatabaseValueCursor<Value: DatabaseValueConvertible> = FetchCursor<Value>

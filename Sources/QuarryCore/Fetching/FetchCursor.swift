/// A cursor on a statement.
public protocol DatabaseCursor<Element>: Cursor {
    /// The tables and columns that the statement reads.
    var databaseRegion: DatabaseRegion { get }
}

/// A cursor over the rows of a statement, decoded.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player")
/// while let name = try names.next() { print(name) }
/// ```
///
/// Each `next()` steps the statement. A cursor becomes invalid when its access ends, or its statement is run again:
/// then `next()` throws. A cursor belongs to the thread of its access: the first `next()` of another thread throws.
public final class FetchCursor<Element: RowDecodable>: DatabaseCursor {
    @usableFromInline
    @exclusivity(unchecked)
    var execution: Execution

    /// Returns the next request whose rows follow, or nil after the last one; nil if the cursor runs one request only.
    @exclusivity(unchecked)
    private var followingRequest: (() throws -> PreparedRequest?)?

    @usableFromInline
    init(_ statement: Statement, _ adapterBox: AdapterBox?) throws {
        execution = try Execution(statement, adapterBox, outlivesCall: true)
    }

    /// A cursor over the rows of one request after those of another.
    ///
    /// - parameter following: called after the last row of each request; nil ends the cursor.
    package convenience init(
        _ request: PreparedRequest, following: @escaping () throws -> PreparedRequest?
    ) throws {
        try self.init(request.statement, request.adapterBox)
        followingRequest = following
    }

    /// The value of the next row; nil after the last.
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`; `CancellationError` in a cancelled task. After a database
    ///   error the cursor is exhausted, and returns nil.
    @inlinable
    public func next() throws -> Element? {
        if try execution.advance() { return try Element.decoded(from: execution.row) }
        return try nextOfFollowingRequest()
    }

    @usableFromInline
    @inline(never)
    func nextOfFollowingRequest() throws -> Element? {
        while let following = followingRequest, !execution.hasFailed {
            followingRequest = nil
            guard let request = try following() else { return nil }
            execution = try Execution(request.statement, request.adapterBox, outlivesCall: true)
            followingRequest = following
            if try execution.advance() { return try Element.decoded(from: execution.row) }
        }
        return nil
    }

    /// The SQL of the statement.
    public var sql: String { execution.statement.sql }

    /// The arguments of the statement.
    public var arguments: StatementArguments { execution.statement.arguments }

    /// The names of the columns.
    public var columnNames: [String] { execution.columnNames }

    /// The number of columns.
    public var columnCount: Int { execution.columnNames.count }

    /// The tables and columns that the statement reads.
    public var databaseRegion: DatabaseRegion { execution.statement.databaseRegion }
}

/// A cursor of rows: each step returns the same `Row` with other values.
public typealias RowCursor = FetchCursor<Row>

/// A cursor of values of the leftmost column.
public typealias DatabaseValueCursor<Value: DatabaseValueConvertible> = FetchCursor<Value>

/// A cursor of values of the leftmost column.
public typealias FastDatabaseValueCursor<Value: DatabaseValueConvertible> = FetchCursor<Value>

// The fetch verbs, from SQL with interpolated values.

extension RowDecodable {
    /// A cursor over the rows of a query with interpolated values.
    ///
    /// ```swift
    /// let names = try String.fetchCursor(db, literal: "SELECT name FROM player WHERE teamId = \(teamId)")
    /// while let name = try names.next() { … }
    /// ```
    /// ```sql
    /// SELECT name FROM player WHERE teamId = ?
    /// ```
    ///
    /// - parameter sqlLiteral: one statement, and its values.
    /// - parameter adapter: changes the visible columns.
    /// - throws: `DatabaseError` if the SQL is wrong.
    @inlinable
    public static func fetchCursor(
        _ db: Database, literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil
    ) throws -> FetchCursor<Self> {
        try fetchCursor(db, SQLRequest<Self>(literal: sqlLiteral, adapter: adapter))
    }

    /// All values of a query with interpolated values.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, literal: "SELECT * FROM player WHERE teamId = \(teamId)")
    /// ```
    /// ```sql
    /// SELECT * FROM player WHERE teamId = ?
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError` for a value that can't be converted, such as NULL for a type that
    ///   isn't optional.
    @inlinable
    public static func fetchAll(
        _ db: Database, literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil
    ) throws -> [Self] {
        try fetchAll(db, SQLRequest<Self>(literal: sqlLiteral, adapter: adapter))
    }

    /// The value of the first row of a query with interpolated values; nil if there is no row, or its value is NULL.
    ///
    /// ```swift
    /// let best = try Int.fetchOne(db, literal: "SELECT MAX(score) FROM player WHERE teamId = \(teamId)")
    /// ```
    /// ```sql
    /// SELECT MAX(score) FROM player WHERE teamId = ?
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchOne(
        _ db: Database, literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil
    ) throws -> Self? {
        try fetchOne(db, SQLRequest<Self>(literal: sqlLiteral, adapter: adapter))
    }
}

extension RowDecodable where Self: Hashable {
    /// The set of values of a query with interpolated values.
    ///
    /// ```swift
    /// let teamIds = try Int64.fetchSet(db, literal: "SELECT teamId FROM player WHERE score > \(limit)")
    /// ```
    /// ```sql
    /// SELECT teamId FROM player WHERE score > ?
    /// ```
    ///
    /// - throws: `DatabaseError`; `RowDecodingError`.
    @inlinable
    public static func fetchSet(
        _ db: Database, literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil
    ) throws -> Set<Self> {
        try fetchSet(db, SQLRequest<Self>(literal: sqlLiteral, adapter: adapter))
    }
}

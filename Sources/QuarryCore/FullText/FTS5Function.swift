/// An auxiliary function of FTS5 written in Swift: it computes a value from a row that a full-text query has found.
///
/// ```swift
/// /// How often the phrases of the query stand in the row.
/// let hits = FTS5Function("hits") { match in try match.instanceCount() }
/// config.prepareDatabase { db in db.add(function: hits) }
///
/// let rows = try Row.fetchAll(db, sql: """
///     SELECT title, hits(document) FROM document WHERE document MATCH 'sqlite' ORDER BY 2 DESC
///     """)
/// ```
///
/// The first argument of the call is the table. Each connection has its own functions: add them in `prepareDatabase`.
/// If the function throws a `DatabaseError`, the query fails with its code and message; any other error becomes
/// `SQLITE_ERROR` with its description.
///
/// See <https://www.sqlite.org/fts5.html#custom_auxiliary_functions>.
public final class FTS5Function: Sendable {
    /// The name in SQL.
    public let name: String

    let body: @Sendable (borrowing FTS5Match) throws -> (any DatabaseValueConvertible)?

    /// A function that computes a value.
    ///
    /// - parameter name: the name in SQL.
    /// - parameter function: takes the row, and returns the result; nil is NULL.
    public init(
        _ name: String, function: @escaping @Sendable (borrowing FTS5Match) throws -> (any DatabaseValueConvertible)?
    ) {
        self.name = name
        body = function
    }
}

/// An aggregate function: it computes one value from many rows.
///
/// ```swift
/// struct LongestText: DatabaseAggregate {
///     private var longest: String?
///     mutating func step(_ dbValues: [DatabaseValue]) {
///         guard let text = String.fromDatabaseValue(dbValues[0]) else { return }
///         if text.count > longest?.count ?? -1 { longest = text }
///     }
///     func finalize() -> (any DatabaseValueConvertible)? { longest }
/// }
///
/// db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: LongestText.self))
/// let name = try String.fetchOne(db, sql: "SELECT longest(name) FROM player")
/// ```
///
/// Each group of rows has its own aggregate, which is released when the query ends, even after an error. If a method
/// throws a `DatabaseError`, the query fails with its code and message; any other error becomes `SQLITE_ERROR` with its
/// description.
///
/// See <https://www.sqlite.org/appfunc.html#the_aggregate_function_callbacks>.
public protocol DatabaseAggregate: SendableMetatype {
    /// Makes an aggregate of no rows.
    init()

    /// Adds a row to the aggregate.
    ///
    /// - parameter dbValues: the arguments of the function for this row.
    /// - throws: any error: it ends the query.
    mutating func step(_ dbValues: [DatabaseValue]) throws

    /// The result for the added rows; nil is NULL. For no rows it is the result of a new aggregate.
    ///
    /// - throws: any error: it ends the query.
    func finalize() throws -> (any DatabaseValueConvertible)?
}

/// An aggregate that can also remove rows: it works in `OVER` clauses too.
///
/// ```swift
/// struct ExactSum: DatabaseWindowAggregate {
///     private var sum = 0
///     mutating func step(_ dbValues: [DatabaseValue]) { sum += Int.fromDatabaseValue(dbValues[0]) ?? 0 }
///     mutating func inverse(_ dbValues: [DatabaseValue]) { sum -= Int.fromDatabaseValue(dbValues[0]) ?? 0 }
///     func value() -> (any DatabaseValueConvertible)? { sum }
/// }
///
/// db.add(function: DatabaseFunction("exactSum", argumentCount: 1, aggregate: ExactSum.self))
/// let sums = try Int.fetchAll(db, sql: """
///     SELECT exactSum(score) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM player
///     """)
/// ```
///
/// See <https://www.sqlite.org/windowfunctions.html#user_defined_aggregate_window_functions>.
public protocol DatabaseWindowAggregate: DatabaseAggregate {
    /// Removes the oldest row from the aggregate, because the row has left the window.
    ///
    /// - parameter dbValues: the arguments of the function for that row.
    /// - throws: any error: it ends the query.
    mutating func inverse(_ dbValues: [DatabaseValue]) throws

    /// The result for the rows in the window, which may change afterwards; nil is NULL.
    ///
    /// - throws: any error: it ends the query.
    func value() throws -> (any DatabaseValueConvertible)?
}

extension DatabaseWindowAggregate {
    /// The value of the last window.
    ///
    /// - throws: the error of `value()`.
    public func finalize() throws -> (any DatabaseValueConvertible)? { try value() }
}

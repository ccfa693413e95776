/// A type that can bind itself to a parameter of a statement.
public protocol StatementBinding {
    /// Binds to the parameter at `index`, from 1.
    ///
    /// - returns: SQLite's result code.
    /// - parameter sqliteStatement: a prepared statement.
    /// - parameter index: the parameter, from 1.
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

/// A type that converts to and from a single database value.
///
/// ```swift
/// struct Email: DatabaseValueConvertible {
///     var address: String
///     var databaseValue: DatabaseValue { address.databaseValue }
///     static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Email? {
///         String.fromDatabaseValue(dbValue).map { Email(address: $0) }
///     }
/// }
///
/// let emails = try Email.fetchAll(db, sql: "SELECT email FROM player")   // [Email]
/// try db.execute(sql: "DELETE FROM player WHERE email = ?", arguments: [emails[0]])
/// ```
///
/// Conversions of the library's types are exact or fail: an `Int` is read from an integer, or from a real with an
/// integer value, but never from text.
public protocol DatabaseValueConvertible: StatementBinding, RowDecodable, SQLExpressible {
    /// The value to store.
    var databaseValue: DatabaseValue { get }

    /// Converts a database value; nil if the type has no such value.
    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// The value to use for a column that is missing from a row; nil if the column is required. Optionals return
    /// `.some(nil)`.
    static func fromMissingColumn() -> Self?

    /// The type of the JSON encoder, if the type chooses its own: `JSONEncoder`.
    associatedtype DatabaseJSONEncoder = StandardJSONCoder

    /// The type of the JSON decoder, if the type chooses its own: `JSONDecoder`.
    associatedtype DatabaseJSONDecoder = StandardJSONCoder

    /// The encoder of a type that is `Encodable` and stored as JSON.
    ///
    /// ```swift
    /// struct Visit: Codable, DatabaseValueConvertible {
    ///     var date: Date
    ///     static func databaseJSONEncoder() -> JSONEncoder {
    ///         let encoder = JSONEncoder()
    ///         encoder.dateEncodingStrategy = .iso8601
    ///         return encoder
    ///     }
    /// }
    /// ```
    static func databaseJSONEncoder() -> DatabaseJSONEncoder

    /// The decoder of a type that is `Decodable` and stored as JSON.
    static func databaseJSONDecoder() -> DatabaseJSONDecoder

    /// The Swift value of a column of the current row of a statement.
    ///
    /// `StatementColumnConvertible` types use their fast path, other types `fromDatabaseValue`.
    ///
    /// - parameter index: the column, from 0, which must be in the row.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?
}

extension DatabaseValueConvertible {
    /// Binds `databaseValue`.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        StatementBindings.bind(databaseValue, to: sqliteStatement, at: index)
    }

    /// nil: the column is required.
    @inlinable
    public static func fromMissingColumn() -> Self? { nil }

    /// Converts through `DatabaseValue`.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        fromDatabaseValue(StatementColumns.value(sqliteStatement, index))
    }
}

/// A type that reads itself directly from a column of a statement: the fast path of `DatabaseValueConvertible`.
///
/// The initializer must agree with `fromDatabaseValue`.
///
/// ```swift
/// struct Meters: DatabaseValueConvertible, StatementColumnConvertible {
///     var value: Int64
///
///     init(_ value: Int64) { self.value = value }
///
///     init?(sqliteStatement: SQLiteStatement, index: CInt) {
///         guard let value = Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
///         self.init(value)
///     }
///
///     static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Meters? {
///         Int64.fromDatabaseValue(dbValue).map { Meters($0) }
///     }
///
///     var databaseValue: DatabaseValue { value.databaseValue }
/// }
/// ```
public protocol StatementColumnConvertible {
    /// Reads a column of the current row; nil if the type has no such value.
    ///
    /// Never called for NULL, which is passed to `fromDatabaseValue`.
    ///
    /// - parameter sqliteStatement: a statement with a current row.
    /// - parameter index: the column, from 0, which must be in the row.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Reads the column without an intermediate `DatabaseValue`, unless it is NULL.
    ///
    /// The library's own types override this: they detect NULL while reading.
    @inlinable
    @inline(__always)
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        if StatementColumns.isNull(sqliteStatement, index) { return fromDatabaseValue(.null) }
        return Self(sqliteStatement: sqliteStatement, index: index)
    }
}

extension DatabaseValueConvertible {
    /// The value, as an argument of the statement.
    public var sqlExpression: SQLExpression { SQLExpression(content: .value(databaseValue)) }
}

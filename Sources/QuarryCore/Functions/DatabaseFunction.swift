/// An SQL function written in Swift.
///
/// ```swift
/// let reversed = DatabaseFunction("reversed", argumentCount: 1, pure: true) { values in
///     String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
/// }
/// config.prepareDatabase { db in db.add(function: reversed) }
///
/// let name = try String.fetchOne(db, sql: "SELECT reversed('Arthur')") // "ruhtrA"
/// ```
///
/// Each connection has its own functions: add them in `prepareDatabase`, so that all readers of a pool have them.
///
/// If the function throws a `DatabaseError`, the query fails with its code and message. `CancellationError` ends the
/// query as cancelling it does; any other error becomes `SQLITE_ERROR` with its description. See
/// <https://www.sqlite.org/appfunc.html>.
public final class DatabaseFunction: Identifiable, Sendable {
    /// The identity of a function: its name, ignoring case, and its number of arguments.
    public struct ID: Hashable, Sendable {
        private let name: String
        private let argumentCount: Int?

        init(name: String, argumentCount: Int?) {
            self.name = name.lowercasedASCII
            self.argumentCount = argumentCount
        }
    }

    /// The places where SQL may call a function: <https://www.sqlite.org/c3ref/c_deterministic.html>.
    public struct Options: OptionSet, Sendable {
        /// The set as bits.
        public let rawValue: Int

        /// A set of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Only in statements, not in triggers, views, indexes and constraints of the schema (`SQLITE_DIRECTONLY`): for
        /// functions with side effects, which a crafted database file must not reach.
        public static let directOnly = Options(rawValue: 1)

        /// Also in the schema of an untrusted database (`SQLITE_INNOCUOUS`): for functions without side effects whose
        /// result depends on the arguments only.
        public static let innocuous = Options(rawValue: 2)
    }

    enum Body: Sendable {
        case scalar(@Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?)
        /// A function of one argument, which needs no array.
        case unary(@Sendable (DatabaseValue) throws -> (any DatabaseValueConvertible)?)
        case aggregate(any DatabaseAggregate.Type)
        case window(any DatabaseWindowAggregate.Type)
    }

    /// The name in SQL.
    public let name: String

    /// The identity of this function.
    public let id: ID

    /// nil for any number of arguments.
    let argumentCount: Int?
    let isPure: Bool
    let options: Options
    let body: Body

    /// Whether the function is an aggregate.
    package var isAggregate: Bool {
        if case .scalar = body { false } else { true }
    }

    private init(_ name: String, argumentCount: Int?, pure: Bool, options: Options, body: Body) {
        self.name = name
        self.argumentCount = argumentCount
        isPure = pure
        self.options = options
        self.body = body
        id = ID(name: name, argumentCount: argumentCount)
    }

    /// A function that computes a value from its arguments.
    ///
    /// ```swift
    /// let add = DatabaseFunction("add", argumentCount: 2, pure: true) { values in
    ///     guard let a = Int.fromDatabaseValue(values[0]), let b = Int.fromDatabaseValue(values[1]) else { return nil }
    ///     return a + b
    /// }
    /// ```
    ///
    /// - parameter name: the name in SQL.
    /// - parameter argumentCount: the number of arguments, from 0 to 127 (1000 from SQLite 3.48 on); nil for any
    ///   number.
    /// - parameter pure: whether the same arguments always give the same result (`SQLITE_DETERMINISTIC`). If so, SQLite
    ///   calls the function less often, and accepts it in indexes.
    /// - parameter options: the places where SQL may call the function.
    /// - parameter function: takes the arguments, and returns the result; nil is NULL.
    public convenience init(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, options: Options = [],
        function: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) {
        self.init(name, argumentCount: argumentCount, pure: pure, options: options, body: .scalar(function))
    }

    /// A function that computes a value from one argument.
    package convenience init(
        _ name: String, pure: Bool,
        unary function: @escaping @Sendable (DatabaseValue) throws -> (any DatabaseValueConvertible)?
    ) {
        self.init(name, argumentCount: 1, pure: pure, options: [], body: .unary(function))
    }

    /// An aggregate function; a window function too if the type is a `DatabaseWindowAggregate`.
    ///
    /// ```swift
    /// db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: LongestText.self))
    /// ```
    ///
    /// - parameter name: the name in SQL.
    /// - parameter argumentCount: the number of arguments, from 0 to 127 (1000 from SQLite 3.48 on); nil for any
    ///   number.
    /// - parameter pure: whether the same rows always give the same result (`SQLITE_DETERMINISTIC`).
    /// - parameter options: the places where SQL may call the function.
    /// - parameter aggregate: the type whose instances aggregate the rows.
    public convenience init<Aggregate: DatabaseAggregate>(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, options: Options = [],
        aggregate: Aggregate.Type
    ) {
        let body: Body =
            if let type = aggregate as? any DatabaseWindowAggregate.Type { .window(type) } else {
                .aggregate(aggregate)
            }
        self.init(name, argumentCount: argumentCount, pure: pure, options: options, body: body)
    }
}

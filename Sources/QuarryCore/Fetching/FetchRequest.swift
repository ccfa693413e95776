/// A statement to run, and the type that the rows are decoded to.
///
/// ```swift
/// struct Winners: FetchRequest {
///     typealias RowDecoder = String
///     func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
///         PreparedRequest(statement: try db.cachedStatement(sql: "SELECT name FROM player WHERE score > 1000"))
///     }
/// }
/// let names = try Winners().fetchAll(db)
/// ```
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible {
    /// The type that a row is decoded to.
    associatedtype RowDecoder

    /// Makes the statement to run, with its arguments set.
    ///
    /// - parameter singleResult: whether only the first row will be read.
    /// - throws: `DatabaseError` if the statement can't be prepared, or its arguments don't fit.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// The number of rows.
    ///
    /// - throws: `DatabaseError`.
    func fetchCount(_ db: Database) throws -> Int
}

extension FetchRequest {
    /// The tables, columns and rows that the request reads.
    ///
    /// ```swift
    /// try Player.select(Column("name")).databaseRegion(db) // player(name)
    /// ```
    ///
    /// - throws: the error of making the statement.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// The number of rows.
    ///
    /// ```sql
    /// SELECT COUNT(*) FROM (…)
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int {
        let statement = try makePreparedRequest(db, forSingleResult: false).statement
        // A comment at the end would hide the parenthesis.
        let end = statement.sql.contains("--") ? "\n)" : ")"
        let count = try db.cachedStatement(sql: "SELECT COUNT(*) FROM (" + statement.sql + end)
        return try Int.fetchOne(count, arguments: statement.arguments) ?? 0
    }

    /// The request, with its rows seen through an adapter.
    ///
    /// ```swift
    /// let request = SQLRequest<Row>(sql: "SELECT 1 AS a, 2 AS b").adapted { _ in SuffixRowAdapter(fromIndex: 1) }
    /// try request.fetchOne(db) // [b:2]
    /// ```
    public func adapted(
        _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter
    ) -> AdaptedFetchRequest<Self> {
        AdaptedFetchRequest(base: self, adapter: adapter)
    }
}

/// A statement that is ready to run, and the adapter of its rows.
public struct PreparedRequest {
    /// The statement, with its arguments set.
    public var statement: Statement

    /// A box, because most requests have no adapter, and an optional existential costs more to copy than the statement
    /// to run.
    @usableFromInline
    var adapterBox: AdapterBox?

    /// The adapter of the rows, if any.
    public var adapter: (any RowAdapter)? {
        get { adapterBox?.adapter }
        set { adapterBox = newValue.map { AdapterBox($0, adapterBox?.supplement) } }
    }

    /// A statement, and the adapter of its rows.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        if let adapter { adapterBox = AdapterBox(adapter) }
    }

    // Inlinable, because most callers have no adapter, which the compiler sees there. Not initializers, which would get
    // copies of the arguments and the adapter.

    @inlinable
    @inline(__always)
    static func of(
        _ statement: Statement, _ arguments: StatementArguments?, _ adapter: (any RowAdapter)?
    ) throws -> PreparedRequest {
        try statement.setGivenArguments(arguments)
        guard let adapter else { return PreparedRequest(statement, nil) }
        return PreparedRequest(statement, AdapterBox(adapter))
    }

    @inlinable
    @inline(__always)
    static func of(
        _ db: Database, _ sql: String, _ arguments: StatementArguments, _ adapter: (any RowAdapter)?
    ) throws -> PreparedRequest {
        let statement = try db.reusableStatement(sql: sql)
        try statement.setArguments(arguments)
        guard let adapter else { return PreparedRequest(statement, nil) }
        return PreparedRequest(statement, AdapterBox(adapter))
    }

    @inlinable
    @inline(__always)
    init(_ statement: Statement, _ adapterBox: AdapterBox?) {
        self.statement = statement
        self.adapterBox = adapterBox
    }
}

extension Statement {
    /// Sets the arguments, if there are any. The optional is unwrapped here, so that the arguments are copied once.
    @usableFromInline
    func setGivenArguments(_ arguments: StatementArguments?) throws {
        if let arguments { try setArguments(arguments) }
    }
}

/// An adapter, as an object.
@usableFromInline
final class AdapterBox {
    let adapter: any RowAdapter

    /// The supplement of the rows, if any.
    let supplement: (any RowSupplement)?

    /// The rows of an execution that has read them all.
    var buffer: BufferedRows?

    /// Whether the execution continues after the call that begins it.
    let outlivesCall: Bool

    @usableFromInline
    init(_ adapter: any RowAdapter) {
        self.adapter = adapter
        supplement = nil
        outlivesCall = false
    }

    init(_ adapter: any RowAdapter, _ supplement: (any RowSupplement)?, outlivesCall: Bool = false) {
        self.adapter = adapter
        self.supplement = supplement
        self.outlivesCall = outlivesCall
    }
}

/// A request whose rows are seen through an adapter.
public struct AdaptedFetchRequest<Base: FetchRequest>: FetchRequest {
    /// The type that a row is decoded to.
    public typealias RowDecoder = Base.RowDecoder

    let base: Base
    let adapter: @Sendable (Database) throws -> any RowAdapter

    /// The base's statement, with the adapter.
    ///
    /// - throws: the error of the base or the adapter.
    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
        var request = try base.makePreparedRequest(db, forSingleResult: singleResult)
        let outer = try adapter(db)
        request.adapter = request.adapter.map { ChainedAdapter(first: $0, second: outer) } ?? outer
        return request
    }

    /// The number of rows.
    ///
    /// - throws: the base's error.
    public func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }

    /// The base's region.
    ///
    /// - throws: the base's error.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try base.databaseRegion(db) }
}

/// A type-erased request, whose rows are decoded to `RowDecoder`.
///
/// ```swift
/// func players(of teamId: Int64?) -> AnyFetchRequest<Row> {
///     guard let teamId else { return AnyFetchRequest(SQLRequest<Row>(sql: "SELECT * FROM player")) }
///     return AnyFetchRequest(SQLRequest<Row>(literal: "SELECT * FROM player WHERE teamId = \(teamId)"))
/// }
/// ```
public struct AnyFetchRequest<RowDecoder>: FetchRequest {
    private let prepare: @Sendable (Database, Bool) throws -> PreparedRequest
    private let count: @Sendable (Database) throws -> Int
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Wraps a request.
    public init(_ request: some FetchRequest<RowDecoder>) {
        self.init(erasing: request)
    }

    private init(erasing request: some FetchRequest) {
        prepare = { try request.makePreparedRequest($0, forSingleResult: $1) }
        count = { try request.fetchCount($0) }
        region = { try request.databaseRegion($0) }
    }

    private init<Other>(_ other: AnyFetchRequest<Other>) {
        prepare = other.prepare
        count = other.count
        region = other.region
    }

    /// The same request, whose rows are decoded to another type.
    public func asRequest<T>(of type: T.Type) -> AnyFetchRequest<T> { AnyFetchRequest<T>(self) }

    /// The wrapped request's statement.
    ///
    /// - throws: the wrapped request's error.
    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws
        -> PreparedRequest
    {
        try prepare(db, singleResult)
    }

    /// The wrapped request's region.
    ///
    /// - throws: the wrapped request's error.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }

    /// The number of rows.
    ///
    /// - throws: the wrapped request's error.
    public func fetchCount(_ db: Database) throws -> Int { try count(db) }
}

public import Quarry
public import QuarryCore
public import QuarrySQL

/// A table of a join, and the type of its values.
public protocol JoinedTable<Record>: SendableMetatype {
    /// The type of its records.
    associatedtype Record: FetchableRecord

    /// The table's value in a row of the join: a record, or an optional record.
    associatedtype Value

    /// The same table, if the join keeps rows without a row of this table.
    associatedtype Missing: JoinedTable<Record>

    /// Decodes the value from a row with the columns of the table.
    ///
    /// - throws: the error of decoding the record.
    static func value(of row: Row) throws -> Value
}

/// A table of a join that has a row in every row of the join.
public enum RequiredTable<Record: FetchableRecord>: JoinedTable {
    public typealias Missing = OptionalTable<Record>

    /// A record.
    ///
    /// - throws: the error of decoding the record.
    public static func value(of row: Row) throws -> Record { try Record(row: row) }
}

/// A table of a join that has a row in some rows of the join.
public enum OptionalTable<Record: FetchableRecord>: JoinedTable {
    public typealias Missing = OptionalTable<Record>

    /// A record; nil if all columns are NULL.
    ///
    /// - throws: the error of decoding the record.
    public static func value(of row: Row) throws -> Record? {
        (0..<row.count).contains { !row.hasNull(atIndex: $0) } ? try Record(row: row) : nil
    }
}

/// The tables of a join: ``TwoTables`` or ``ThreeTables``.
///
/// They are separate types rather than a parameter pack: the compiler can't infer a pack in a chain of calls that
/// extend it.
public protocol JoinedTables: SendableMetatype {
    /// The arguments of closures: an alias for each table.
    associatedtype Aliases

    /// The type of a row: a value for each table.
    associatedtype Values

    /// Called by the library's own methods.
    static func _aliases(_ tables: _JoinedIdentities) -> Aliases

    /// Called by the library's own methods.
    ///
    /// - throws: the error of decoding a record.
    static func _values(_ row: _JoinedRow) throws -> Values
}

/// The identities of a join's tables, as passed through the protocol.
public struct _JoinedIdentities: Sendable {
    fileprivate let tables: [TableIdentity]

    fileprivate func alias<Record>(_ index: Int) -> TableAlias<Record> { TableAlias(identity: tables[index]) }
}

/// A row of a join, as passed through the protocol.
public struct _JoinedRow {
    fileprivate let row: Row

    fileprivate func value<Table: JoinedTable>(_ index: Int, _ table: Table.Type) throws -> Table.Value {
        if index == 0 { return try Table.value(of: row) }
        return try Table.value(of: row.scopes[scopeName(index)] ?? Row())
    }
}

/// Two tables of a join.
public enum TwoTables<A: JoinedTable, B: JoinedTable>: JoinedTables {
    /// Called by the library's own methods.
    public static func _aliases(
        _ tables: _JoinedIdentities
    ) -> (TableAlias<A.Record>, TableAlias<B.Record>) {
        (tables.alias(0), tables.alias(1))
    }

    /// Called by the library's own methods.
    ///
    /// - throws: the error of decoding a record.
    public static func _values(_ row: _JoinedRow) throws -> (A.Value, B.Value) {
        try (row.value(0, A.self), row.value(1, B.self))
    }
}

/// Three tables of a join.
public enum ThreeTables<A: JoinedTable, B: JoinedTable, C: JoinedTable>: JoinedTables {
    /// Called by the library's own methods.
    public static func _aliases(
        _ tables: _JoinedIdentities
    ) -> (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>) {
        (tables.alias(0), tables.alias(1), tables.alias(2))
    }

    /// Called by the library's own methods.
    ///
    /// - throws: the error of decoding a record.
    public static func _values(_ row: _JoinedRow) throws -> (A.Value, B.Value, C.Value) {
        try (row.value(0, A.self), row.value(1, B.self), row.value(2, C.self))
    }
}

/// A join of several tables, whose rows are tuples of records.
///
/// ```swift
/// let request = Player.all()
///     .join(Team.self) { player, team in player.teamId == team.id }
///     .filter { player, team in player.score > 100 && team.color == "red" }
/// let pairs = try request.fetchAll(db) // [(Player, Team)]
/// ```
/// ```sql
/// SELECT "player".*, "team".* FROM "player" JOIN "team" ON "player"."teamId" = "team"."id"
/// WHERE ("player"."score" > 100) AND ("team"."color" = 'red')
/// ```
///
/// A join has two or three tables, each joined to the tables before it. Associations join more.
/// See <https://www.sqlite.org/lang_select.html#the_from_clause>.
public struct TableJoin<Joined: JoinedTables>: Sendable {
    private var query: SelectQuery

    /// An identity for each table.
    private let tables: _JoinedIdentities

    private init(_ query: SelectQuery, _ tables: [TableIdentity]) {
        self.query = query
        self.tables = _JoinedIdentities(tables: tables)
    }

    // MARK: - Rows

    /// The rows that satisfy a condition, in addition to earlier conditions.
    ///
    /// - throws: the error of `predicate`.
    public func filter(
        _ predicate: (Joined.Aliases) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        var copy = self
        copy.query.filter(try predicate(Joined._aliases(tables)).sqlExpression)
        return copy
    }

    /// The rows in an order, which replaces an earlier order.
    ///
    /// ```swift
    /// request.order { player, team in [team.name, player.score.desc] }
    /// ```
    ///
    /// - throws: the error of `orderings`.
    public func order(_ orderings: (Joined.Aliases) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        var copy = self
        copy.query.order(try orderings(Joined._aliases(tables)).map(\.sqlOrdering))
        return copy
    }

    /// The first rows, or rows after an offset.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        var copy = self
        copy.query.limit = SelectQuery.Limit(count: limit, offset: offset)
        return copy
    }

    // MARK: - More tables

    /// Joins the rows of two requests.
    ///
    /// - parameter condition: takes the tables of this join.
    init<Left, Right>(
        _ kind: Join.Kind, _ left: QueryInterfaceRequest<Left>, _ right: QueryInterfaceRequest<Right>,
        on condition: (Joined.Aliases) -> SQLExpression
    ) {
        // The rows of the left request are selected before they are joined.
        var query = left.query.asJoinedRows(isFiltered: kind.keepsRight)
        let table = TableIdentity()
        query.identities.append(table)
        self.init(query, [table], kind, right, on: condition)
    }

    /// Joins the rows of one more request.
    func joining<More, Other>(
        _ kind: Join.Kind, _ other: QueryInterfaceRequest<Other>, on condition: (More.Aliases) -> SQLExpression
    ) -> TableJoin<More> {
        TableJoin<More>(query, tables.tables, kind, other, on: condition)
    }

    private init<Other>(
        _ query: SelectQuery, _ others: [TableIdentity], _ kind: Join.Kind, _ other: QueryInterfaceRequest<Other>,
        on condition: (Joined.Aliases) -> SQLExpression
    ) {
        let table = TableIdentity()
        self.init(query, others + [table])
        var joined = other.query.asJoinedRows(isFiltered: kind.keepsRight)
        joined.identities.append(table)
        var on = condition(Joined._aliases(tables))
        // The filter selects the rows on the left; rows of the other table are kept without them.
        if kind.keepsRight, let filter = query.filter {
            if kind == .full {
                on = .failing(
                    "a full join of three tables can't follow a filter: filter after it, or join filtered requests "
                        + "with asTable()")
            }
            on = on && filter.of(others[0])
            self.query.filter = nil
        }
        self.query.join(
            Join(
                key: scopeName(others.count), kind: kind, condition: .expression { [on] _, _ in on }, query: joined,
                isSelected: true))
    }

    // MARK: - Fetching

    private func prepared(_ db: Database, singleRow: Bool = false) throws -> PreparedRequest {
        try db.preparePlan(of: query, singleRow: singleRow)
    }

    private static func decode(_ row: Row) throws -> Joined.Values { try Joined._values(_JoinedRow(row: row)) }

    /// All rows.
    ///
    /// - throws: `DatabaseError`; the error of decoding a record.
    public func fetchAll(_ db: Database) throws -> [Joined.Values] {
        var rows: [Joined.Values] = []
        try prepared(db).forEachRow { rows.append(try Self.decode($0)) }
        return rows
    }

    /// The first row; nil if there is no row.
    ///
    /// - throws: `DatabaseError`; the error of decoding a record.
    public func fetchOne(_ db: Database) throws -> Joined.Values? {
        let row = try Row.fetchOne(db, PreparedJoin(request: prepared(db, singleRow: true)))
        return try row.map { try Self.decode($0) }
    }

    /// A cursor over the rows.
    ///
    /// - throws: `DatabaseError`. The cursor throws the errors of decoding.
    public func fetchCursor(_ db: Database) throws -> AnyCursor<Joined.Values> {
        let rows = try Row.fetchCursor(db, PreparedJoin(request: prepared(db)))
        return AnyCursor { try rows.next().map { try Self.decode($0) } }
    }

    /// The number of rows.
    ///
    /// - throws: `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int {
        try QueryInterfaceRequest<Row>(query: query).fetchCount(db)
    }
}

/// The name of the scope of a table of a join.
private func scopeName(_ number: Int) -> String { "table\(number)" }

/// A prepared join.
private struct PreparedJoin: FetchRequest, @unchecked Sendable {
    // Sendable: it never leaves the access that makes it.
    typealias RowDecoder = Row

    let request: PreparedRequest

    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) -> PreparedRequest { request }
}

extension Join.Kind {
    /// Whether rows of the second table without a matching row are kept.
    fileprivate var keepsRight: Bool { self == .right || self == .full }
}

extension SelectQuery {
    /// The query, or a query that selects from it if its rows must be selected before they are joined.
    ///
    /// - parameter isFiltered: whether its filter must also apply before.
    fileprivate func asJoinedRows(isFiltered: Bool) -> SelectQuery {
        let clauses = clauses
        let isLimited =
            limit != nil || isDistinct || !clauses.grouping.isEmpty || clauses.groupsByPrimaryKey
            || !clauses.compounds.isEmpty || isFiltered && filter != nil
        guard isLimited, clauses.joins.isEmpty else { return self }
        var inner = self
        inner.clauses.tables = []
        inner.clauses.prefetches = []
        var outer = SelectQuery(.query(SQLSubquery(content: .query(inner))))
        outer.clauses.tables = clauses.tables
        outer.clauses.prefetches = clauses.prefetches
        outer.clauses.derivedTable = sourceName
        return outer
    }
}

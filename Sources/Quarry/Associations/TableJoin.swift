public import QuarryCore
public import QuarrySQL

/// A table of a join: what its rows become.
public protocol JoinedTable<Record>: SendableMetatype {
    /// The type of its records.
    associatedtype Record: FetchableRecord

    /// What a row of the join has of the table: a record, or an optional one.
    associatedtype Value

    /// The same table, where another one that is joined to it has rows without one of it.
    associatedtype Missing: JoinedTable<Record>

    /// The value of a row, whose columns are those of the table.
    static func value(of row: Row) throws -> Value
}

/// A table of a join that has a row in each of its rows.
public enum RequiredTable<Record: FetchableRecord>: JoinedTable {
    public typealias Missing = OptionalTable<Record>

    /// A record.
    public static func value(of row: Row) throws -> Record { try Record(row: row) }
}

/// A table of a join that has a row in some of its rows.
public enum OptionalTable<Record: FetchableRecord>: JoinedTable {
    public typealias Missing = OptionalTable<Record>

    /// A record; nil if all columns are NULL.
    public static func value(of row: Row) throws -> Record? {
        (0..<row.count).contains { !row.hasNull(atIndex: $0) } ? try Record(row: row) : nil
    }
}

/// The tables of a join: ``TwoTables``, ``ThreeTables``, ``FourTables`` or ``FiveTables``.
///
/// They are types of their own, and no pack of types: the compiler doesn't find a pack in a chain of calls that make it
/// longer.
public protocol JoinedTables: SendableMetatype {
    /// What closures are given: an alias for each table.
    associatedtype Aliases

    /// What a row becomes: a value for each table.
    associatedtype Values

    /// Called by the library's own methods.
    static func _aliases(_ tables: _JoinedIdentities) -> Aliases

    /// Called by the library's own methods.
    static func _values(_ row: _JoinedRow) throws -> Values
}

/// What tells the tables of a join apart, as the protocol of tables passes it on.
public struct _JoinedIdentities: Sendable {
    fileprivate let tables: [TableIdentity]

    fileprivate func alias<Record>(_ index: Int) -> TableAlias<Record> { TableAlias(identity: tables[index]) }
}

/// A row of a join, as the protocol of tables passes it on.
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
    public static func _values(_ row: _JoinedRow) throws -> (A.Value, B.Value, C.Value) {
        try (row.value(0, A.self), row.value(1, B.self), row.value(2, C.self))
    }
}

/// Four tables of a join.
public enum FourTables<A: JoinedTable, B: JoinedTable, C: JoinedTable, D: JoinedTable>: JoinedTables {
    /// Called by the library's own methods.
    public static func _aliases(
        _ tables: _JoinedIdentities
    ) -> (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>) {
        (tables.alias(0), tables.alias(1), tables.alias(2), tables.alias(3))
    }

    /// Called by the library's own methods.
    public static func _values(_ row: _JoinedRow) throws -> (A.Value, B.Value, C.Value, D.Value) {
        try (row.value(0, A.self), row.value(1, B.self), row.value(2, C.self), row.value(3, D.self))
    }
}

/// Five tables of a join.
public enum FiveTables<A: JoinedTable, B: JoinedTable, C: JoinedTable, D: JoinedTable, E: JoinedTable>: JoinedTables {
    /// Called by the library's own methods.
    public static func _aliases(
        _ tables: _JoinedIdentities
    ) -> (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<E.Record>)
    {
        (tables.alias(0), tables.alias(1), tables.alias(2), tables.alias(3), tables.alias(4))
    }

    /// Called by the library's own methods.
    public static func _values(_ row: _JoinedRow) throws -> (A.Value, B.Value, C.Value, D.Value, E.Value) {
        try (
            row.value(0, A.self), row.value(1, B.self), row.value(2, C.self), row.value(3, D.self), row.value(4, E.self)
        )
    }
}

/// Rows of several tables, side by side, as tuples of their records.
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
/// Up to five tables can be joined, each to those before.
/// See <https://www.sqlite.org/lang_select.html#the_from_clause>.
public struct TableJoin<Joined: JoinedTables>: Sendable {
    private var query: SelectQuery

    /// One for each table.
    private let tables: _JoinedIdentities

    private init(_ query: SelectQuery, _ tables: [TableIdentity]) {
        self.query = query
        self.tables = _JoinedIdentities(tables: tables)
    }

    // MARK: - Rows

    /// The rows for which a condition holds, besides those that were set before.
    public func filter(
        _ predicate: (Joined.Aliases) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        var copy = self
        copy.query.filter(try predicate(Joined._aliases(tables)).sqlExpression)
        return copy
    }

    /// The rows in an order, instead of the one that was set before.
    ///
    /// ```swift
    /// request.order { player, team in [team.name, player.score.desc] }
    /// ```
    public func order(_ orderings: (Joined.Aliases) throws -> [any SQLOrderingTerm]) rethrows -> Self {
        var copy = self
        copy.query.order(try orderings(Joined._aliases(tables)).map(\.sqlOrdering))
        return copy
    }

    /// The first rows, or some after others.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        var copy = self
        copy.query.limit = SelectQuery.Limit(count: limit, offset: offset)
        return copy
    }

    // MARK: - More tables

    /// The rows of a request and those of another one, side by side.
    ///
    /// - parameter condition: gets the tables of this join.
    init<Left, Right>(
        _ kind: Join.Kind, _ left: QueryInterfaceRequest<Left>, _ right: QueryInterfaceRequest<Right>,
        on condition: (Joined.Aliases) -> SQLExpression
    ) {
        // Its rows are chosen before they are joined.
        var query = left.query.asJoinedRows(isFiltered: kind.keepsRight)
        let table = TableIdentity()
        query.identities.append(table)
        self.init(query, [table], kind, right, on: condition)
    }

    /// The rows with those of one more request beside them.
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
        // The rows so far are those for which the filter holds; those of the other table stay without them.
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
    /// - throws: `DatabaseError`; what the records throw.
    public func fetchAll(_ db: Database) throws -> [Joined.Values] {
        var rows: [Joined.Values] = []
        try prepared(db).forEachRow { rows.append(try Self.decode($0)) }
        return rows
    }

    /// The first row; nil if there is none.
    public func fetchOne(_ db: Database) throws -> Joined.Values? {
        let row = try Row.fetchOne(db, PreparedJoin(request: prepared(db, singleRow: true)))
        return try row.map { try Self.decode($0) }
    }

    /// A cursor over the rows.
    public func fetchCursor(_ db: Database) throws -> AnyCursor<Joined.Values> {
        let rows = try Row.fetchCursor(db, PreparedJoin(request: prepared(db)))
        return AnyCursor { try rows.next().map { try Self.decode($0) } }
    }

    /// The number of rows.
    public func fetchCount(_ db: Database) throws -> Int {
        try QueryInterfaceRequest<Row>(query: query).fetchCount(db)
    }
}

/// The name of the scope of a table of a join.
private func scopeName(_ number: Int) -> String { "table\(number)" }

/// A join that is prepared already.
private struct PreparedJoin: FetchRequest {
    typealias RowDecoder = Row

    let request: PreparedRequest

    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) -> PreparedRequest { request }
}

extension Join.Kind {
    /// Whether rows of the second table stay that have no partner.
    fileprivate var keepsRight: Bool { self == .right || self == .full }
}

extension SelectQuery {
    /// The query, or one that selects from it, if its rows must be chosen before they are joined.
    ///
    /// - parameter isFiltered: whether a condition, too, must hold before.
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

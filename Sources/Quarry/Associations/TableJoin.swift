public import QuarryCore
public import QuarrySQL

/// A table of a join: what its rows become.
public protocol JoinedTable<Record>: SendableMetatype {
    /// The type of its records.
    associatedtype Record: FetchableRecord

    /// What a row of the join has of the table: a record, or an optional one.
    associatedtype Value

    /// The value of a row, whose columns are those of the table.
    static func value(of row: Row) throws -> Value
}

/// A table of a join that has a row in each of its rows.
public enum RequiredTable<Record: FetchableRecord>: JoinedTable {
    /// A record.
    public static func value(of row: Row) throws -> Record { try Record(row: row) }
}

/// A table of a join that has a row in some of its rows.
public enum OptionalTable<Record: FetchableRecord>: JoinedTable {
    /// A record; nil if all columns are NULL.
    public static func value(of row: Row) throws -> Record? {
        (0..<row.count).contains { !row.hasNull(atIndex: $0) } ? try Record(row: row) : nil
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
/// See <https://www.sqlite.org/lang_select.html#the_from_clause>.
public struct TableJoin<each Joined: JoinedTable>: Sendable {
    private var query: SelectQuery

    /// One for each table.
    private let tables: [TableIdentity]

    fileprivate init(_ query: SelectQuery, _ tables: [TableIdentity]) {
        self.query = query
        self.tables = tables
    }

    /// Calls a closure with the tables.
    private func withTables<T>(
        _ body: (repeat TableAlias<(each Joined).Record>) throws -> T
    ) rethrows -> T {
        var tables = TableSequence(tables)
        return try body(repeat tables.next((each Joined).Record.self))
    }

    // MARK: - Rows

    /// The rows for which a condition holds, besides those that were set before.
    public func filter(
        _ predicate: (repeat TableAlias<(each Joined).Record>) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        var copy = self
        copy.query.filter(try withTables(predicate).sqlExpression)
        return copy
    }

    /// The rows in an order, instead of the one that was set before.
    ///
    /// ```swift
    /// request.order { player, team in [team.name, player.score.desc] }
    /// ```
    public func order(
        _ orderings: (repeat TableAlias<(each Joined).Record>) throws -> [any SQLOrderingTerm]
    ) rethrows -> Self {
        var copy = self
        copy.query.order(try withTables(orderings).map(\.sqlOrdering))
        return copy
    }

    /// The first rows, or some after others.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        var copy = self
        copy.query.limit = SelectQuery.Limit(count: limit, offset: offset)
        return copy
    }

    // MARK: - More tables

    /// The rows with those of one more table beside them.
    ///
    /// ```swift
    /// let request = Award.all()
    ///     .join(Player.self) { award, player in award.playerId == player.id }
    ///     .leftJoin(Team.self) { award, player, team in player.teamId == team.id }
    /// let rows = try request.fetchAll(db) // [(Award, Player, Team?)]
    /// ```
    public func join<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (repeat TableAlias<(each Joined).Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<repeat each Joined, RequiredTable<Other>> {
        join(Other.all(), on: condition)
    }

    /// The rows with those of one more request beside them.
    public func join<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (repeat TableAlias<(each Joined).Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<repeat each Joined, RequiredTable<Other>> {
        let table = TableIdentity()
        let all = TableJoin<repeat each Joined, RequiredTable<Other>>(query, tables + [table])
        return all.joining(other.query, .inner, on: all.withTables(condition))
    }

    /// The rows with those of one more table beside them, where there are any.
    public func leftJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (repeat TableAlias<(each Joined).Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<repeat each Joined, OptionalTable<Other>> {
        leftJoin(Other.all(), on: condition)
    }

    /// The rows with those of one more request beside them, where there are any.
    public func leftJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (repeat TableAlias<(each Joined).Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<repeat each Joined, OptionalTable<Other>> {
        let table = TableIdentity()
        let all = TableJoin<repeat each Joined, OptionalTable<Other>>(query, tables + [table])
        return all.joining(other.query, .left, on: all.withTables(condition))
    }

    /// Joins the last of the tables.
    private func joining(_ other: SelectQuery, _ kind: Join.Kind, on condition: SQLExpression) -> Self {
        var copy = self
        let number = tables.count - 1
        copy.query = query.joining(other, kind, as: tables[number], number: number, on: condition)
        return copy
    }

    // MARK: - Fetching

    private func prepared(_ db: Database, singleRow: Bool = false) throws -> PreparedRequest {
        try db.preparePlan(of: query, singleRow: singleRow)
    }

    private static func decode(_ row: Row) throws -> (repeat (each Joined).Value) {
        var index = 0
        func next<Table: JoinedTable>(_ table: Table.Type) throws -> Table.Value {
            index += 1
            if index == 1 { return try Table.value(of: row) }
            return try Table.value(of: row.scopes[scopeName(index - 1)] ?? Row())
        }
        return (repeat try next((each Joined).self))
    }

    /// All rows.
    ///
    /// - throws: `DatabaseError`; what the records throw.
    public func fetchAll(_ db: Database) throws -> [(repeat (each Joined).Value)] {
        var rows: [(repeat (each Joined).Value)] = []
        try prepared(db).forEachRow { rows.append(try Self.decode($0)) }
        return rows
    }

    /// The first row; nil if there is none.
    public func fetchOne(_ db: Database) throws -> (repeat (each Joined).Value)? {
        let row = try Row.fetchOne(db, PreparedJoin(request: prepared(db, singleRow: true)))
        return try row.map { try Self.decode($0) }
    }

    /// A cursor over the rows.
    public func fetchCursor(_ db: Database) throws -> AnyCursor<(repeat (each Joined).Value)> {
        let rows = try Row.fetchCursor(db, PreparedJoin(request: prepared(db)))
        return AnyCursor { try rows.next().map { try Self.decode($0) } }
    }

    /// The number of rows.
    public func fetchCount(_ db: Database) throws -> Int {
        try QueryInterfaceRequest<Row>(query: query).fetchCount(db)
    }
}

/// The tables of a join, one after the other.
private struct TableSequence {
    private var rest: ArraySlice<TableIdentity>

    init(_ tables: [TableIdentity]) { rest = tables[...] }

    mutating func next<Record>(_ type: Record.Type) -> TableAlias<Record> {
        TableAlias(identity: rest.popFirst() ?? TableIdentity())
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

extension SelectQuery {
    /// The query with one more table.
    fileprivate func joining(
        _ other: SelectQuery, _ kind: Join.Kind, as table: TableIdentity, number: Int, on condition: SQLExpression
    ) -> SelectQuery {
        var other = other
        other.identities.append(table)
        var query = self
        query.join(
            Join(
                key: scopeName(number), kind: kind, condition: .expression { _, _ in condition }, query: other,
                isSelected: true))
        return query
    }
}

// MARK: - Beginning a join

extension QueryInterfaceRequest where RowDecoder: FetchableRecord {
    private func joined<Other>(
        _ kind: Join.Kind, _ other: QueryInterfaceRequest<Other>,
        _ condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> (SelectQuery, [TableIdentity]) {
        let (left, right) = (TableIdentity(), TableIdentity())
        // Its rows are chosen before they are joined.
        var base = query.asSubqueryIfLimited
        base.identities.append(left)
        let on = condition(TableAlias(identity: left), TableAlias(identity: right))
        return (base.joining(other.query, kind, as: right, number: 1, on: on), [left, right])
    }

    /// The rows of the request with those of another table beside them, by a condition.
    ///
    /// ```swift
    /// let pairs = try Player.all()
    ///     .join(Team.self) { player, team in player.teamId == team.id }
    ///     .fetchAll(db) // [(Player, Team)]
    /// ```
    /// ```sql
    /// SELECT "player".*, "team".* FROM "player" JOIN "team" ON "player"."teamId" = "team"."id"
    /// ```
    ///
    /// Both may be the same table.
    public func join<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<RequiredTable<RowDecoder>, RequiredTable<Other>> {
        join(Other.all(), on: condition)
    }

    /// The rows of the request with those of another one beside them, by a condition.
    public func join<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<RequiredTable<RowDecoder>, RequiredTable<Other>> {
        let (query, tables) = joined(.inner, other, condition)
        return TableJoin<RequiredTable<RowDecoder>, RequiredTable<Other>>(query, tables)
    }

    /// The rows of the request with those of another table beside them, where there are any.
    ///
    /// ```swift
    /// let pairs = try Player.all()
    ///     .leftJoin(Team.self) { player, team in player.teamId == team.id }
    ///     .fetchAll(db) // [(Player, Team?)]
    /// ```
    public func leftJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<RequiredTable<RowDecoder>, OptionalTable<Other>> {
        leftJoin(Other.all(), on: condition)
    }

    /// The rows of the request with those of another one beside them, where there are any.
    public func leftJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<RequiredTable<RowDecoder>, OptionalTable<Other>> {
        let (query, tables) = joined(.left, other, condition)
        return TableJoin<RequiredTable<RowDecoder>, OptionalTable<Other>>(query, tables)
    }

    /// The rows of another table with those of the request beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<OptionalTable<RowDecoder>, RequiredTable<Other>> {
        let (query, tables) = joined(.right, Other.all(), condition)
        return TableJoin<OptionalTable<RowDecoder>, RequiredTable<Other>>(query, tables)
    }

    /// The rows of the request and those of another table, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<OptionalTable<RowDecoder>, OptionalTable<Other>> {
        let (query, tables) = joined(.full, Other.all(), condition)
        return TableJoin<OptionalTable<RowDecoder>, OptionalTable<Other>>(query, tables)
    }
}

extension SelectQuery {
    /// The query, or one that selects from it if it chooses rows by more than conditions.
    fileprivate var asSubqueryIfLimited: SelectQuery {
        let clauses = clauses
        let isLimited =
            limit != nil || isDistinct || !clauses.grouping.isEmpty || clauses.groupsByPrimaryKey
            || !clauses.compounds.isEmpty
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

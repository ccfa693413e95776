public import Quarry
public import QuarryCore
public import QuarrySQL

// Each verb is written twice, for a table and for a request, and once for each number of tables, so that the compiler
// knows the types of a chain from its beginning.

// MARK: - Beginning a join

extension QueryInterfaceRequest where RowDecoder: FetchableRecord {
    /// Joins the rows of another table by a condition.
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
    /// Both tables may be the same.
    public func join<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.inner, self, other.all()) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another request by a condition.
    public func join<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.inner, self, other) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another table by a condition; a row without a matching row is kept.
    ///
    /// ```swift
    /// let pairs = try Player.all()
    ///     .leftJoin(Team.self) { player, team in player.teamId == team.id }
    ///     .fetchAll(db) // [(Player, Team?)]
    /// ```
    public func leftJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.left, self, other.all()) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another request by a condition; a row without a matching row is kept.
    public func leftJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.left, self, other) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another table, all of which are kept: `RIGHT JOIN`.
    ///
    /// ```swift
    /// let pairs = try Player.filter { $0.score > 100 }
    ///     .rightJoin(Team.self) { player, team in player.teamId == team.id }
    ///     .fetchAll(db) // [(Player?, Team)]
    /// ```
    /// ```sql
    /// SELECT "player".*, "team".* FROM (SELECT * FROM "player" WHERE "score" > 100) "player"
    /// RIGHT JOIN "team" ON "player"."teamId" = "team"."id"
    /// ```
    public func rightJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.right, self, other.all()) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another request, all of which are kept: `RIGHT JOIN`.
    public func rightJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.right, self, other) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another table; all rows of both are kept: `FULL JOIN`.
    public func fullJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.full, self, other.all()) { condition($0.0, $0.1) }
    }

    /// Joins the rows of another request; all rows of both are kept: `FULL JOIN`.
    public func fullJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.full, self, other) { condition($0.0, $0.1) }
    }
}

// MARK: - Three tables

extension TableJoin {
    /// Joins the rows of one more table.
    ///
    /// ```swift
    /// let request = Award.all()
    ///     .join(Player.self) { award, player in award.playerId == player.id }
    ///     .leftJoin(Team.self) { award, player, team in player.teamId == team.id }
    /// let rows = try request.fetchAll(db) // [(Award, Player, Team?)]
    /// ```
    public func join<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.inner, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more request.
    public func join<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.inner, other) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more table; a row without a matching row is kept.
    public func leftJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.left, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more request; a row without a matching row is kept.
    public func leftJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.left, other) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more table, all of which are kept: `RIGHT JOIN`.
    ///
    /// An earlier filter selects the rows to join; a later filter selects among the joined rows.
    public func rightJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.right, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more request, all of which are kept: `RIGHT JOIN`.
    public func rightJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.right, other) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more table; all rows of both sides are kept: `FULL JOIN`.
    ///
    /// A fetch throws if a filter was set before: SQL has no place for it.
    public func fullJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.full, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// Joins the rows of one more request; all rows of both sides are kept: `FULL JOIN`.
    public func fullJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.full, other) { condition($0.0, $0.1, $0.2) }
    }
}

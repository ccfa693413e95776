public import QuarryCore
public import QuarrySQL

// Each verb stands twice, for a table and for a request, and once for each number of tables: so the compiler knows the
// types of a chain from its beginning on.

// MARK: - Beginning a join

extension QueryInterfaceRequest where RowDecoder: FetchableRecord {
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
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.inner, self, other.all()) { condition($0.0, $0.1) }
    }

    /// The rows of the request with those of another one beside them, by a condition.
    public func join<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.inner, self, other) { condition($0.0, $0.1) }
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
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.left, self, other.all()) { condition($0.0, $0.1) }
    }

    /// The rows of the request with those of another one beside them, where there are any.
    public func leftJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<RequiredTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.left, self, other) { condition($0.0, $0.1) }
    }

    /// The rows of another table with those of the request beside them, where there are any: `RIGHT JOIN`.
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

    /// The rows of another request with those of this one beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, RequiredTable<Other>>> {
        TableJoin(.right, self, other) { condition($0.0, $0.1) }
    }

    /// The rows of the request and those of another table, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<Other: TableRecord & FetchableRecord>(
        _ other: Other.Type, on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.full, self, other.all()) { condition($0.0, $0.1) }
    }

    /// The rows of the request and those of another one, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<RowDecoder>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<TwoTables<OptionalTable<RowDecoder>, OptionalTable<Other>>> {
        TableJoin(.full, self, other) { condition($0.0, $0.1) }
    }
}

// MARK: - Three tables

extension TableJoin {
    /// The rows with those of one more table beside them.
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

    /// The rows with those of one more request beside them.
    public func join<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.inner, other) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows with those of one more table beside them, where there are any.
    public func leftJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.left, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows with those of one more request beside them, where there are any.
    public func leftJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A, B, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.left, other) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows of one more table with these beside them, where there are any: `RIGHT JOIN`.
    ///
    /// A filter that was set before decides which rows are beside them; one that is set afterwards, which of all rows
    /// stay.
    public func rightJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.right, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows of one more request with these beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, RequiredTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.right, other) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows and those of one more table, side by side where a condition holds: `FULL JOIN`.
    ///
    /// It throws if a filter was set before: SQL has no place for it.
    public func fullJoin<A, B, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.full, other.all()) { condition($0.0, $0.1, $0.2) }
    }

    /// The rows and those of one more request, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<A, B, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<Other>) -> SQLExpression
    ) -> TableJoin<ThreeTables<A.Missing, B.Missing, OptionalTable<Other>>> where Joined == TwoTables<A, B> {
        joining(.full, other) { condition($0.0, $0.1, $0.2) }
    }
}

// MARK: - Four tables

extension TableJoin {
    /// The rows with those of one more table beside them.
    public func join<A, B, C, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A, B, C, RequiredTable<Other>>> where Joined == ThreeTables<A, B, C> {
        joining(.inner, other.all()) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows with those of one more request beside them.
    public func join<A, B, C, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A, B, C, RequiredTable<Other>>> where Joined == ThreeTables<A, B, C> {
        joining(.inner, other) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows with those of one more table beside them, where there are any.
    public func leftJoin<A, B, C, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A, B, C, OptionalTable<Other>>> where Joined == ThreeTables<A, B, C> {
        joining(.left, other.all()) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows with those of one more request beside them, where there are any.
    public func leftJoin<A, B, C, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A, B, C, OptionalTable<Other>>> where Joined == ThreeTables<A, B, C> {
        joining(.left, other) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows of one more table with these beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<A, B, C, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A.Missing, B.Missing, C.Missing, RequiredTable<Other>>>
    where Joined == ThreeTables<A, B, C> {
        joining(.right, other.all()) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows of one more request with these beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<A, B, C, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A.Missing, B.Missing, C.Missing, RequiredTable<Other>>>
    where Joined == ThreeTables<A, B, C> {
        joining(.right, other) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows and those of one more table, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<A, B, C, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A.Missing, B.Missing, C.Missing, OptionalTable<Other>>>
    where Joined == ThreeTables<A, B, C> {
        joining(.full, other.all()) { condition($0.0, $0.1, $0.2, $0.3) }
    }

    /// The rows and those of one more request, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<A, B, C, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<Other>) ->
            SQLExpression
    ) -> TableJoin<FourTables<A.Missing, B.Missing, C.Missing, OptionalTable<Other>>>
    where Joined == ThreeTables<A, B, C> {
        joining(.full, other) { condition($0.0, $0.1, $0.2, $0.3) }
    }
}

// MARK: - Five tables

extension TableJoin {
    /// The rows with those of one more table beside them.
    public func join<A, B, C, D, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A, B, C, D, RequiredTable<Other>>> where Joined == FourTables<A, B, C, D> {
        joining(.inner, other.all()) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows with those of one more request beside them.
    public func join<A, B, C, D, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A, B, C, D, RequiredTable<Other>>> where Joined == FourTables<A, B, C, D> {
        joining(.inner, other) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows with those of one more table beside them, where there are any.
    public func leftJoin<A, B, C, D, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A, B, C, D, OptionalTable<Other>>> where Joined == FourTables<A, B, C, D> {
        joining(.left, other.all()) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows with those of one more request beside them, where there are any.
    public func leftJoin<A, B, C, D, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A, B, C, D, OptionalTable<Other>>> where Joined == FourTables<A, B, C, D> {
        joining(.left, other) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows of one more table with these beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<A, B, C, D, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A.Missing, B.Missing, C.Missing, D.Missing, RequiredTable<Other>>>
    where Joined == FourTables<A, B, C, D> {
        joining(.right, other.all()) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows of one more request with these beside them, where there are any: `RIGHT JOIN`.
    public func rightJoin<A, B, C, D, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A.Missing, B.Missing, C.Missing, D.Missing, RequiredTable<Other>>>
    where Joined == FourTables<A, B, C, D> {
        joining(.right, other) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows and those of one more table, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<A, B, C, D, Other: TableRecord & FetchableRecord>(
        _ other: Other.Type,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A.Missing, B.Missing, C.Missing, D.Missing, OptionalTable<Other>>>
    where Joined == FourTables<A, B, C, D> {
        joining(.full, other.all()) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }

    /// The rows and those of one more request, side by side where a condition holds: `FULL JOIN`.
    public func fullJoin<A, B, C, D, Other: FetchableRecord>(
        _ other: QueryInterfaceRequest<Other>,
        on condition: (
            TableAlias<A.Record>, TableAlias<B.Record>, TableAlias<C.Record>, TableAlias<D.Record>, TableAlias<Other>
        ) -> SQLExpression
    ) -> TableJoin<FiveTables<A.Missing, B.Missing, C.Missing, D.Missing, OptionalTable<Other>>>
    where Joined == FourTables<A, B, C, D> {
        joining(.full, other) { condition($0.0, $0.1, $0.2, $0.3, $0.4) }
    }
}

import QuarryCore

/// A request whose rows can be joined to those of associations.
public protocol JoinableRequest<RowDecoder>: QueryRequest {}

extension JoinableRequest {
    /// The request with the rows of an association in a scope; rows without an associated row are left out.
    ///
    /// ```swift
    /// struct PlayerInfo: Decodable, FetchableRecord {
    ///     var player: Player
    ///     var team: Team
    /// }
    /// let infos = try Player.including(required: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"
    /// ```
    ///
    /// The association's columns are in a scope with the name of its key: `row.scopes["team"]`.
    ///
    /// If the request already has an association with the same key, the two are merged: both conditions apply, the
    /// result is required if either is, and the last order and selection are used. The request throws if the two find
    /// their rows differently.
    public func including<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        changing { $0.join(association.path.join(.inner, isSelected: true)) }
    }

    /// The request with the rows of an association in a scope; its columns are NULL for rows without an associated row.
    ///
    /// ```swift
    /// struct PlayerInfo: Decodable, FetchableRecord {
    ///     var player: Player
    ///     var team: Team?
    /// }
    /// let infos = try Player.including(optional: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "player".*, "team".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId"
    /// ```
    public func including<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        changing { $0.join(association.path.join(.left, isSelected: true)) }
    }

    /// The request with all rows of an association, prefetched for each of its own rows.
    ///
    /// ```swift
    /// struct TeamInfo: Decodable, FetchableRecord {
    ///     var team: Team
    ///     var players: [Player]
    /// }
    /// let infos = try Team.including(all: Team.players).asRequest(of: TeamInfo.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT * FROM "team"
    /// SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" IN (1, 2, 3)
    /// ```
    ///
    /// One additional statement prefetches the rows, or several if there are more keys than a statement can have
    /// arguments. If the request returns no rows, no such statement runs.
    public func including<A: AssociationToMany>(all association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        changing { $0.prefetch(Prefetch(association.path)) }
    }

    /// The rows that have an associated row, without its columns.
    ///
    /// ```swift
    /// let reds = try Player.joining(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "player".* FROM "player" JOIN "team" ON ("team"."id" = "player"."teamId") AND ("team"."color" = 'red')
    /// ```
    public func joining<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        changing { $0.join(association.path.join(.inner, isSelected: false)) }
    }

    /// The request joined to the rows of an association, if any, for conditions and orders.
    ///
    /// ```swift
    /// let team = TableAlias<Team>()
    /// let free = try Player.joining(optional: Player.team.aliased(team)).filter(!team.exists).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "player".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId" WHERE "team"."id" IS NULL
    /// ```
    public func joining<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        changing { $0.join(association.path.join(.left, isSelected: false)) }
    }
}

extension JoinableRequest where Self: SelectionRequest {
    /// The request with the columns of an association among its own; rows without an associated row are left out.
    ///
    /// ```swift
    /// Player.annotated(withRequired: Player.team.select { [$0.color] })
    /// ```
    /// ```sql
    /// SELECT "player".*, "team"."color" FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"
    /// ```
    public func annotated<A: Association>(withRequired association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        annotated(with: association.path, .inner)
    }

    /// The request with the columns of an association among its own; they are NULL for rows without an associated row.
    ///
    /// ```swift
    /// Player.annotated(withOptional: Player.team.select { [$0.color.forKey("teamColor")] })
    /// ```
    /// ```sql
    /// SELECT "player".*, "team"."color" AS "teamColor"
    /// FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamId"
    /// ```
    public func annotated<A: Association>(withOptional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        annotated(with: association.path, .left)
    }

    private func annotated(with path: AssociationPath, _ kind: Join.Kind) -> Self {
        var path = path
        let table = TableIdentity()
        path.last.query.identities.append(table)
        let selection = path.last.query.selection ?? [SQLSelection(content: .allColumns)]
        return changing { query in
            query.join(path.join(kind, isSelected: false))
            query.annotate(selection.map { SQLSelection(content: .of(table, $0)) })
        }
    }
}

extension JoinableRequest where Self: SelectionRequest & AggregatingRequest {
    /// The request with aggregates of the rows of associations.
    ///
    /// ```swift
    /// struct TeamInfo: Decodable, FetchableRecord {
    ///     var team: Team
    ///     var playerCount: Int
    ///     var maxPlayerScore: Int?
    /// }
    /// let request = Team.annotated(with: Team.players.count, Team.players.max { $0.score })
    /// let infos = try request.asRequest(of: TeamInfo.self).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "team".*, COUNT(DISTINCT "player"."id") AS "playerCount", MAX("player"."score") AS "maxPlayerScore"
    /// FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id" GROUP BY "team"."id"
    /// ```
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> Self {
        changing { query in
            for aggregate in aggregates {
                let expression = aggregate.prepare(&query).expression
                let content: SQLSelection.Content
                if let key = aggregate.key {
                    content = .named(expression, key)
                } else {
                    content = .expression(expression)
                }
                query.annotate([SQLSelection(content: content)])
            }
        }
    }

    /// The request with aggregates of the rows of associations.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> Self {
        annotated(with: aggregates)
    }
}

extension JoinableRequest where Self: AggregatingRequest {
    /// The rows that satisfy a condition on an aggregate of an association.
    ///
    /// ```swift
    /// let teams = try Team.having(Team.players.count >= 2).fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "team".* FROM "team" LEFT JOIN "player" ON "player"."teamId" = "team"."id"
    /// GROUP BY "team"."id" HAVING COUNT(DISTINCT "player"."id") >= 2
    /// ```
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> Self {
        changing { query in
            let condition = predicate.prepare(&query).expression
            query.having(condition)
        }
    }
}

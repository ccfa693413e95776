public import QuarryCore

// Associations of record types, and requests that begin with an association.

extension TableRecord {
    // MARK: - Associations

    /// An association to the row of another table that a foreign key of this table references.
    ///
    /// ```swift
    /// extension Player {
    ///     static let team = belongsTo(Team.self)
    /// }
    /// Player.including(required: Player.team)
    /// ```
    /// ```sql
    /// SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"
    /// ```
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public static func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(_path: AssociationPath.belongsTo(Destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table that a foreign key of this table references.
    public static func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsToAssociation<Self, Destination> {
        BelongsToAssociation(_path: AssociationPath.belongsTo(destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table whose foreign key references this table.
    ///
    /// ```swift
    /// extension Player {
    ///     static let profile = hasOne(Profile.self)
    /// }
    /// Player.including(optional: Player.profile)
    /// ```
    /// ```sql
    /// SELECT "player".*, "profile".* FROM "player" LEFT JOIN "profile" ON "profile"."playerId" = "player"."id"
    /// ```
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public static func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(_path: AssociationPath.hasOne(Destination.all().query, key, foreignKey))
    }

    /// An association to the row of another table whose foreign key references this table.
    public static func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOneAssociation<Self, Destination> {
        HasOneAssociation(_path: AssociationPath.hasOne(destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another table whose foreign key references this table.
    ///
    /// ```swift
    /// extension Team {
    ///     static let players = hasMany(Player.self)
    /// }
    /// Team.including(all: Team.players)
    /// ```
    /// ```sql
    /// SELECT * FROM "team"
    /// SELECT *, "teamId" AS "grdb_teamId" FROM "player" WHERE "teamId" IN (1, 2)
    /// ```
    ///
    /// - parameter key: the name in results; nil for the table's name, in singular or plural.
    /// - parameter foreignKey: the columns; nil for the foreign key in the schema: a request throws if there is none or
    ///   more than one.
    public static func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(_path: AssociationPath.hasMany(Destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another table whose foreign key references this table.
    public static func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasManyAssociation<Self, Destination> {
        HasManyAssociation(_path: AssociationPath.hasMany(destination.all().query, key, foreignKey))
    }

    /// An association to the rows of another association's destination, through a pivot.
    ///
    /// ```swift
    /// extension Country {
    ///     static let citizenships = hasMany(Citizenship.self)
    ///     static let citizens = hasMany(Person.self, through: citizenships, using: Citizenship.person)
    /// }
    /// Country.including(all: Country.citizens)
    /// ```
    /// ```sql
    /// SELECT * FROM "country"
    /// SELECT "person".*, "citizenship"."countryCode" AS "grdb_countryCode" FROM "person"
    /// JOIN "citizenship"
    ///   ON ("citizenship"."personId" = "person"."id") AND ("citizenship"."countryCode" IN ('FR', 'DE'))
    /// ```
    ///
    /// - parameter pivot: an association of this type.
    /// - parameter target: an association of the pivot's destination.
    /// - parameter key: the name in results; nil for the target's name.
    public static func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasManyThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasManyThroughAssociation(
            _path: AssociationPath.through(pivot, target, key.map { AssociationKey(plural: $0) }))
    }

    /// An association to the row of another association's destination, through a pivot.
    ///
    /// ```swift
    /// extension Award {
    ///     static let player = belongsTo(Player.self)
    ///     static let team = hasOne(Team.self, through: player, using: Player.team)
    /// }
    /// ```
    ///
    /// - parameter pivot: an association of this type.
    /// - parameter target: an association of the pivot's destination.
    /// - parameter key: the name in results; nil for the target's name.
    public static func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    ) -> HasOneThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasOneThroughAssociation(
            _path: AssociationPath.through(pivot, target, key.map { AssociationKey(singular: $0) }))
    }

    /// An association to the rows of a common table expression that satisfy a condition.
    ///
    /// ```swift
    /// let best = CommonTableExpression<Row>(
    ///     named: "best", sql: "SELECT teamId, MAX(score) AS score FROM player GROUP BY 1")
    /// let association = Team.association(to: best) { team, best in team["id"] == best["teamId"] }
    /// let request = Team.with(best).including(optional: association)
    /// ```
    /// ```sql
    /// WITH "best" AS (…) SELECT "team".*, "best".* FROM "team" LEFT JOIN "best" ON "team"."id" = "best"."teamId"
    /// ```
    ///
    /// The request needs `with(_:)`.
    ///
    /// - parameter condition: a condition on a row of each table.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition:
            @escaping @Sendable (_ left: TableAlias<Self>, _ right: TableAlias<Destination>) -> any SQLExpressible
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query, on: condition))
    }

    /// An association to all rows of a common table expression.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<Self, Destination> {
        JoinAssociation(_path: AssociationPath.join(cte.all().query))
    }
}

// MARK: - Requests

extension TableRecord {
    /// The rows of the table with the rows of an association in a scope; rows without an associated row are left out.
    public static func including<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(required: association)
    }

    /// The rows of the table with the rows of an association in a scope, whose columns are NULL for rows without an
    /// associated row.
    public static func including<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(optional: association)
    }

    /// The rows of the table that have an associated row.
    public static func joining<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(required: association)
    }

    /// The rows of the table, joined to the rows of an association, if any.
    public static func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(optional: association)
    }

    /// The rows of the table with the columns of an association; rows without an associated row are left out.
    public static func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withRequired: association)
    }

    /// The rows of the table with the columns of an association, which are NULL for rows without an associated row.
    public static func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withOptional: association)
    }

    /// The rows of the table, each with all rows of an association.
    public static func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(all: association)
    }

    /// The rows of the table with aggregates of the rows of associations.
    public static func annotated(with aggregates: [AssociationAggregate<Self>]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: aggregates)
    }

    /// The rows of the table with aggregates of the rows of associations.
    public static func annotated(with aggregates: AssociationAggregate<Self>...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: aggregates)
    }

    /// The rows of the table that satisfy a condition on an aggregate of an association.
    public static func having(_ predicate: AssociationAggregate<Self>) -> QueryInterfaceRequest<Self> {
        all().having(predicate)
    }
}

import QuarryCore

/// An association between tables: finds the rows of one table from the rows of another, through a foreign key, another
/// association, or a condition.
///
/// ```swift
/// extension Player {
///     static let team = belongsTo(Team.self)
/// }
/// extension Team {
///     static let players = hasMany(Player.self)
/// }
/// let players = try Player.including(required: Player.team).fetchAll(db)
/// ```
///
/// An association can be modified like a request: `Team.players.filter { $0.score > 10 }.order(\.name)`.
public protocol Association<OriginRowDecoder, RowDecoder>: DerivableRequest {
    /// The type whose rows the association starts from.
    associatedtype OriginRowDecoder

    /// The tables of the association, for the library's own methods.
    var _path: _AssociationPath { get set }
}

/// The tables of an association, as passed through its protocol.
public struct _AssociationPath: Sendable {
    package var path: AssociationPath

    package init(_ path: AssociationPath) { self.path = path }
}

extension Association {
    /// Called by the library's own methods.
    public func _changed(_ change: (inout _SelectQuery) throws -> Void) rethrows -> Self {
        var query = _SelectQuery(query: path.last.query)
        try change(&query)
        var copy = self
        copy._path.path.last.query = query.query
        return copy
    }

    package var path: AssociationPath { _path.path }

    fileprivate func keyed(_ key: AssociationKey) -> Self {
        var copy = self
        copy._path.path.last.key = key
        return copy
    }

    /// The association with another name in results.
    public func forKey(_ codingKey: some CodingKey) -> Self { forKey(codingKey.stringValue) }

    /// The association with another name in results.
    public func forKey(_ key: String) -> Self { keyed(AssociationKey(fixed: key)) }

    /// The first rows of each origin, or rows after an offset.
    ///
    /// ```swift
    /// // The three best players of each team
    /// Team.including(all: Team.players.order { $0.score.desc }.limit(3))
    /// ```
    /// ```sql
    /// SELECT * FROM "team"
    /// SELECT * FROM (
    ///   SELECT *, "teamId" AS "grdb_teamId",
    ///     ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "score" DESC) AS "quarry_rank"
    ///   FROM "player" WHERE "teamId" IN (1, 2))
    /// WHERE "quarry_rank" <= 3 ORDER BY "quarry_rank"
    /// ```
    ///
    /// This limit replaces an earlier one.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        changing { $0.limit = SelectQuery.Limit(count: limit, offset: offset) }
    }
}

/// An association that finds at most one row.
public protocol AssociationToOne: Association {}

extension AssociationToOne {
    /// The association with another name in results, which is singular.
    ///
    /// ```swift
    /// let request = Match.including(required: Match.home.forKey("host"))
    /// let host = try Row.fetchOne(db, request)?.scopes["host"]
    /// ```
    public func forKey(_ key: String) -> Self { keyed(AssociationKey(singular: key)) }
}

/// An association that finds any number of rows.
public protocol AssociationToMany: Association {}

extension AssociationToMany {
    /// The association with another name in results, which is plural; its singular names a single row.
    ///
    /// ```swift
    /// let winners = Team.players.filter { $0.score > 1000 }.forKey("winners")
    /// Team.including(all: winners)           // row.prefetchedRows["winners"]
    /// Team.including(required: winners)      // row.scopes["winner"]
    /// Team.annotated(with: winners.count)    // row["winnerCount"]
    /// ```
    public func forKey(_ key: String) -> Self { keyed(AssociationKey(plural: key)) }
}

// MARK: - Kinds

/// An association to the row that a foreign key references: a player belongs to a team.
///
/// ```swift
/// extension Player {
///     static let team = belongsTo(Team.self)
/// }
/// ```
/// ```sql
/// SELECT "player".*, "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamId"
/// ```
public struct BelongsToAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// An association to the row whose foreign key references the origin: a player has one profile.
public struct HasOneAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// An association to the rows whose foreign key references the origin: a team has many players.
public struct HasManyAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// An association to one row through another association: an award has one team, through its player.
public struct HasOneThroughAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// An association to many rows through another association: a country has many citizens, through citizenships.
public struct HasManyThroughAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// An association by a condition instead of a foreign key, usually to the rows of a common table expression.
public struct JoinAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath

    /// The association with another name in results.
    public func forKey(_ key: String) -> Self { keyed(AssociationKey(fixed: key)) }
}

// MARK: - Creating associations

extension AssociationPath {
    /// The association to a table by a foreign key.
    ///
    /// - parameter isRight: whether the destination has the key.
    fileprivate init(
        _ query: SelectQuery, _ key: AssociationKey?, _ foreignKey: ForeignKey?, isRight: Bool
    ) {
        self.init(
            Step(
                key: key ?? AssociationKey(inflecting: query.sourceName),
                condition: .foreignKey(foreignKey, ofRightTable: isRight), query: query))
    }

    static func belongsTo(_ query: SelectQuery, _ key: String?, _ foreignKey: ForeignKey?) -> _AssociationPath {
        _AssociationPath(
            AssociationPath(query, key.map { AssociationKey(singular: $0) }, foreignKey, isRight: false))
    }

    static func hasOne(_ query: SelectQuery, _ key: String?, _ foreignKey: ForeignKey?) -> _AssociationPath {
        _AssociationPath(
            AssociationPath(query, key.map { AssociationKey(singular: $0) }, foreignKey, isRight: true))
    }

    static func hasMany(_ query: SelectQuery, _ key: String?, _ foreignKey: ForeignKey?) -> _AssociationPath {
        _AssociationPath(AssociationPath(query, key.map { AssociationKey(plural: $0) }, foreignKey, isRight: true))
    }

    static func through(
        _ pivot: some Association, _ target: some Association, _ key: AssociationKey?
    ) -> _AssociationPath {
        var path = AssociationPath(pivot.path, target.path)
        if let key { path.last.key = key }
        return _AssociationPath(path)
    }

    static func join(_ query: SelectQuery, _ condition: Join.Condition = .none) -> _AssociationPath {
        _AssociationPath(
            AssociationPath(Step(key: AssociationKey(inflecting: query.sourceName), condition: condition, query: query))
        )
    }

    static func join<Origin, Destination>(
        _ query: SelectQuery,
        on condition: @escaping @Sendable (TableAlias<Origin>, TableAlias<Destination>) -> any SQLExpressible
    ) -> _AssociationPath {
        join(
            query,
            .expression { left, right in
                condition(TableAlias(identity: left), TableAlias(identity: right)).sqlExpression
            })
    }
}

import QuarryCore

/// How the rows of a table find those of another one: by a foreign key, by another association, by a condition.
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
/// It can be changed as a request can: `Team.players.filter { $0.score > 10 }.order(\.name)`.
public protocol Association<OriginRowDecoder, RowDecoder>: DerivableRequest {
    /// The type at which the association begins.
    associatedtype OriginRowDecoder

    /// The tables behind the association, for the library's own methods.
    var _path: _AssociationPath { get set }
}

/// The tables behind an association, as its protocol passes them on.
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

    /// The first rows of each origin, or some after others.
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
    /// It replaces the limit that was set before.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self {
        changing { $0.limit = SelectQuery.Limit(count: limit, offset: offset) }
    }
}

/// An association that finds one row at most.
public protocol AssociationToOne: Association {}

extension AssociationToOne {
    /// The association with another name in results: that of one row.
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
    /// The association with another name in results: that of many rows, whose singular names one.
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

/// The row that a foreign key refers to: a player belongs to a team.
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

/// The one row whose foreign key refers to the origin: a player has one profile.
public struct HasOneAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// The rows whose foreign key refers to the origin: a team has many players.
public struct HasManyAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// One row that two associations lead to, one behind the other: an award has one team, that of its player.
public struct HasOneThroughAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// The rows that two associations lead to, one behind the other: a country has many citizens, through citizenships.
public struct HasManyThroughAssociation<Origin, Destination>: AssociationToMany {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath
}

/// The rows for which a condition holds that isn't a foreign key's: those of a common table expression, most often.
public struct JoinAssociation<Origin, Destination>: AssociationToOne {
    public typealias OriginRowDecoder = Origin
    public typealias RowDecoder = Destination
    public var _path: _AssociationPath

    /// The association with another name in results.
    public func forKey(_ key: String) -> Self { keyed(AssociationKey(fixed: key)) }
}

// MARK: - Making them

extension AssociationPath {
    /// A table that is found by a foreign key.
    ///
    /// - parameter isRight: whether that table has the key.
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

public import QuarryCore

/// The identity of a table in a query, which may contain the same table several times.
package final class TableIdentity: Sendable {
    /// The given name in SQL, if any.
    package let name: String?

    package init(name: String? = nil) { self.name = name }
}

/// An alias of a table in a request, by which other requests can name its columns.
///
/// ```swift
/// // Players that nobody of their team beats.
/// let player = TableAlias<Player>()
/// let better = Player.filter { $0.teamId == player.teamId && $0.score > player.score }
/// let best = try Player.aliased(player).filter(!better.exists()).fetchAll(db)
/// ```
/// ```sql
/// SELECT * FROM "player" WHERE NOT EXISTS (
///   SELECT * FROM "player" "player1"
///   WHERE ("player1"."teamId" = "player"."teamId") AND ("player1"."score" > "player"."score"))
/// ```
///
/// A request throws if it uses the columns of an alias that belongs neither to it nor to an enclosing request.
@dynamicMemberLookup
public final class TableAlias<RowDecoder>: Sendable {
    package let identity: TableIdentity

    package init(identity: TableIdentity) { self.identity = identity }

    /// An alias.
    ///
    /// - parameter name: the name in SQL; nil for the table's own name, or an unused one.
    public init(name: String? = nil) where RowDecoder == Void {
        identity = TableIdentity(name: name)
    }

    /// An alias for the table of a record type.
    ///
    /// - parameter name: the name in SQL; nil for the table's own name, or an unused one.
    public init(name: String? = nil, for record: RowDecoder.Type = RowDecoder.self) {
        identity = TableIdentity(name: name)
    }

    /// A column of the table, by its name.
    public subscript(_ column: String) -> SQLExpression { .node(.aliasedColumn(column, identity)) }

    /// A column of the table, or an expression on its columns.
    public subscript(_ expression: some SQLSpecificExpressible) -> SQLExpression {
        expression.sqlExpression.aliased(identity)
    }

    /// A JSON column of the table, or JSON made of its columns.
    ///
    /// ```swift
    /// let player = TableAlias(name: "p")
    /// Player.all().aliased(player).filter(player[JSONColumn("info")]["city"] == "Paris")
    /// ```
    /// ```sql
    /// SELECT "p".* FROM "player" "p" WHERE ("p"."info" ->> 'city') = 'Paris'
    /// ```
    public subscript(_ expression: some SQLJSONExpressible) -> AnySQLJSONExpressible {
        expression.sqlExpression.aliased(identity).asJSON
    }

    /// An ordering by columns of the table.
    public subscript(_ ordering: SQLOrdering) -> SQLOrdering { ordering.aliased(identity) }

    /// Whether the query has found a row of the table: false if an optional association has no row.
    ///
    /// ```swift
    /// let team = TableAlias<Team>()
    /// Player.joining(optional: Player.team.aliased(team)).filter(!team.exists)
    /// ```
    public var exists: SQLExpression { .node(.rowExists(identity, isNegated: false)) }
}

extension TableAlias: Hashable {
    /// Whether both are aliases of the same table: separately created aliases never are.
    public static func == (lhs: TableAlias, rhs: TableAlias) -> Bool { lhs.identity === rhs.identity }

    /// Hashes the identity of the alias.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

extension TableAlias where RowDecoder: TableRecord {
    /// A column of the table.
    ///
    /// ```swift
    /// let player = TableAlias<Player>()
    /// Player.aliased(player).filter(player.score > 10)
    /// ```
    public subscript(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, some SQLSpecificExpressible>
    ) -> SQLExpression
    where RowDecoder.DatabaseComponents == RowDecoder.Columns.Type {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// A JSON column of the table.
    public subscript(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, some SQLJSONExpressible>
    ) -> AnySQLJSONExpressible
    where RowDecoder.DatabaseComponents == RowDecoder.Columns.Type {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// An ordering by columns of the table.
    public subscript(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, SQLOrdering>
    ) -> SQLOrdering
    where RowDecoder.DatabaseComponents == RowDecoder.Columns.Type {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}

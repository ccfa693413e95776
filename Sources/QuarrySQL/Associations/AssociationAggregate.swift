package import QuarryCore

/// A value computed from all rows of an association: their number, the largest value of a column.
///
/// ```swift
/// let request = Team.annotated(with: Team.players.count)                 // COUNT(DISTINCT "player"."id")
/// let teams = Team.having(Team.players.max { $0.score } > 1000)          // HAVING MAX("player"."score") > 1000
/// let empty = Team.having(Team.players.isEmpty)
/// ```
/// With several aggregates of different associations, `average`, `sum` and `total` count a row once for each pair of
/// rows: use only one of them in a request, or any number of `count`, `min` and `max`.
public struct AssociationAggregate<RowDecoder>: Sendable {
    package struct Prepared: Sendable {
        package var expression: SQLExpression
        /// The opposite, if it has its own form.
        package var negation: SQLExpression?
    }

    /// Adds the association to a query, and returns the expression.
    package let prepare: @Sendable (inout SelectQuery) -> Prepared

    /// The name of the column.
    package var key: String?

    /// The depth of nested aggregates.
    private(set) var depth = 1

    package init(key: String? = nil, _ prepare: @escaping @Sendable (inout SelectQuery) -> Prepared) {
        self.prepare = prepare
        self.key = key
    }

    /// An aggregate that is computed from others.
    ///
    /// - parameter depth: the greatest depth of the others.
    init(
        key: String? = nil, computedAt depth: Int, _ prepare: @escaping @Sendable (inout SelectQuery) -> Prepared
    ) {
        self.key = key
        guard depth < NestingDepth.maximum else {
            // Closures can't be taken apart, so no closure is nested beyond the limit.
            self.prepare = { _ in Prepared(expression: .deferred { _ in throw NestingDepth.error }) }
            self.depth = depth
            return
        }
        self.prepare = prepare
        self.depth = depth + 1
    }

    /// The aggregate with another name for its column.
    ///
    /// ```swift
    /// Team.annotated(with: Team.players.count.forKey("size"))
    /// ```
    public func forKey(_ key: String) -> Self {
        var copy = self
        copy.key = key
        return copy
    }

    /// The aggregate with another name for its column.
    public func forKey(_ key: some CodingKey) -> Self { forKey(key.stringValue) }
}

// MARK: - Aggregates of associations

extension AssociationToMany {
    /// The number of rows: `COUNT(DISTINCT "player"."id") AS "playerCount"`.
    ///
    /// For an association with `distinct()` and one selected column, the number of distinct values.
    public var count: AssociationAggregate<OriginRowDecoder> {
        aggregate(key: path.last.key.singular + "Count") { .init(expression: $0) }
    }

    /// Whether there are no rows: `COUNT(DISTINCT "player"."id") = 0 AS "hasNoPlayer"`.
    public var isEmpty: AssociationAggregate<OriginRowDecoder> {
        aggregate(key: "hasNo" + path.last.key.singular.capitalizingFirst) { count in
            let zero = 0.sqlExpression
            return .init(
                expression: .equality(count, .equal, zero), negation: .infix(count, .greater, zero))
        }
    }

    private func aggregate(
        key: String,
        _ make: @escaping @Sendable (_ count: SQLExpression) -> AssociationAggregate<OriginRowDecoder>.Prepared
    ) -> AssociationAggregate<OriginRowDecoder> {
        let association = path
        return AssociationAggregate(key: key) { query in
            var path = association
            let table = path.last.query.identifyForAggregate()
            var counted = SQLExpression.node(.rowIdentity(table))
            if path.last.query.isDistinct, let column = path.last.query.selection?.onlyExpression {
                counted = column.aliased(table)
                path.last.query.isDistinct = false
                path.last.query.selection = nil
            }
            var call = FunctionCall("COUNT", [counted])
            call.isDistinct = true
            call.isAggregate = true
            query.join(path.join(.left, isSelected: false))
            query.groupForAggregate()
            return make(.node(.function(call)))
        }
    }

    private func aggregate(
        _ function: String, _ expression: some SQLSpecificExpressible,
        _ key: (_ name: String, _ column: String) -> String
    ) -> AssociationAggregate<OriginRowDecoder> {
        let association = path
        let expression = expression.sqlExpression
        var name: String?
        if case .column(let column) = expression.content {
            name = key(association.last.key.singular, column.capitalizingFirst)
        }
        return AssociationAggregate(key: name) { query in
            var path = association
            let table = path.last.query.identifyForAggregate()
            var call = FunctionCall(function, [expression.aliased(table)])
            call.isAggregate = true
            query.join(path.join(.left, isSelected: false))
            query.groupForAggregate()
            return .init(expression: .node(.function(call)))
        }
    }

    /// The number of rows that satisfy a condition: `COUNT(DISTINCT "player"."id") FILTER (WHERE "player"."score" >
    /// 10)`.
    ///
    /// ```swift
    /// Team.annotated(with: Team.players.count(filter: Column("score") > 10).forKey("winners"))
    /// ```
    ///
    /// Counts of one association with several conditions join it once. If the association itself is filtered, it is a
    /// different association, and needs a different key. The column has no name unless `forKey(_:)` gives it one.
    public func count(filter: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        count(of: nil, filter: filter.sqlExpression)
    }

    /// The number of distinct values that aren't NULL: `COUNT(DISTINCT "player"."name")`.
    ///
    /// - parameter filter: the rows to count: `COUNT(DISTINCT "player"."name") FILTER (WHERE "player"."score" > 10)`.
    public func count(
        distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> AssociationAggregate<OriginRowDecoder> {
        count(of: value.sqlExpression, filter: filter?.sqlExpression)
    }

    /// - parameter value: nil to count rows.
    fileprivate func count(
        of value: SQLExpression?, filter: SQLExpression?
    ) -> AssociationAggregate<OriginRowDecoder> {
        let association = path
        return AssociationAggregate { query in
            var path = association
            let table = path.last.query.identifyForAggregate()
            var call = FunctionCall("COUNT", [value?.aliased(table) ?? .node(.rowIdentity(table))])
            call.isDistinct = true
            call.isAggregate = true
            call.filter = filter?.aliased(table)
            query.join(path.join(.left, isSelected: false))
            query.groupForAggregate()
            return .init(expression: .node(.function(call)))
        }
    }

    /// The mean of a column: `AVG("player"."score") AS "averagePlayerScore"`.
    public func average(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("AVG", expression) { "average" + $0.capitalizingFirst + $1 }
    }

    /// The largest value of a column: `MAX("player"."score") AS "maxPlayerScore"`.
    public func max(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MAX", expression) { "max" + $0.capitalizingFirst + $1 }
    }

    /// The smallest value of a column: `MIN("player"."score") AS "minPlayerScore"`.
    public func min(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MIN", expression) { "min" + $0.capitalizingFirst + $1 }
    }

    /// The sum of a column; NULL if there are no values: `SUM("player"."score") AS "playerScoreSum"`.
    public func sum(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("SUM", expression) { $0 + $1 + "Sum" }
    }

    /// The sum of a column as a `Double`; 0 if there are no values: `TOTAL("player"."score") AS "playerScoreSum"`.
    public func total(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("TOTAL", expression) { $0 + $1 + "Sum" }
    }
}

extension AssociationToMany where RowDecoder: TableRecord {
    /// The number of rows that satisfy a condition.
    ///
    /// ```swift
    /// Team.annotated(with: Team.players.count { $0.score > 10 }.forKey("winners"))
    /// ```
    ///
    /// - throws: the error of `filter`.
    public func count(
        filter: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        count(of: nil, filter: try filter(RowDecoder.databaseComponents).sqlExpression)
    }

    /// The number of distinct values that aren't NULL.
    ///
    /// ```swift
    /// Team.annotated(with: Team.players.count(distinct: \.name) { $0.score > 10 }.forKey("names"))
    /// ```
    ///
    /// - parameter filter: the rows to count.
    /// - throws: the error of `value`.
    public func count(
        distinct value: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible,
        filter: ((RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible)? = nil
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        let columns = RowDecoder.databaseComponents
        return count(of: try value(columns).sqlExpression, filter: try filter?(columns).sqlExpression)
    }

    /// The mean of a column: `AVG("player"."score") AS "averagePlayerScore"`.
    ///
    /// - throws: the error of `expression`.
    public func average(
        _ expression: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        average(try expression(RowDecoder.databaseComponents))
    }

    /// The largest value of a column: `MAX("player"."score") AS "maxPlayerScore"`.
    ///
    /// - throws: the error of `expression`.
    public func max(
        _ expression: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        max(try expression(RowDecoder.databaseComponents))
    }

    /// The smallest value of a column: `MIN("player"."score") AS "minPlayerScore"`.
    ///
    /// - throws: the error of `expression`.
    public func min(
        _ expression: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        min(try expression(RowDecoder.databaseComponents))
    }

    /// The sum of a column; NULL if there are no values: `SUM("player"."score") AS "playerScoreSum"`.
    ///
    /// - throws: the error of `expression`.
    public func sum(
        _ expression: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        sum(try expression(RowDecoder.databaseComponents))
    }

    /// The sum of a column as a `Double`; 0 if there are no values: `TOTAL("player"."score") AS "playerScoreSum"`.
    ///
    /// - throws: the error of `expression`.
    public func total(
        _ expression: (RowDecoder.DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        total(try expression(RowDecoder.databaseComponents))
    }
}

extension SelectQuery {
    /// Names the table of an association whose rows are only counted and compared.
    fileprivate mutating func identifyForAggregate() -> TableIdentity {
        let table = TableIdentity()
        identities.append(table)
        // Without a limit, the order of the rows doesn't matter.
        if limit == nil {
            ordering = []
            isReversed = false
        }
        return table
    }

    fileprivate mutating func groupForAggregate() {
        clauses.grouping = []
        clauses.groupsByPrimaryKey = true
    }
}

extension [SQLSelection] {
    /// The expression, if it is the only thing selected.
    fileprivate var onlyExpression: SQLExpression? {
        guard count == 1 else { return nil }
        switch self[0].content {
        case .expression(let expression), .named(let expression, _): return expression
        default: return nil
        }
    }
}

extension String {
    /// The text with a capital first letter.
    fileprivate var capitalizingFirst: String { prefix(1).uppercased() + dropFirst() }
}

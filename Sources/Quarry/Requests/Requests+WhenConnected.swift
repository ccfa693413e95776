public import QuarryCore
public import QuarrySQL

// Parts of requests that closures give, once the request has a connection.

extension SelectionRequest {
    /// The request with columns that are only known with a connection at hand.
    public func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        select([SQLSelection(connected: selection)])
    }

    /// The request with more columns, which are only known with a connection at hand.
    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        changing { $0.annotate([SQLSelection(connected: selection)]) }
    }
}

extension FilteredRequest {
    /// The rows for which a condition holds that is only known with a connection at hand.
    public func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        filter(SQLExpression.connected { db in try predicate(db).sqlExpression })
    }
}

extension OrderedRequest {
    /// The rows in an order that is only known with a connection at hand.
    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        order([SQLOrdering(connected: orderings)])
    }
}

extension AggregatingRequest {
    /// One row for all that have the same values of what is only known with a connection at hand.
    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        group([SQLExpression(connected: expressions)])
    }

    /// The groups for which a condition holds that is only known with a connection at hand.
    public func havingWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        having(SQLExpression.connected { db in try predicate(db).sqlExpression })
    }
}

// MARK: - Closures as parts of a query

extension SQLExpression {
    /// An expression that a closure makes with the connection that the query is rendered for.
    static func connected(_ expression: @escaping @Sendable (Database) throws -> SQLExpression) -> SQLExpression {
        .deferred { schema in try expression(schema.connection()) }
    }

    /// The expression that a closure gives, or a row value where it gives several.
    fileprivate init(connected expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]) {
        self = .connected { db in
            let expressions = try expressions(db).map(\.sqlExpression)
            return expressions.count == 1 ? expressions[0] : .node(.rowValue(expressions))
        }
    }
}

extension SQLSelection {
    /// Columns that a closure names with the connection that the query is rendered for.
    fileprivate init(connected selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) {
        self.init(content: .deferred { schema in try selection(schema.connection()).map(\.sqlSelection) })
    }
}

extension SQLOrdering {
    /// Terms that a closure names with the connection that the query is rendered for.
    fileprivate init(connected orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]) {
        self.init(content: .deferred { schema in try orderings(schema.connection()).map(\.sqlOrdering) })
    }
}

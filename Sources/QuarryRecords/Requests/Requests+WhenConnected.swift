public import QuarryCore
public import QuarrySQL

// Parts of requests that closures return, once the request has a connection.

extension SelectionRequest {
    /// The request with columns that are only known once a connection is available.
    public func selectWhenConnected(
        _ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        select([SQLSelection(connected: selection)])
    }

    /// The request with additional columns, which are only known once a connection is available.
    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        changing { $0.annotate([SQLSelection(connected: selection)]) }
    }
}

extension FilteredRequest {
    /// The rows that satisfy a condition that is only known once a connection is available.
    public func filterWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        filter(SQLExpression.connected { db in try predicate(db).sqlExpression })
    }
}

extension OrderedRequest {
    /// The rows in an order that is only known once a connection is available.
    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        order([SQLOrdering(connected: orderings)])
    }
}

extension AggregatingRequest {
    /// One row for each group of rows with the same values of expressions that are only known once a connection is
    /// available.
    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        group([SQLExpression(connected: expressions)])
    }

    /// The groups that satisfy a condition that is only known once a connection is available.
    public func havingWhenConnected(
        _ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Self {
        having(SQLExpression.connected { db in try predicate(db).sqlExpression })
    }
}

// MARK: - Closures as parts of a query

extension SQLExpression {
    /// An expression that a closure returns for the connection that runs the query.
    static func connected(_ expression: @escaping @Sendable (Database) throws -> SQLExpression) -> SQLExpression {
        .deferred { schema in try expression(schema.connection()) }
    }

    /// The expression that a closure returns, or a row value if it returns several.
    fileprivate init(connected expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]) {
        self = .connected { db in
            let expressions = try expressions(db).map(\.sqlExpression)
            return expressions.count == 1 ? expressions[0] : .node(.rowValue(expressions))
        }
    }
}

extension SQLSelection {
    /// The columns that a closure returns for the connection that runs the query.
    fileprivate init(connected selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) {
        self.init(content: .deferred { schema in try selection(schema.connection()).map(\.sqlSelection) })
    }
}

extension SQLOrdering {
    /// The terms that a closure returns for the connection that runs the query.
    fileprivate init(connected orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]) {
        self.init(content: .deferred { schema in try orderings(schema.connection()).map(\.sqlOrdering) })
    }
}

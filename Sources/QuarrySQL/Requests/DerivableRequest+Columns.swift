public import QuarryCore

// Requests for a type with columns, which are passed to closures.

extension SelectionRequest where RowDecoder: TableRecord {
    /// The argument of closures: the columns of the type.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// The request with other columns.
    ///
    /// ```swift
    /// Player.all().select { [$0.id, $0.name] }
    /// ```
    /// ```sql
    /// SELECT "id", "name" FROM "player"
    /// ```
    ///
    /// - throws: the error of `selection`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]) rethrows -> Self {
        select(try selection(RowDecoder.databaseComponents))
    }

    /// The request with another column.
    ///
    /// ```swift
    /// Player.all().select { max($0.score) }
    /// ```
    /// ```sql
    /// SELECT MAX("score") FROM "player"
    /// ```
    ///
    /// - throws: the error of `selection`.
    public func select(_ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable) rethrows -> Self {
        select([try selection(RowDecoder.databaseComponents)])
    }

    /// The request with additional columns.
    ///
    /// - throws: the error of `selection`.
    public func annotated(
        with selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) rethrows -> Self {
        annotated(with: try selection(RowDecoder.databaseComponents))
    }

    /// The request with an additional column.
    ///
    /// - throws: the error of `selection`.
    public func annotated(
        with selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable
    ) rethrows -> Self {
        annotated(with: [try selection(RowDecoder.databaseComponents)])
    }
}

extension FilteredRequest where RowDecoder: TableRecord {
    /// The rows that satisfy a condition, in addition to earlier conditions.
    ///
    /// ```swift
    /// Player.all().filter { $0.score > 10 && $0.name != nil }
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE ("score" > 10) AND ("name" IS NOT NULL)
    /// ```
    ///
    /// - throws: the error of `predicate`.
    public func filter(
        _ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> Self {
        let condition = try predicate(RowDecoder.databaseComponents).sqlExpression
        return changing { $0.filter(condition) }
    }
}

extension OrderedRequest where RowDecoder: TableRecord {
    /// The rows in an order, which replaces an earlier order.
    ///
    /// ```swift
    /// Player.all().order { [$0.score.desc, $0.name] }
    /// ```
    /// ```sql
    /// SELECT * FROM "player" ORDER BY "score" DESC, "name"
    /// ```
    ///
    /// - throws: the error of `orderings`.
    public func order(
        _ orderings: (RowDecoder.DatabaseComponents) throws -> [any SQLOrderingTerm]
    ) rethrows -> Self {
        order(try orderings(RowDecoder.databaseComponents))
    }

    /// The rows in an order, which replaces an earlier order.
    ///
    /// ```swift
    /// Player.all().order(\.name)
    /// ```
    ///
    /// - throws: the error of `ordering`.
    public func order(
        _ ordering: (RowDecoder.DatabaseComponents) throws -> any SQLOrderingTerm
    ) rethrows -> Self {
        order([try ordering(RowDecoder.databaseComponents)])
    }
}

extension AggregatingRequest where RowDecoder: TableRecord {
    /// One row for each group of rows with the same values.
    ///
    /// - throws: the error of `expressions`.
    public func group(
        _ expressions: (RowDecoder.DatabaseComponents) throws -> [any SQLExpressible]
    ) rethrows -> Self {
        group(try expressions(RowDecoder.databaseComponents))
    }

    /// One row for each group of rows with the same value.
    ///
    /// - throws: the error of `expression`.
    public func group(_ expression: (RowDecoder.DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        group([try expression(RowDecoder.databaseComponents)])
    }

    /// The groups that satisfy a condition, in addition to earlier conditions.
    ///
    /// - throws: the error of `predicate`.
    public func having(_ predicate: (RowDecoder.DatabaseComponents) throws -> any SQLExpressible) rethrows -> Self {
        let condition = try predicate(RowDecoder.databaseComponents).sqlExpression
        return changing { $0.having(condition) }
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// The argument of closures: the columns of the type.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// The request with other columns, decoded to another type.
    ///
    /// - throws: the error of `selection`.
    public func select<T>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        select(try selection(RowDecoder.databaseComponents), as: type)
    }

    /// The request with another column, decoded to the type of its values.
    ///
    /// ```swift
    /// let names = try Player.all().select(\.name, as: String.self).fetchAll(db) // [String]
    /// ```
    ///
    /// - throws: the error of `selection`.
    public func select<T>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> any SQLSelectable, as type: T.Type = T.self
    ) rethrows -> QueryInterfaceRequest<T> {
        select([try selection(RowDecoder.databaseComponents)], as: type)
    }
}

extension QueryInterfaceRequest where RowDecoder: Identifiable {
    /// The request for the primary key, decoded to ids.
    ///
    /// ```swift
    /// let ids = try Player.filter(Column("score") > 10).selectID().fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "id" FROM "player" WHERE "score" > 10
    /// ```
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> { selectPrimaryKey(as: RowDecoder.ID.self) }
}

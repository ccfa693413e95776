public import QuarryCore

// For a single value, the other `select` is preferred: these methods are disfavored.

extension QueryInterfaceRequest {
    /// The request with columns whose values are fetched as tuples.
    ///
    /// ```swift
    /// let scores = try Player.all().select((Column("name"), Column("score")), as: (String, Int).self).fetchAll(db)
    /// for (name, score) in scores { … }
    /// ```
    /// ```sql
    /// SELECT "name", "score" FROM "player"
    /// ```
    ///
    /// - parameter selection: a column or expression for each element.
    /// - parameter types: the types of the elements; NULL requires an optional type.
    @_disfavoredOverload
    public func select<each S: SQLSelectable, each Value: DatabaseValueConvertible>(
        _ selection: (repeat each S), as types: (repeat each Value).Type = (repeat each Value).self
    ) -> QueryInterfaceRequest<(repeat each Value)> {
        selectingElements(repeat each selection)
    }

    // Swift 6.3.1 crashes if the type of a tuple of a pack, or such a tuple, is passed on. So its elements are passed.
    fileprivate func selectingElements<each S: SQLSelectable, each Value>(
        _ selection: repeat each S
    ) -> QueryInterfaceRequest<(repeat each Value)> {
        let selection = elements(repeat each selection, count: count(repeat (each Value).self))
        return QueryInterfaceRequest<(repeat each Value)>(query: changing { $0.selection = selection }.query)
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// The request with columns whose values are fetched as tuples.
    ///
    /// ```swift
    /// let scores: [(String, Int)] = try Player.all().select { ($0.name, $0.score) }.fetchAll(db)
    /// ```
    /// ```sql
    /// SELECT "name", "score" FROM "player"
    /// ```
    ///
    /// The types of the elements are inferred from the use of the result, or given by `as:`:
    ///
    /// ```swift
    /// let scores = try Player.all().select({ ($0.name, max($0.score)) }, as: (String, Int?).self).fetchAll(db)
    /// ```
    ///
    /// - throws: the error of `selection`.
    @_disfavoredOverload
    public func select<each S: SQLSelectable, each Value: DatabaseValueConvertible>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> (repeat each S),
        as types: (repeat each Value).Type = (repeat each Value).self
    ) rethrows -> QueryInterfaceRequest<(repeat each Value)> {
        let selection = try selection(RowDecoder.databaseComponents)
        return selectingElements(repeat each selection)
    }
}

extension TableRecord {
    /// A request for columns whose values are fetched as tuples.
    ///
    /// ```swift
    /// let scores: [(String, Int)] = try Player.select { ($0.name, $0.score) }.fetchAll(db)
    /// let best = try Player.select({ ($0.teamId, max($0.score)) }, as: (Int?, Int).self)
    ///     .group(Column("teamId")).fetchAll(db) // [(Int?, Int)]
    /// ```
    /// ```sql
    /// SELECT "name", "score" FROM "player"
    /// SELECT "teamId", MAX("score") FROM "player" GROUP BY "teamId"
    /// ```
    ///
    /// - throws: the error of `selection`.
    @_disfavoredOverload
    public static func select<each S: SQLSelectable, each Value: DatabaseValueConvertible>(
        _ selection: (DatabaseComponents) throws -> (repeat each S),
        as types: (repeat each Value).Type = (repeat each Value).self
    ) rethrows -> QueryInterfaceRequest<(repeat each Value)> {
        let selection = try selection(databaseComponents)
        return all().selectingElements(repeat each selection)
    }
}

extension Table where RowDecoder: TableRecord {
    /// A request for columns whose values are fetched as tuples.
    ///
    /// - throws: the error of `selection`.
    @_disfavoredOverload
    public func select<each S: SQLSelectable, each Value: DatabaseValueConvertible>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> (repeat each S),
        as types: (repeat each Value).Type = (repeat each Value).self
    ) rethrows -> QueryInterfaceRequest<(repeat each Value)> {
        let selection = try selection(RowDecoder.databaseComponents)
        return all().selectingElements(repeat each selection)
    }
}

/// The selections of tuples with some elements.
package func elements<each S: SQLSelectable>(_ selectable: repeat each S, count: Int) -> [SQLSelection] {
    var selections: [SQLSelection] = []
    for selectable in repeat each selectable { selections.append(selectable.sqlSelection) }
    if count == selections.count { return selections }
    let failure = SQLExpression.failing("\(selections.count) columns are selected for tuples of \(count) values")
    return [failure.sqlSelection]
}

package func count<each Value>(_ type: repeat (each Value).Type) -> Int {
    var count = 0
    for _ in repeat each type { count += 1 }
    return count
}

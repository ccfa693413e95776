public import QuarryCore

/// A statement that changes a table, as a value, which can be kept, printed and run.
///
/// ```swift
/// let raise = Player.filter { $0.teamId == 1 }.update { [$0.score += 10] }
/// try raise.sql(db)      // UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1
/// try raise.explain(db)  // how SQLite finds the rows
/// try raise.execute(db)  // 3: how many rows there were
/// ```
///
/// ``InsertStatement``, ``UpdateStatement`` and ``DeleteStatement`` are such statements. A statement that can't be
/// written as SQL throws when it runs.
public protocol ChangeStatement<RowDecoder>: Sendable {
    /// The type that the rows of RETURNING are decoded to.
    associatedtype RowDecoder

    /// Called by the library's own methods.
    var _change: _Change { get }
}

/// A change, as passed through the protocol of statements.
public struct _Change: Sendable {
    package var change: Change
}

/// The kinds of changes.
package enum Change: Sendable {
    case insertion(Insertion)
    case update(Update)
    case deletion(SelectQuery)

    /// The selection of RETURNING; another one may be requested.
    package var selection: [SQLSelection] {
        let selection =
            switch self {
            case .insertion(let insertion): insertion.selection
            case .update(let update): update.query.selection
            case .deletion(let query): query.selection
            }
        return selection ?? [SQLSelection(content: .allColumns)]
    }
}

/// `UPDATE "player" SET … FROM … WHERE …`
package struct Update: Sendable {
    package var query: SelectQuery
    package var conflictResolution: SQLConflictResolution?
    package var assignments: [ColumnAssignment]
    /// The query in FROM.
    package var source: SelectQuery?

    package init(
        query: SelectQuery, conflictResolution: SQLConflictResolution?, assignments: [ColumnAssignment]
    ) {
        self.query = query
        self.conflictResolution = conflictResolution
        self.assignments = assignments
    }
}

/// A statement that sets columns of rows, as a value: <https://www.sqlite.org/lang_update.html>.
///
/// ```swift
/// let raise = Player.filter { $0.teamId == 1 }.update { [$0.score += 10] }
/// try raise.execute(db)
/// ```
/// ```sql
/// UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1
/// ```
public struct UpdateStatement<RowDecoder>: ChangeStatement {
    package var update: Update

    package init(_ update: Update) { self.update = update }

    /// Called by the library's own methods.
    public var _change: _Change { _Change(change: .update(update)) }

    /// The statement with another table, or the rows of another request, as a source of values: `UPDATE … FROM …`.
    ///
    /// ```swift
    /// let (player, bonus) = (TableAlias<Player>(), TableAlias<Bonus>())
    /// let raise = Player.all().aliased(player)
    ///     .filter(player[Column("id")] == bonus[Column("playerId")])
    ///     .update(Column("score") += bonus[Column("points")])
    ///     .from(Bonus.all().aliased(bonus))
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = "player"."score" + "bonus"."points" FROM "bonus"
    /// WHERE "player"."id" = "bonus"."playerId"
    /// ```
    ///
    /// The filter of the other request becomes a condition of the update. If several of its rows match a row, one of
    /// them is used. If this request has associations, aggregates or a limit, it selects its rows by itself; then the
    /// filter only decides which rows of the other request match. See
    /// <https://www.sqlite.org/lang_update.html#update_from>.
    public func from<T>(_ other: QueryInterfaceRequest<T>) -> Self {
        var copy = self
        copy.update.source = other.query.asJoinedTable()
        return copy
    }
}

/// A statement that deletes rows, as a value: <https://www.sqlite.org/lang_delete.html>.
///
/// ```swift
/// let purge = Player.filter { $0.score < 10 }.delete()
/// try purge.execute(db)
/// ```
/// ```sql
/// DELETE FROM "player" WHERE "score" < 10
/// ```
public struct DeleteStatement<RowDecoder>: ChangeStatement {
    package var query: SelectQuery

    package init(_ query: SelectQuery) { self.query = query }

    /// Called by the library's own methods.
    public var _change: _Change { _Change(change: .deletion(query)) }
}

// MARK: - RETURNING

/// A statement that changes a table, and returns columns of the changed rows.
///
/// ```swift
/// let ids = try Player.filter { $0.score < 10 }.delete().returning([Column("id")], as: Int64.self).fetchAll(db)
/// ```
/// ```sql
/// DELETE FROM "player" WHERE "score" < 10 RETURNING "id"
/// ```
///
/// Each fetch runs the statement. See <https://www.sqlite.org/lang_returning.html>.
public struct ReturningStatement<RowDecoder>: Sendable {
    package let change: Change
    package let selection: [SQLSelection]
}

extension ChangeStatement {
    /// The statement, returning the changed rows.
    ///
    /// ```swift
    /// let players = try Player.filter { $0.score < 10 }.delete().returning().fetchAll(db) // [Player]
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "score" < 10 RETURNING *
    /// ```
    public func returning() -> ReturningStatement<RowDecoder> {
        ReturningStatement(change: _change.change, selection: _change.change.selection)
    }

    /// The statement, returning columns of the changed rows.
    ///
    /// - parameter type: the type that the rows are decoded to.
    public func returning<T>(
        _ selection: [any SQLSelectable], as type: T.Type = T.self
    ) -> ReturningStatement<T> {
        ReturningStatement<T>(change: _change.change, selection: selection.map(\.sqlSelection))
    }
}

extension ChangeStatement where RowDecoder: TableRecord {
    /// The statement, returning columns of the changed rows.
    ///
    /// ```swift
    /// try Player.filter { $0.score < 10 }.delete().returning({ [$0.id] }, as: Int64.self).fetchAll(db)
    /// ```
    ///
    /// - throws: the error of `selection`.
    public func returning<T>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable], as type: T.Type = T.self
    ) rethrows -> ReturningStatement<T> {
        returning(try selection(RowDecoder.databaseComponents), as: type)
    }

    /// The statement, returning columns of the changed rows as tuples.
    ///
    /// ```swift
    /// let gone: [(Int64, String)] = try purge.returning { ($0.id, $0.name) }.fetchAll(db)
    /// ```
    ///
    /// - throws: the error of `selection`.
    @_disfavoredOverload
    public func returning<each S: SQLSelectable, each Value: DatabaseValueConvertible>(
        _ selection: (RowDecoder.DatabaseComponents) throws -> (repeat each S),
        as types: (repeat each Value).Type = (repeat each Value).self
    ) rethrows -> ReturningStatement<(repeat each Value)> {
        let selection = try selection(RowDecoder.databaseComponents)
        return ReturningStatement<(repeat each Value)>(
            change: _change.change,
            selection: elements(repeat each selection, count: count(repeat (each Value).self)))
    }
}

public import QuarryCore
public import QuarrySQL

// Changes of all rows of a request: <https://www.sqlite.org/lang_delete.html>,
// <https://www.sqlite.org/lang_update.html>.

extension QueryInterfaceRequest {
    // MARK: - Deleting

    /// Deletes the rows.
    ///
    /// ```swift
    /// let count = try Player.filter(Column("score") < 10).deleteAll(db)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "score" < 10
    /// ```
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let statement = try db.prepare { try $0.write(deletionOf: query) }.statement
        return try db.countingChanges(of: query.sourceName) { try statement.execute() }
    }

    /// A statement that deletes the rows, and returns some of their columns.
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped, or an empty selection; `DatabaseError`.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        let selection = selection.map(\.sqlSelection)
        guard !selection.isEmpty else { throw nothingReturned() }
        return try db.prepare { try $0.write(deletionOf: query, returning: selection) }.statement
    }

    private func deletion(_ db: Database) throws -> PreparedRequest {
        try db.prepare { try $0.write(deletionOf: query, returning: returnedSelection) }
    }

    // MARK: - Updating

    /// Sets columns of the rows.
    ///
    /// ```swift
    /// try Player.filter(Column("teamId") == 1).updateAll(db, [Column("score") += 10])
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1
    /// ```
    ///
    /// - parameter conflictResolution: the conflict resolution; nil for the record type's policy.
    /// - parameter assignments: the assignments; without any, no statement runs.
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        guard !assignments.isEmpty else { return 0 }
        let conflictResolution = conflictResolution ?? defaultConflictResolution
        let statement = try db.prepare { try $0.write(updateOf: query, conflictResolution, assignments) }.statement
        return try db.countingChanges(of: query.sourceName) { try statement.execute() }
    }

    /// Sets columns of the rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// A statement that sets columns of the rows, and returns some of their columns.
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped, an empty selection, or no assignment;
    ///   `DatabaseError`.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment], selection: [any SQLSelectable]
    ) throws -> Statement {
        let selection = selection.map(\.sqlSelection)
        guard !selection.isEmpty else { throw nothingReturned() }
        return try update(db, conflictResolution, assignments, selection).statement
    }

    private func update(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ assignments: [ColumnAssignment],
        _ selection: [SQLSelection]
    ) throws -> PreparedRequest {
        guard !assignments.isEmpty else {
            throw DatabaseError.misuse("an update without assignments returns no rows")
        }
        let conflictResolution = conflictResolution ?? defaultConflictResolution
        return try db.prepare { try $0.write(updateOf: query, conflictResolution, assignments, returning: selection) }
    }

    fileprivate func updating(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, _ assignments: [ColumnAssignment]
    ) throws -> PreparedRequest {
        try update(db, conflictResolution, assignments, returnedSelection)
    }

    /// A record is decoded from its own columns, whatever the request selects; values and rows are decoded from the
    /// request's selection.
    private var returnedSelection: [SQLSelection] {
        if let type = RowDecoder.self as? any (FetchableRecord & TableRecord).Type { return type.selection ?? all }
        return RowDecoder.self is any FetchableRecord.Type ? all : query.selection ?? all
    }

    private var all: [SQLSelection] { [AllColumns().sqlSelection] }

    fileprivate func deleting(_ db: Database) throws -> PreparedRequest { try deletion(db) }

    /// The policy of the record type for updates.
    private var defaultConflictResolution: Database.ConflictResolution? {
        guard let type = RowDecoder.self as? any MutablePersistableRecord.Type else { return nil }
        let resolution = type.persistenceConflictPolicy.conflictResolutionForUpdate
        return resolution == .abort ? nil : resolution
    }

    private func nothingReturned() -> DatabaseError {
        DatabaseError.misuse("a request selects nothing")
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Sets columns of the rows.
    ///
    /// ```swift
    /// try Player.filter { $0.teamId == 1 }.updateAll(db) { [$0.score += 10, $0.bonus.set(to: nil)] }
    /// ```
    ///
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`; the closure's error.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, try assignments(RowDecoder.databaseComponents))
    }

    /// Sets a column of the rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`; the closure's error.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (RowDecoder.DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, [try assignment(RowDecoder.databaseComponents)])
    }

    /// A statement that deletes the rows, and returns some of their columns.
    ///
    /// - throws: the errors of `deleteAndFetchStatement(_:selection:)`; the closure's error.
    public func deleteAndFetchStatement(
        _ db: Database, select: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try deleteAndFetchStatement(db, selection: try select(RowDecoder.databaseComponents))
    }

    /// A statement that sets columns of the rows, and returns some of their columns.
    ///
    /// - throws: the errors of `updateAndFetchStatement(_:onConflict:_:selection:)`; the errors of the closures.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment],
        select: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        let components = RowDecoder.databaseComponents
        return try updateAndFetchStatement(
            db, onConflict: conflictResolution, try assignments(components), selection: try select(components))
    }
}

extension QueryInterfaceRequest where RowDecoder: RowDecodable {
    /// A cursor over the deleted rows. Each step deletes a row.
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`. The cursor throws the errors of
    ///   the deletion and of decoding.
    public func deleteAndFetchCursor(_ db: Database) throws -> FetchCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, Prepared(deleting(db)))
    }

    /// Deletes the rows, and returns them.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("score") < 10).deleteAndFetchAll(db) // [Player]
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "score" < 10 RETURNING *
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped; `DatabaseError`; the error of decoding a row,
    ///   such as `RowDecodingError`.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, Prepared(deleting(db)))
    }

    /// Deletes the rows, and returns the set of them.
    ///
    /// - throws: the errors of `deleteAndFetchAll`.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try RowDecoder.fetchSet(db, Prepared(deleting(db)))
    }

    /// A cursor over the updated rows. Its first step updates all rows.
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped, or no assignment; `DatabaseError`. The cursor
    ///   throws the errors of the update and of decoding.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> FetchCursor<RowDecoder> {
        try RowDecoder.fetchCursor(db, Prepared(updating(db, conflictResolution, assignments)))
    }

    /// Updates the rows, and returns them as updated.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("teamId") == 1).updateAndFetchAll(db, [Column("score") += 10])
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = "score" + 10 WHERE "teamId" = 1 RETURNING *
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` for a request whose rows are grouped, or no assignment; `DatabaseError`; the error of
    ///   decoding a row, such as `RowDecodingError`.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try RowDecoder.fetchAll(db, Prepared(updating(db, conflictResolution, assignments)))
    }

    /// Updates the rows, and returns the set of them as updated.
    ///
    /// - throws: the errors of `updateAndFetchAll`.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try RowDecoder.fetchSet(db, Prepared(updating(db, conflictResolution, assignments)))
    }
}

extension QueryInterfaceRequest where RowDecoder: RowDecodable & TableRecord {
    /// A cursor over the updated rows. Its first step updates all rows.
    ///
    /// - throws: the errors of `updateAndFetchCursor(_:onConflict:_:)`; the closure's error.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> FetchCursor<RowDecoder> {
        try updateAndFetchCursor(db, onConflict: conflictResolution, try assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows, and returns them as updated.
    ///
    /// - throws: the errors of `updateAndFetchAll(_:onConflict:_:)`; the closure's error.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, try assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows, and returns the set of them as updated.
    ///
    /// - throws: the errors of `updateAndFetchAll(_:onConflict:_:)`; the closure's error.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> where RowDecoder: Hashable {
        try updateAndFetchSet(db, onConflict: conflictResolution, try assignments(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord & Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Deletes the rows, and returns the set of their ids.
    ///
    /// ```sql
    /// DELETE FROM "player" WHERE "score" < 10 RETURNING "id"
    /// ```
    ///
    /// - throws: the errors of `deleteAndFetchAll`.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        try selectID().deleteAndFetchSet(db)
    }
}

/// A prepared request.
private struct Prepared: FetchRequest, @unchecked Sendable {
    // Sendable: it never leaves the access that makes it.
    typealias RowDecoder = Row

    let request: PreparedRequest

    init(_ request: PreparedRequest) { self.request = request }

    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) -> PreparedRequest { request }
}

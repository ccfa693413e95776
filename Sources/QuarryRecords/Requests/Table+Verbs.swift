public import QuarryCore
public import QuarrySQL

extension Table {
    /// The number of rows: `SELECT COUNT(*) FROM "player"`.
    ///
    /// - throws: `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int { try all().fetchCount(db) }

    /// Deletes all rows.
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `DatabaseError`.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int { try all().deleteAll(db) }

    /// Sets columns of all rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Sets columns of all rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    // MARK: - By key

    /// Whether a row with the given primary key exists.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    public func exists(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }

    /// Whether a row with the given unique key exists.
    ///
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`.
    public func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try !all().filter(key: key).isEmpty(db)
    }

    /// Deletes the row with the given primary key.
    ///
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    @discardableResult
    public func deleteOne(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> Bool {
        try all().filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the row with the given unique key.
    ///
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`.
    @discardableResult
    public func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try all().filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the rows with the given unique keys.
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`. Then nothing is deleted.
    @discardableResult
    public func deleteAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws -> Int {
        try keys.inChunks(of: db.maximumAlternatives, db) { try all().filter(keys: Array($0)).deleteAll(db) }.reduce(
            0, +)
    }

    /// Deletes the rows with the given primary keys.
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`. Then nothing is deleted.
    @discardableResult
    public func deleteAll<Keys: Collection>(_ db: Database, keys: Keys) throws -> Int
    where Keys.Element: DatabaseValueConvertible & Sendable {
        let limit = db.maximumStatementArgumentCount
        return try Array(keys).inChunks(of: limit, db) { try all().filter(keys: $0).deleteAll(db) }.reduce(0, +)
    }
}

extension Table where RowDecoder: TableRecord {
    /// Sets columns of all rows.
    ///
    /// ```swift
    /// try Table<Player>("player").updateAll(db) { [$0.score += 10] }
    /// ```
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint; the closure's error.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }

    /// Sets a column of all rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint; the closure's error.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (RowDecoder.DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }
}

extension Table where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible & Sendable {
    /// Whether a row with the given id exists.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    public func exists(_ db: Database, id: RowDecoder.ID) throws -> Bool { try exists(db, key: id) }

    /// Deletes the row with the given id.
    ///
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    @discardableResult
    public func deleteOne(_ db: Database, id: RowDecoder.ID) throws -> Bool { try deleteOne(db, key: id) }

    /// Deletes the rows with the given ids.
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`. Then nothing is deleted.
    @discardableResult
    public func deleteAll(_ db: Database, ids: some Collection<RowDecoder.ID>) throws -> Int {
        try deleteAll(db, keys: ids)
    }
}

extension Table where RowDecoder: RowDecodable {
    /// A cursor over all rows: `SELECT * FROM "player"`.
    ///
    /// - throws: `DatabaseError`. The cursor throws the errors of decoding.
    public func fetchCursor(_ db: Database) throws -> FetchCursor<RowDecoder> { try all().fetchCursor(db) }

    /// All rows: `SELECT * FROM "player"`.
    ///
    /// - throws: `DatabaseError`; the error of decoding a row, such as `RowDecodingError`.
    public func fetchAll(_ db: Database) throws -> [RowDecoder] { try all().fetchAll(db) }

    /// Any row: `SELECT * FROM "player" LIMIT 1`.
    ///
    /// - throws: `DatabaseError`; the error of decoding the row, such as `RowDecodingError`.
    public func fetchOne(_ db: Database) throws -> RowDecoder? { try all().fetchOne(db) }
}

extension Table where RowDecoder: RowDecodable & Hashable {
    /// The set of all rows: `SELECT * FROM "player"`.
    ///
    /// - throws: `DatabaseError`; the error of decoding a row, such as `RowDecodingError`.
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> { try all().fetchSet(db) }
}

extension Database {
    /// The maximum number of keys with several columns in a statement: alternatives nest, and the depth is limited to
    /// 1000. https://www.sqlite.org/limits.html#max_expr_depth
    fileprivate var maximumAlternatives: Int { Swift.max(1, limit(.expressionDepth) / 2 - 10) }
}

extension Array {
    /// The results of `body` for chunks of the elements, in a savepoint if there are several.
    func inChunks<T>(of size: Int, _ db: Database, _ body: (ArraySlice<Element>) throws -> T) throws -> [T] {
        if count <= size { return isEmpty ? [] : [try body(self[...])] }
        var results: [T] = []
        try db.inSavepoint {
            for start in stride(from: 0, to: count, by: size) {
                results.append(try body(self[start..<Swift.min(start + size, count)]))
            }
            return .commit
        }
        return results
    }
}

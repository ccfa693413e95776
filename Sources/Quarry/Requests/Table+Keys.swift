public import QuarryCore
public import QuarrySQL

// Rows of a table by their keys, fetched.

extension Table where RowDecoder: RowDecodable {
    /// The row of a primary key, nil if there is none.
    ///
    /// ```swift
    /// let archive = Table<Player>("playerArchive")
    /// let player = try archive.fetchOne(db, key: 1) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "playerArchive" WHERE "id" = 1
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column. No row has NULL.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public func fetchOne(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> RowDecoder? {
        try all().filter(key: key).fetchOne(db)
    }

    /// The row of a unique key, nil if there is none.
    ///
    /// ```swift
    /// let player = try archive.fetchOne(db, key: ["email": "arthur@example.com"])
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values; nil for no row.
    /// - throws: `SQLITE_MISUSE` if the columns aren't such a key; `DatabaseError`; `RowDecodingError`.
    public func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws -> RowDecoder? {
        try all().filter(key: key).fetchOne(db)
    }

    /// The row of a primary key.
    ///
    /// ```swift
    /// let player = try archive.find(db, key: 1) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if there is none; otherwise as `fetchOne`.
    public func find(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> RowDecoder {
        if let found = try fetchOne(db, key: key) { return found }
        let columns = try db.primaryKey(tableName).columns
        throw RecordError.recordNotFound(
            databaseTableName: tableName, key: [columns.first ?? "": key.databaseValue])
    }

    /// The row of a unique key.
    ///
    /// - throws: `RecordError.recordNotFound` if there is none; otherwise as `fetchOne`.
    public func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> RowDecoder {
        if let found = try fetchOne(db, key: key) { return found }
        throw RecordError.recordNotFound(
            databaseTableName: tableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }

    /// The rows of primary keys, in no order of theirs.
    ///
    /// ```swift
    /// let players = try archive.fetchAll(db, keys: [1, 2, 3]) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "playerArchive" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// More keys than a statement can have are fetched by several, each key once.
    ///
    /// - parameter keys: values of the primary key, which must be one column. What isn't found is left out.
    public func fetchAll<Keys: Collection>(_ db: Database, keys: Keys) throws -> [RowDecoder]
    where Keys.Element: DatabaseValueConvertible & Sendable {
        let limit = db.maximumStatementArgumentCount
        if keys.count <= limit { return try all().filter(keys: keys).fetchAll(db) }
        var seen: Set<DatabaseValue> = []
        let keys = keys.filter { seen.insert($0.databaseValue).inserted }
        return try stride(from: 0, to: keys.count, by: limit).flatMap { start in
            try all().filter(keys: keys[start..<min(start + limit, keys.count)]).fetchAll(db)
        }
    }
}

extension Table where RowDecoder: RowDecodable & Hashable {
    /// The set of rows of primary keys.
    public func fetchSet<Keys: Collection>(_ db: Database, keys: Keys) throws -> Set<RowDecoder>
    where Keys.Element: DatabaseValueConvertible & Sendable {
        Set(try fetchAll(db, keys: keys))
    }
}

extension Table
where RowDecoder: RowDecodable & Identifiable, RowDecoder.ID: DatabaseValueConvertible & Sendable {
    /// The row of an id, nil if there is none.
    public func fetchOne(_ db: Database, id: RowDecoder.ID) throws -> RowDecoder? { try fetchOne(db, key: id) }

    /// The row of an id.
    ///
    /// - throws: `RecordError.recordNotFound` if there is none.
    public func find(_ db: Database, id: RowDecoder.ID) throws -> RowDecoder { try find(db, key: id) }

    /// The rows of ids, in no order of theirs.
    public func fetchAll(_ db: Database, ids: some Collection<RowDecoder.ID>) throws -> [RowDecoder] {
        try fetchAll(db, keys: ids)
    }
}

public import QuarryCore
public import QuarrySQL

// Verbs that fetch rows of a table by key.

extension Table where RowDecoder: RowDecodable {
    /// The row with the given primary key; nil if it doesn't exist.
    ///
    /// ```swift
    /// let archive = Table<Player>("playerArchive")
    /// let player = try archive.fetchOne(db, key: 1) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "playerArchive" WHERE "id" = 1
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column. NULL matches no row.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public func fetchOne(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> RowDecoder? {
        try all().filter(key: key).fetchOne(db)
    }

    /// The row with the given unique key; nil if it doesn't exist.
    ///
    /// ```swift
    /// let player = try archive.fetchOne(db, key: ["email": "arthur@example.com"])
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values; nil for no row.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`; `RowDecodingError`.
    public func fetchOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]?) throws -> RowDecoder? {
        try all().filter(key: key).fetchOne(db)
    }

    /// The row with the given primary key.
    ///
    /// ```swift
    /// let player = try archive.find(db, key: 1) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if the row doesn't exist; the other errors of `fetchOne`.
    public func find(_ db: Database, key: some DatabaseValueConvertible & Sendable) throws -> RowDecoder {
        if let found = try fetchOne(db, key: key) { return found }
        let columns = try db.primaryKey(tableName).columns
        throw RecordError.recordNotFound(
            databaseTableName: tableName, key: [columns.first ?? "": key.databaseValue])
    }

    /// The row with the given unique key.
    ///
    /// - throws: `RecordError.recordNotFound` if the row doesn't exist; the other errors of `fetchOne`.
    public func find(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> RowDecoder {
        if let found = try fetchOne(db, key: key) { return found }
        throw RecordError.recordNotFound(
            databaseTableName: tableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }

    /// The rows with the given primary keys, in no particular order.
    ///
    /// ```swift
    /// let players = try archive.fetchAll(db, keys: [1, 2, 3]) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "playerArchive" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// Keys that don't fit into one statement are fetched by several, each key once.
    ///
    /// - parameter keys: values of the primary key, which must be one column. Keys without a row are left out.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
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
    /// The set of rows with the given primary keys.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public func fetchSet<Keys: Collection>(_ db: Database, keys: Keys) throws -> Set<RowDecoder>
    where Keys.Element: DatabaseValueConvertible & Sendable {
        Set(try fetchAll(db, keys: keys))
    }
}

extension Table
where RowDecoder: RowDecodable & Identifiable, RowDecoder.ID: DatabaseValueConvertible & Sendable {
    /// The row with the given id; nil if it doesn't exist.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public func fetchOne(_ db: Database, id: RowDecoder.ID) throws -> RowDecoder? { try fetchOne(db, key: id) }

    /// The row with the given id.
    ///
    /// - throws: `RecordError.recordNotFound` if the row doesn't exist; the other errors of `fetchOne`.
    public func find(_ db: Database, id: RowDecoder.ID) throws -> RowDecoder { try find(db, key: id) }

    /// The rows with the given ids, in no particular order.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public func fetchAll(_ db: Database, ids: some Collection<RowDecoder.ID>) throws -> [RowDecoder] {
        try fetchAll(db, keys: ids)
    }
}

public import QuarryCore

// Verbs for rows by their key: a value of a primary key with one column, or the columns of a unique key by name.

extension TableRecord {
    // MARK: - Existence

    /// Whether a row with the given primary key exists.
    ///
    /// ```swift
    /// try Player.exists(db, key: 1)
    /// ```
    /// ```sql
    /// SELECT EXISTS (SELECT * FROM "player" WHERE "id" = 1)
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column. NULL matches no row.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    public static func exists(
        _ db: Database, key: some DatabaseValueConvertible, table: String? = nil
    ) throws -> Bool {
        try KeyQuery(self, key: key, table, db)?.exists(db) ?? false
    }

    /// Whether a row with the given unique key exists.
    ///
    /// ```swift
    /// try Citizenship.exists(db, key: ["citizenId": 1, "countryCode": "FR"])
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values, and any other columns.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`.
    public static func exists(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?], table: String? = nil
    ) throws -> Bool {
        try KeyQuery(self, keys: CollectionOfOne(key), table, db)?.exists(db) ?? false
    }

    // MARK: - Deleting

    /// Deletes the row with the given primary key.
    ///
    /// ```swift
    /// try Player.deleteOne(db, key: 1)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column. NULL matches no row.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    @discardableResult
    public static func deleteOne(
        _ db: Database, key: some DatabaseValueConvertible, table: String? = nil
    ) throws -> Bool {
        try KeyQuery(self, key: key, table, db)?.delete(db) ?? 0 > 0
    }

    /// Deletes the row with the given unique key.
    ///
    /// ```swift
    /// try Citizenship.deleteOne(db, key: ["citizenId": 1, "countryCode": "FR"])
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`.
    @discardableResult
    public static func deleteOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?], table: String? = nil
    ) throws -> Bool {
        try KeyQuery(self, keys: CollectionOfOne(key), table, db)?.delete(db) ?? 0 > 0
    }

    /// Deletes the rows with the given primary keys.
    ///
    /// ```swift
    /// try Player.deleteAll(db, keys: [1, 2, 3]) // 3
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// Keys that don't fit into one statement are deleted by several, in a savepoint.
    ///
    /// - parameter keys: values of the primary key, which must be one column.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`. Then nothing is deleted.
    @discardableResult
    public static func deleteAll<Keys: Collection>(
        _ db: Database, keys: Keys, table: String? = nil
    ) throws -> Int where Keys.Element: DatabaseValueConvertible {
        try KeyQuery(self, keys: keys, table, db)?.delete(db) ?? 0
    }

    /// Deletes the rows with the given unique keys.
    ///
    /// ```swift
    /// try Player.deleteAll(db, keys: [["email": "arthur@example.com"], ["email": "barbara@example.com"]])
    /// ```
    ///
    /// - parameter keys: the columns of the primary key or of a unique index, with their values.
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key, or differ from key to key; `DatabaseError`. Then
    ///   nothing is deleted.
    @discardableResult
    public static func deleteAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]], table: String? = nil
    ) throws -> Int {
        try KeyQuery(self, keys: keys, table, db)?.delete(db) ?? 0
    }

    // MARK: - Errors

    /// The error for a unique key that no row has.
    public static func recordNotFound(key: [String: (any DatabaseValueConvertible)?]) -> RecordError {
        .recordNotFound(
            databaseTableName: databaseTableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }

    /// The error for a primary key that no row has.
    ///
    /// ```swift
    /// guard let player = try Player.fetchOne(db, key: 1) else { throw Player.recordNotFound(db, key: 1) }
    /// ```
    public static func recordNotFound(_ db: Database, key: some DatabaseValueConvertible) -> any Error {
        do {
            let plan = try RecordPlans.plan(self, nil, db)
            let column = try plan.keyColumn(db, sure: false)
            return RecordError.recordNotFound(
                databaseTableName: plan.table, key: [column: databaseValue(ofKey: key, column: column)])
        } catch {
            return error
        }
    }
}

extension TableRecord where Self: EncodableRecord {
    /// The error for a record whose primary key no row has.
    public func recordNotFound(_ db: Database) -> any Error {
        do {
            return try RecordPlans.plan(type(of: self), nil, db).recordNotFound(self, db)
        } catch {
            return error
        }
    }
}

// MARK: - Fetching

extension FetchableRecord where Self: TableRecord {
    /// The record with the given primary key; nil if it doesn't exist.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: 1) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column. NULL matches no row.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchOne(
        _ db: Database, key: some DatabaseValueConvertible, table: String? = nil
    ) throws -> Self? {
        let plan = try RecordPlans.plan(self, table, db)
        let value = try databaseValue(ofKey: key, column: plan.keyColumn(db, sure: false))
        return value.isNull ? nil : try plan.find(value, db)
    }

    /// The record with the given unique key; nil if it doesn't exist.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, key: ["email": "arthur@example.com"])
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "email" = 'arthur@example.com'
    /// ```
    ///
    /// - parameter key: the columns of the primary key or of a unique index, with their values; nil for no record.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key; `DatabaseError`; `RowDecodingError`.
    public static func fetchOne(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?]?, table: String? = nil
    ) throws -> Self? {
        guard let key else { return nil }
        return try KeyQuery(self, keys: CollectionOfOne(key), table, db)?.fetchOne(db, Self.self)
    }

    /// The record with the given primary key.
    ///
    /// ```swift
    /// let player = try Player.find(db, key: 1) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if the record doesn't exist; the other errors of `fetchOne`.
    public static func find(
        _ db: Database, key: some DatabaseValueConvertible, table: String? = nil
    ) throws -> Self {
        if let record = try fetchOne(db, key: key, table: table) { return record }
        let column = try RecordPlans.plan(self, table, db).keyColumn(db, sure: false)
        throw RecordError.recordNotFound(
            databaseTableName: table ?? databaseTableName,
            key: [column: databaseValue(ofKey: key, column: column)])
    }

    /// The record with the given unique key.
    ///
    /// ```swift
    /// let player = try Player.find(db, key: ["email": "arthur@example.com"]) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if the record doesn't exist; the other errors of `fetchOne`.
    public static func find(
        _ db: Database, key: [String: (any DatabaseValueConvertible)?], table: String? = nil
    ) throws -> Self {
        if let record = try fetchOne(db, key: key, table: table) { return record }
        throw RecordError.recordNotFound(
            databaseTableName: table ?? databaseTableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }

    /// The records with the given primary keys, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, keys: [1, 2, 3]) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// Keys that don't fit into one statement are fetched by several.
    ///
    /// - parameter keys: values of the primary key, which must be one column. Keys without a row are left out.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchAll<Keys: Collection>(
        _ db: Database, keys: Keys, table: String? = nil
    ) throws -> [Self] where Keys.Element: DatabaseValueConvertible {
        try KeyQuery(self, keys: keys, table, db)?.fetchAll(db, Self.self) ?? []
    }

    /// The records with the given unique keys, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, keys: [["email": "arthur@example.com"]]) // [Player]
    /// ```
    ///
    /// - parameter keys: the columns of the primary key or of a unique index, with their values.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key, or differ from key to key; `DatabaseError`;
    ///   `RowDecodingError`.
    public static func fetchAll(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]], table: String? = nil
    ) throws -> [Self] {
        try KeyQuery(self, keys: keys, table, db)?.fetchAll(db, Self.self) ?? []
    }

    /// A cursor over the records with the given primary keys, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db, keys: keys)
    /// while let player = try players.next() { print(player.name) }
    /// ```
    ///
    /// Keys that don't fit into one statement are fetched by several, one after the other.
    ///
    /// - parameter keys: values of the primary key, which must be one column. Keys without a row are left out.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`. The cursor throws the errors
    ///   of decoding.
    public static func fetchCursor<Keys: Collection>(
        _ db: Database, keys: Keys, table: String? = nil
    ) throws -> RecordCursor<Self> where Keys.Element: DatabaseValueConvertible {
        let query = try KeyQuery(self, keys: keys, table, db)
        return try query?.fetchCursor(db, Self.self) ?? emptyCursor(db, table)
    }

    /// A cursor over the records with the given unique keys, in no particular order.
    ///
    /// - parameter keys: the columns of the primary key or of a unique index, with their values.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key, or differ from key to key; `DatabaseError`. The
    ///   cursor throws the errors of decoding.
    public static func fetchCursor(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]], table: String? = nil
    ) throws -> RecordCursor<Self> {
        try KeyQuery(self, keys: keys, table, db)?.fetchCursor(db, Self.self) ?? emptyCursor(db, table)
    }

    private static func emptyCursor(_ db: Database, _ table: String?) throws -> RecordCursor<Self> {
        try all(in: table).none().fetchCursor(db)
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// The set of records with the given primary keys.
    ///
    /// ```swift
    /// let players = try Player.fetchSet(db, keys: [1, 2, 3]) // Set<Player>
    /// ```
    ///
    /// - parameter keys: values of the primary key, which must be one column. Keys without a row are left out.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchSet<Keys: Collection>(
        _ db: Database, keys: Keys, table: String? = nil
    ) throws -> Set<Self> where Keys.Element: DatabaseValueConvertible {
        Set(try fetchAll(db, keys: keys, table: table))
    }

    /// The set of records with the given unique keys.
    ///
    /// - parameter keys: the columns of the primary key or of a unique index, with their values.
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `SQLITE_MISUSE` if the columns contain no such key, or differ from key to key; `DatabaseError`;
    ///   `RowDecodingError`.
    public static func fetchSet(
        _ db: Database, keys: [[String: (any DatabaseValueConvertible)?]], table: String? = nil
    ) throws -> Set<Self> {
        Set(try fetchAll(db, keys: keys, table: table))
    }
}

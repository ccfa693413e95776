public import QuarryCore

// Verbs for rows by the id of `Identifiable` records: a value of the primary key.

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Whether a row with the given id exists.
    ///
    /// ```sql
    /// SELECT EXISTS (SELECT * FROM "player" WHERE "id" = 1)
    /// ```
    ///
    /// No row has the id nil: then the database isn't asked.
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    public static func exists(_ db: Database, id: ID, table: String? = nil) throws -> Bool {
        if id.databaseValue.isNull { return false }
        return try exists(db, key: id, table: table)
    }

    /// Deletes the row with the given id.
    ///
    /// ```swift
    /// let isDeleted = try Player.deleteOne(db, id: 1)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// No row has the id nil: then the database isn't asked.
    ///
    /// - returns: whether the row existed.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    @discardableResult
    public static func deleteOne(_ db: Database, id: ID, table: String? = nil) throws -> Bool {
        if id.databaseValue.isNull { return false }
        return try deleteOne(db, key: id, table: table)
    }

    /// Deletes the rows with the given ids.
    ///
    /// ```swift
    /// try Player.deleteAll(db, ids: [1, 2, 3])
    /// ```
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`.
    @discardableResult
    public static func deleteAll(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> Int {
        try deleteAll(db, keys: ids, table: table)
    }

    /// The error for an id that no row has.
    public static func recordNotFound(_ db: Database, id: ID) -> any Error { recordNotFound(db, key: id) }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// The record with the given id; nil if it doesn't exist.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, id: 1) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchOne(_ db: Database, id: ID, table: String? = nil) throws -> Self? {
        try fetchOne(db, key: id, table: table)
    }

    /// The record with the given id.
    ///
    /// ```swift
    /// let player = try Player.find(db, id: 1) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if the record doesn't exist; the other errors of `fetchOne`.
    public static func find(_ db: Database, id: ID, table: String? = nil) throws -> Self {
        try find(db, key: id, table: table)
    }

    /// The records with the given ids, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, ids: [1, 2, 3]) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchAll(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> [Self] {
        try fetchAll(db, keys: ids, table: table)
    }

    /// A cursor over the records with the given ids, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db, ids: [1, 2])
    /// while let player = try players.next() { print(player.name) }
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`. The cursor throws the errors
    ///   of decoding.
    public static func fetchCursor(
        _ db: Database, ids: some Collection<ID>, table: String? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db, keys: ids, table: table)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable & Hashable, ID: DatabaseValueConvertible {
    /// The set of records with the given ids.
    ///
    /// ```swift
    /// let players = try Player.fetchSet(db, ids: [1, 2]) // Set<Player>
    /// ```
    ///
    /// - throws: `SQLITE_MISUSE` if the primary key has several columns; `DatabaseError`; `RowDecodingError`.
    public static func fetchSet(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> Set<Self> {
        try fetchSet(db, keys: ids, table: table)
    }
}

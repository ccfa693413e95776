public import QuarryCore

// Rows by the id of `Identifiable` records: a value of the primary key.

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Whether a row has an id.
    ///
    /// ```sql
    /// SELECT EXISTS (SELECT * FROM "player" WHERE "id" = 1)
    /// ```
    public static func exists(_ db: Database, id: ID, table: String? = nil) throws -> Bool {
        try exists(db, key: id, table: table)
    }

    /// Deletes the row that has an id.
    ///
    /// ```swift
    /// let isDeleted = try Player.deleteOne(db, id: 1)
    /// ```
    /// ```sql
    /// DELETE FROM "player" WHERE "id" = 1
    /// ```
    ///
    /// - returns: whether there was such a row.
    @discardableResult
    public static func deleteOne(_ db: Database, id: ID, table: String? = nil) throws -> Bool {
        try deleteOne(db, key: id, table: table)
    }

    /// Deletes the rows that have ids.
    ///
    /// ```swift
    /// try Player.deleteAll(db, ids: [1, 2, 3])
    /// ```
    ///
    /// - returns: how many rows there were.
    @discardableResult
    public static func deleteAll(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> Int {
        try deleteAll(db, keys: ids, table: table)
    }

    /// The error that no row has an id.
    public static func recordNotFound(_ db: Database, id: ID) -> any Error { recordNotFound(db, key: id) }
}

extension FetchableRecord where Self: TableRecord & Identifiable, ID: DatabaseValueConvertible {
    /// The record of an id, nil if there is none.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, id: 1) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" = 1
    /// ```
    public static func fetchOne(_ db: Database, id: ID, table: String? = nil) throws -> Self? {
        try fetchOne(db, key: id, table: table)
    }

    /// The record of an id.
    ///
    /// ```swift
    /// let player = try Player.find(db, id: 1) // Player
    /// ```
    ///
    /// - throws: `RecordError.recordNotFound` if there is none.
    public static func find(_ db: Database, id: ID, table: String? = nil) throws -> Self {
        try find(db, key: id, table: table)
    }

    /// The records of ids, in no order of theirs.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, ids: [1, 2, 3]) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    public static func fetchAll(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> [Self] {
        try fetchAll(db, keys: ids, table: table)
    }

    /// A cursor over the records of ids, no more than a statement has parameters.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db, ids: [1, 2])
    /// while let player = try players.next() { print(player.name) }
    /// ```
    public static func fetchCursor(
        _ db: Database, ids: some Collection<ID>, table: String? = nil
    ) throws -> RecordCursor<Self> {
        try fetchCursor(db, keys: ids, table: table)
    }
}

extension FetchableRecord where Self: TableRecord & Identifiable & Hashable, ID: DatabaseValueConvertible {
    /// The set of records of ids.
    ///
    /// ```swift
    /// let players = try Player.fetchSet(db, ids: [1, 2]) // Set<Player>
    /// ```
    public static func fetchSet(_ db: Database, ids: some Collection<ID>, table: String? = nil) throws -> Set<Self> {
        try fetchSet(db, keys: ids, table: table)
    }
}

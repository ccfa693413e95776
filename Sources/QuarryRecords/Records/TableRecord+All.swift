public import QuarryCore
public import QuarrySQL

// Verbs for all rows of a record type's table. A method with a default argument can't be passed as a function, as in
// `dbQueue.read(Player.fetchAll)`, so the table is an argument of a separate method.

extension TableRecord {
    /// All rows of the type's table, or of another table.
    static func all(in table: String?) -> QueryInterfaceRequest<Self> {
        guard let table else { return all() }
        var request = Table<Self>(table).all()
        request.query.selection = selection
        return request
    }

    /// The number of rows.
    ///
    /// ```swift
    /// let count = try Player.fetchCount(db)
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "player"
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public static func fetchCount(_ db: Database) throws -> Int {
        try all().fetchCount(db)
    }

    /// The number of rows of a table other than the type's own.
    ///
    /// ```swift
    /// let count = try Player.fetchCount(db, table: "formerPlayer")
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "formerPlayer"
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`.
    public static func fetchCount(_ db: Database, table: String?) throws -> Int {
        try all(in: table).fetchCount(db)
    }

    /// Deletes all rows.
    ///
    /// ```swift
    /// try Player.deleteAll(db)
    /// ```
    /// ```sql
    /// DELETE FROM "player"
    /// ```
    ///
    /// - returns: the number of deleted rows.
    /// - throws: `DatabaseError`.
    @discardableResult
    public static func deleteAll(_ db: Database) throws -> Int {
        try all().deleteAll(db)
    }

    /// Deletes all rows of a table other than the type's own.
    ///
    /// ```swift
    /// try Player.deleteAll(db, table: "formerPlayer")
    /// ```
    /// ```sql
    /// DELETE FROM "formerPlayer"
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - returns: the number of deleted rows.
    /// - throws: `DatabaseError`.
    @discardableResult
    public static func deleteAll(_ db: Database, table: String?) throws -> Int {
        try all(in: table).deleteAll(db)
    }

    /// Sets columns of all rows.
    ///
    /// ```swift
    /// try Player.updateAll(db, [Column("score").set(to: 0)])
    /// ```
    /// ```sql
    /// UPDATE "player" SET "score" = 0
    /// ```
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint.
    @discardableResult
    public static func updateAll(
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
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Sets columns of all rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint; the closure's error.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }

    /// Sets a column of all rows.
    ///
    /// - returns: the number of updated rows.
    /// - throws: `DatabaseError`, for example for a violated constraint; the closure's error.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }

    /// The number of columns that requests for the type select.
    ///
    /// - parameter table: the table, if it isn't the type's own.
    /// - throws: `DatabaseError`.
    public static func numberOfSelectedColumns(_ db: Database, table: String? = nil) throws -> Int {
        try all(in: table).makePreparedRequest(db).statement.columnCount
    }
}

extension FetchableRecord where Self: TableRecord {
    /// A cursor over all records.
    ///
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    ///
    /// - throws: `DatabaseError`. The cursor throws the errors of decoding.
    public static func fetchCursor(_ db: Database) throws -> RecordCursor<Self> {
        try all().fetchCursor(db)
    }

    /// A cursor over all records of a table other than the type's own.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db, table: "formerPlayer")
    /// while let player = try players.next() { print(player.name) }
    /// ```
    /// ```sql
    /// SELECT * FROM "formerPlayer"
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`. The cursor throws the errors of decoding.
    public static func fetchCursor(_ db: Database, table: String?) throws -> RecordCursor<Self> {
        try all(in: table).fetchCursor(db)
    }

    /// All records.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db) // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    ///
    /// - throws: `DatabaseError`; the error of decoding a record, such as `RowDecodingError`.
    public static func fetchAll(_ db: Database) throws -> [Self] {
        try all().fetchAll(db)
    }

    /// All records of a table other than the type's own.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(db, table: "formerPlayer") // [Player]
    /// ```
    /// ```sql
    /// SELECT * FROM "formerPlayer"
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`; the error of decoding a record, such as `RowDecodingError`.
    public static func fetchAll(_ db: Database, table: String?) throws -> [Self] {
        try all(in: table).fetchAll(db)
    }

    /// Any record; nil if the table is empty.
    ///
    /// ```sql
    /// SELECT * FROM "player" LIMIT 1
    /// ```
    ///
    /// - throws: `DatabaseError`; the error of decoding the record, such as `RowDecodingError`.
    public static func fetchOne(_ db: Database) throws -> Self? {
        try all().fetchOne(db)
    }

    /// Any record of a table other than the type's own; nil if the table is empty.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db, table: "formerPlayer") // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "formerPlayer" LIMIT 1
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`; the error of decoding the record, such as `RowDecodingError`.
    public static func fetchOne(_ db: Database, table: String?) throws -> Self? {
        try all(in: table).fetchOne(db)
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// The set of all records.
    ///
    /// ```swift
    /// let players = try Player.fetchSet(db) // Set<Player>
    /// ```
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    ///
    /// - throws: `DatabaseError`; the error of decoding a record, such as `RowDecodingError`.
    public static func fetchSet(_ db: Database) throws -> Set<Self> {
        try all().fetchSet(db)
    }

    /// The set of all records of a table other than the type's own.
    ///
    /// ```swift
    /// let players = try Player.fetchSet(db, table: "formerPlayer") // Set<Player>
    /// ```
    /// ```sql
    /// SELECT * FROM "formerPlayer"
    /// ```
    ///
    /// - parameter table: the table; nil for the type's own.
    /// - throws: `DatabaseError`; the error of decoding a record, such as `RowDecodingError`.
    public static func fetchSet(_ db: Database, table: String?) throws -> Set<Self> {
        try all(in: table).fetchSet(db)
    }
}

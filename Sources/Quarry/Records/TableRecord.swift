public import QuarryCore

/// A type that stands for a table.
///
/// ```swift
/// struct Player: TableRecord {}
/// Player.databaseTableName // "player"
///
/// struct Place: TableRecord {
///     static let databaseTableName = "location"
/// }
/// ```
public protocol TableRecord: SendableMetatype {
    /// The name of the table.
    static var databaseTableName: String { get }
}

extension TableRecord {
    /// The name of the type, beginning with a small letter: `player` for `Player`, `httpRequest` for `HTTPRequest`.
    public static var databaseTableName: String { defaultTableName }

    static var defaultTableName: String { tableName(ofType: String(describing: Self.self)) }

    // MARK: - All rows

    /// The number of rows.
    ///
    /// ```swift
    /// let count = try Player.fetchCount(db)
    /// ```
    /// ```sql
    /// SELECT COUNT(*) FROM "player"
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    public static func fetchCount(_ db: Database, table: String? = nil) throws -> Int {
        let table = (table ?? databaseTableName).quotedDatabaseIdentifier
        return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
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
    /// - parameter table: the table, if it isn't the type's own.
    /// - returns: how many there were.
    @discardableResult
    public static func deleteAll(_ db: Database, table: String? = nil) throws -> Int {
        let table = (table ?? databaseTableName).quotedDatabaseIdentifier
        try db.execute(sql: "DELETE FROM \(table)")
        return db.changesCount
    }

    /// The number of columns that `SELECT *` has.
    ///
    /// ```swift
    /// // A team's columns, then those of a player.
    /// let width = try Team.numberOfSelectedColumns(db)
    /// let adapter = ScopeAdapter(["player": SuffixRowAdapter(fromIndex: width)])
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    public static func numberOfSelectedColumns(_ db: Database, table: String? = nil) throws -> Int {
        try RecordPlans.plan(Self.self, table, db).shape(db, sure: true).columns.count
    }
}

extension FetchableRecord where Self: TableRecord {
    private static func selection(_ table: String?) -> String {
        "SELECT * FROM \((table ?? databaseTableName).quotedDatabaseIdentifier)"
    }

    /// A cursor over all records.
    ///
    /// ```swift
    /// let players = try Player.fetchCursor(db) // RecordCursor<Player>
    /// while let player = try players.next() { print(player.name) }
    /// ```
    /// ```sql
    /// SELECT * FROM "player"
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    public static func fetchCursor(_ db: Database, table: String? = nil) throws -> RecordCursor<Self> {
        try fetchCursor(db, sql: selection(table))
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
    /// - parameter table: the table, if it isn't the type's own.
    public static func fetchAll(_ db: Database, table: String? = nil) throws -> [Self] {
        try fetchAll(db, sql: selection(table))
    }

    /// Any record, nil if there is none.
    ///
    /// ```swift
    /// let player = try Player.fetchOne(db) // Player?
    /// ```
    /// ```sql
    /// SELECT * FROM "player" LIMIT 1
    /// ```
    ///
    /// - parameter table: the table, if it isn't the type's own.
    public static func fetchOne(_ db: Database, table: String? = nil) throws -> Self? {
        try fetchOne(db, sql: selection(table) + " LIMIT 1")
    }
}

extension FetchableRecord where Self: TableRecord & Hashable {
    /// The set of all records.
    ///
    /// - parameter table: the table, if it isn't the type's own.
    public static func fetchSet(_ db: Database, table: String? = nil) throws -> Set<Self> {
        try fetchSet(db, sql: "SELECT * FROM \((table ?? databaseTableName).quotedDatabaseIdentifier)")
    }
}

/// The name of a type without generic arguments; capitals at its beginning are small, except that of the second word.
private func tableName(ofType description: String) -> String {
    let name = description.prefix { $0 != "<" }
    let capitals = name.prefix { $0.isUppercase }
    // HTTPRequest is http and Request; Player and HTTP are one word.
    let count = capitals.count > 1 && capitals.count < name.count ? capitals.count - 1 : capitals.count
    return name.prefix(count).lowercased() + name.dropFirst(count)
}

public import QuarryCore

/// Brings databases to the schema of the program, in steps: each database runs each step once, in order.
///
/// ```swift
/// var migrator = DatabaseMigrator()
/// migrator.registerMigration("v1") { db in
///     try db.create(table: "player") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text).notNull()
///     }
/// }
/// migrator.registerMigration("v2") { db in
///     try db.alter(table: "player") { t in t.add(column: "score", .integer).notNull().defaults(to: 0) }
/// }
/// try migrator.migrate(dbPool)
/// ```
///
/// Each migration is a separate transaction: its changes are committed together with its record, or rolled back.
/// Earlier migrations stay. Applied migrations are recorded in the table `grdb_migrations`, as in GRDB: databases that
/// GRDB has migrated carry over, and back.
public struct DatabaseMigrator: Sendable {
    /// The way in which the foreign keys of a migration are checked.
    public enum ForeignKeyChecks: Sendable {
        /// Enforcement is suspended while the migration runs; the whole database is checked before the commit.
        ///
        /// So tables can be recreated. The check is slow for large tables.
        case deferred

        /// Each statement is checked as usual, according to `Configuration.foreignKeysEnabled`.
        case immediate
    }

    /// Whether a database is erased and migrated again if a migration that it has applied differs from the registered
    /// one. For development only: all data is lost.
    ///
    /// ```swift
    /// #if DEBUG
    /// migrator.eraseDatabaseOnSchemaChange = true
    /// #endif
    /// ```
    ///
    /// See `hasSchemaChanges(_:)` for the comparison.
    public var eraseDatabaseOnSchemaChange = false

    /// The migrations, in the order in which they run.
    private(set) var registered: [Migration] = []

    /// The identifiers, in the order of their bytes, as in the table's index.
    private(set) var sortedIdentifiers: [String] = []

    /// The first mistake of a registration: the next call that can throw throws it.
    private(set) var registrationError: DatabaseError?

    private var checksDeferredForeignKeys = true

    /// A migrator without migrations.
    public init() {}

    // MARK: - Registering

    /// Adds a migration, which runs after the registered ones.
    ///
    /// ```swift
    /// migrator.registerMigration("v1", checksum: "sha256:9f86d081…") { db in
    ///     try db.create(table: "player") { t in t.primaryKey("id", .integer) }
    /// }
    /// ```
    ///
    /// An applied migration must never change: databases that have applied it won't run it again. A `checksum` detects
    /// changes: it is recorded with the migration, and if a different one is registered later, `migrate` throws
    /// `SQLITE_MISUSE`. Any text that changes with the migration can be the checksum, such as a hash of its SQL made by
    /// a tool.
    ///
    /// Registering an identifier twice is a mistake, which the next call that can throw reports as `SQLITE_MISUSE`.
    ///
    /// - parameter identifier: the permanent name of the migration in the database.
    /// - parameter foreignKeyChecks: the way in which foreign keys are checked.
    /// - parameter checksum: a text that changes with the migration; nil for none.
    /// - parameter migrate: changes the database, in a transaction. Meanwhile `Configuration.schemaSource` isn't used:
    ///   it describes the schema of the program, not that of the migration.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred, checksum: String? = nil,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(identifier, foreignKeyChecks, [], checksum) { db, _ in try migrate(db) }
    }

    /// Adds a migration that replaces others, which aren't registered any more.
    ///
    /// ```swift
    /// migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
    ///     if !applied.contains("v1") { try createPlayers(db) }
    ///     if !applied.contains("v2") { try addScores(db) }
    /// }
    /// ```
    ///
    /// The closure receives the `mergedIdentifiers` that the database has applied. Their records are removed when the
    /// migration is applied. If a database has already applied the migration, `migrate` removes the records of the
    /// merged migrations.
    ///
    /// - parameter identifier: the permanent name of the migration in the database.
    /// - parameter foreignKeyChecks: the way in which foreign keys are checked.
    /// - parameter mergedIdentifiers: the migrations that this one replaces.
    /// - parameter checksum: a text that changes with the migration; nil for none.
    /// - parameter migrate: changes the database, in a transaction.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        merging mergedIdentifiers: Set<String> = [], checksum: String? = nil,
        migrate: @escaping @Sendable (Database, _ appliedIdentifiers: Set<String>) throws -> Void
    ) {
        register(identifier, foreignKeyChecks, mergedIdentifiers, checksum, migrate)
    }

    private mutating func register(
        _ identifier: String, _ checks: ForeignKeyChecks, _ merged: Set<String>, _ checksum: String?,
        _ migrate: @escaping @Sendable (Database, Set<String>) throws -> Void
    ) {
        let index = sortedIdentifiers.partitioningIndex { !$0.utf8.lexicographicallyPrecedes(identifier.utf8) }
        guard index == sortedIdentifiers.count || sortedIdentifiers[index] != identifier else {
            return note("migration \(identifier) is registered twice")
        }
        sortedIdentifiers.insert(identifier, at: index)
        let foreignKeys: Migration.ForeignKeys =
            switch checks {
            case .deferred: checksDeferredForeignKeys ? .checkedAtTheEnd : .unchecked
            case .immediate: .asConfigured
            }
        registered.append(
            Migration(
                identifier: identifier, checksum: checksum, mergedIdentifiers: merged.subtracting([identifier]),
                foreignKeys: foreignKeys, migrate: migrate))
        for migration in registered {
            // The migration would run again after each merge.
            if let other = registered.first(where: { migration.mergedIdentifiers.contains($0.identifier) }) {
                note("migration \(other.identifier) is registered, and merged into \(migration.identifier)")
            }
        }
    }

    private mutating func note(_ mistake: String) {
        registrationError = registrationError ?? DatabaseError.misuse(mistake)
    }

    /// Throws the mistake of a registration.
    func checkRegistrations() throws {
        if let registrationError { throw registrationError }
    }

    /// A migrator whose later migrations with `.deferred` checks have no checks: foreign keys without a row stay.
    ///
    /// ```swift
    /// migrator = migrator.disablingDeferredForeignKeyChecks()
    /// ```
    ///
    /// Such a migration is as fast as its statements. Migrations that are already registered keep their checks.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.checksDeferredForeignKeys = false
        return migrator
    }

    /// The migrations, in the order in which they run.
    public var migrations: [String] { registered.map(\.identifier) }
}

/// A registered migration.
struct Migration: Sendable {
    enum ForeignKeys: Sendable {
        case checkedAtTheEnd
        case unchecked
        case asConfigured
    }

    var identifier: String
    var checksum: String?
    var mergedIdentifiers: Set<String>
    var foreignKeys: ForeignKeys
    var migrate: @Sendable (Database, Set<String>) throws -> Void
}

extension [String] {
    /// The index of the first element in the second part, if the elements are partitioned.
    fileprivate func partitioningIndex(_ isInSecondPart: (String) -> Bool) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isInSecondPart(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}

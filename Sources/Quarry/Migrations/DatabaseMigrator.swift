public import QuarryCore

/// Brings databases to the schema of the program, in steps: each database runs each step once, in their order.
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
/// Each migration is a transaction of its own: it is applied with all it does, and noted in the same transaction, or
/// the file is as it was before it. Those that came before it stay. What has been applied is noted in the table
/// `grdb_migrations`, as GRDB does: databases that GRDB has migrated carry over, and back.
public struct DatabaseMigrator: Sendable {
    /// How the foreign keys of a migration are checked.
    public enum ForeignKeyChecks: Sendable {
        /// They aren't checked while it runs, nor acted upon; all of the database is, before it is committed.
        ///
        /// Tables can be recreated so. It is slow where tables are large.
        case deferred

        /// Each statement is checked, as anywhere else, where `Configuration.foreignKeysEnabled` says so.
        case immediate
    }

    /// Whether a database is erased, and migrated anew, where a migration that it has applied isn't the one that is
    /// registered now. Only for the time of development: all data goes.
    ///
    /// ```swift
    /// #if DEBUG
    /// migrator.eraseDatabaseOnSchemaChange = true
    /// #endif
    /// ```
    ///
    /// `hasSchemaChanges(_:)` says how that is found out.
    public var eraseDatabaseOnSchemaChange = false

    /// In the order in which they run.
    private(set) var registered: [Migration] = []

    /// Their identifiers, in the order of their bytes, which is that of the table's index.
    private(set) var sortedIdentifiers: [String] = []

    /// The first mistake of a registration: the first call that can throw does.
    private(set) var registrationError: DatabaseError?

    private var checksDeferredForeignKeys = true

    /// A migrator without migrations.
    public init() {}

    // MARK: - Registering

    /// Adds a migration, which runs after those that are registered already.
    ///
    /// ```swift
    /// migrator.registerMigration("v1", checksum: "sha256:9f86d081…") { db in
    ///     try db.create(table: "player") { t in t.primaryKey("id", .integer) }
    /// }
    /// ```
    ///
    /// A migration that has been applied must never change: databases that have it won't run it again. A `checksum`
    /// finds out: it is noted with the migration, and where another one is registered later, `migrate` throws
    /// `SQLITE_MISUSE`. It can be anything that is another one when the migration is: a hash of its SQL, made
    /// by a tool.
    ///
    /// Registering an identifier twice is a mistake, which the next call that can throw reports as `SQLITE_MISUSE`.
    ///
    /// - parameter identifier: names it in the database, for good.
    /// - parameter foreignKeyChecks: how foreign keys are checked.
    /// - parameter checksum: what tells that it has changed; nil where nothing does.
    /// - parameter migrate: changes the database, in a transaction. `Configuration.schemaSource` isn't asked meanwhile:
    ///   it knows the schema of the program, which isn't that of the migration.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred, checksum: String? = nil,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        register(identifier, foreignKeyChecks, [], checksum) { db, _ in try migrate(db) }
    }

    /// Adds a migration that takes the place of others, which aren't registered any more.
    ///
    /// ```swift
    /// migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
    ///     if !applied.contains("v1") { try createPlayers(db) }
    ///     if !applied.contains("v2") { try addScores(db) }
    /// }
    /// ```
    ///
    /// The closure gets those of `mergedIdentifiers` that the database has applied. They are noted no more when it is.
    /// Where a database has applied the migration already, `migrate` removes what is noted of the others.
    ///
    /// - parameter identifier: names it in the database, for good.
    /// - parameter foreignKeyChecks: how foreign keys are checked.
    /// - parameter mergedIdentifiers: the migrations whose place it takes.
    /// - parameter checksum: what tells that it has changed; nil where nothing does.
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
            // It would run again after it was merged, and again.
            if let other = registered.first(where: { migration.mergedIdentifiers.contains($0.identifier) }) {
                note("migration \(other.identifier) is registered, and merged into \(migration.identifier)")
            }
        }
    }

    private mutating func note(_ mistake: String) {
        registrationError = registrationError ?? DatabaseError(resultCode: .SQLITE_MISUSE, message: mistake)
    }

    /// Throws the mistake of a registration.
    func checkRegistrations() throws {
        if let registrationError { throw registrationError }
    }

    /// A migrator whose later migrations with `.deferred` checks have none: foreign keys that refer to no row stay.
    ///
    /// ```swift
    /// migrator = migrator.disablingDeferredForeignKeyChecks()
    /// ```
    ///
    /// Such a migration is as fast as its statements. Migrations that are registered already keep their checks.
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
    /// The index of the first element that is in the second part, where those that aren't come first.
    fileprivate func partitioningIndex(_ isInSecondPart: (String) -> Bool) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isInSecondPart(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}

public import QuarryCore

extension DatabaseMigrator {
    // MARK: - Applied migrations

    /// The registered migrations that are applied, in the order of their registration.
    ///
    /// ```swift
    /// let applied = try dbPool.read { db in try migrator.appliedMigrations(db) }
    /// ```
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return migrations.filter { applied.contains($0) }
    }

    /// The migrations that are applied, including unregistered ones.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        try checkRegistrations()
        return try MigrationHistory(db: db).identifiers()
    }

    /// The registered migrations that are applied, up to the first that isn't.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let applied = try appliedIdentifiers(db)
        return Array(migrations.prefix { applied.contains($0) })
    }

    /// Whether all registered migrations are applied.
    ///
    /// ```swift
    /// guard try dbPool.read(migrator.hasCompletedMigrations) else { return .unavailable }
    /// ```
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        try completedMigrations(db).count == registered.count
    }

    /// Whether a later version of the program has migrated the database: it has applied migrations that are neither
    /// registered nor merged into a registered one.
    ///
    /// ```swift
    /// if try dbPool.read(migrator.hasBeenSuperseded) { throw ProgramIsTooOld() }
    /// ```
    ///
    /// `migrate` accepts such a database.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        return !applied.subtracting(migrations).subtracting(registered.flatMap(\.mergedIdentifiers)).isEmpty
    }

    // MARK: - Changed migrations

    /// A migration that was applied with another checksum.
    public struct ChangedMigration: Hashable, Sendable {
        /// The migration.
        public let identifier: String

        /// The checksum that it had when it was applied.
        public let appliedChecksum: String

        /// The checksum that it has now.
        public let registeredChecksum: String

        var error: DatabaseError {
            DatabaseError.misuse(
                "migration \(identifier) has changed since it was applied: its checksum was "
                    + "\(appliedChecksum), and is \(registeredChecksum)")
        }
    }

    /// The migrations that were applied with a different checksum than their registered one.
    ///
    /// ```swift
    /// for change in try dbPool.read(migrator.changedMigrations) { print("\(change.identifier) has changed") }
    /// ```
    ///
    /// A migration that was applied without a checksum hasn't changed: `migrate` records its current checksum.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration.
    public func changedMigrations(_ db: Database) throws -> [ChangedMigration] {
        let history = MigrationHistory(db: db)
        return try changedMigrations(history, appliedIdentifiers(db))
    }

    var hasChecksums: Bool { registered.contains { $0.checksum != nil } }

    private func changedMigrations(
        _ history: MigrationHistory, _ applied: Set<String>
    ) throws -> [ChangedMigration] {
        guard hasChecksums else { return [] }
        let noted = try history.checksums()
        return registered.compactMap { migration in
            guard let checksum = migration.checksum, applied.contains(migration.identifier),
                let old = noted[migration.identifier], old != checksum
            else { return nil }
            return ChangedMigration(
                identifier: migration.identifier, appliedChecksum: old, registeredChecksum: checksum)
        }
    }

    /// Throws for a changed migration, and records the checksums of migrations that were applied without one.
    func checkChecksums(_ history: MigrationHistory, _ applied: Set<String>) throws {
        guard hasChecksums else { return }
        if let change = try changedMigrations(history, applied).first {
            throw change.error
        }
        let noted = try history.checksums()
        let new = registered.compactMap { migration -> (identifier: String, checksum: String)? in
            guard let checksum = migration.checksum, applied.contains(migration.identifier),
                noted[migration.identifier] == nil
            else { return nil }
            return (migration.identifier, checksum)
        }
        // A read-only database can't record them.
        guard !new.isEmpty, !history.db.isReadOnly, !history.db.isInsideTransaction else { return }
        try history.db.inTransaction(.immediate) {
            let noted = try history.checksums()
            for (identifier, checksum) in new where noted[identifier] == nil {
                try history.note(checksum, of: identifier)
            }
            return .commit
        }
    }

    /// Removes the records of merged migrations whose replacement is also recorded. That happens if a database applied
    /// the replacement before they were merged into it.
    func forgetMergedMigrations(_ history: MigrationHistory, _ applied: inout Set<String>) throws {
        let merged = mergedMigrations(among: applied)
        // A read-only database keeps them.
        guard !merged.isEmpty, !history.db.isReadOnly, !history.db.isInsideTransaction else { return }
        try history.db.inTransaction(.immediate) {
            applied = try history.identifiers()
            let merged = mergedMigrations(among: applied)
            for identifier in merged.sorted() { try history.forget(identifier) }
            applied.subtract(merged)
            return .commit
        }
    }

    /// The recorded migrations that are merged into other recorded migrations.
    private func mergedMigrations(among applied: Set<String>) -> Set<String> {
        registered.filter { applied.contains($0.identifier) }
            .reduce(into: []) { $0.formUnion($1.mergedIdentifiers.intersection(applied)) }
    }

    /// Whether the applied migrations would create a different schema now, or aren't registered any more.
    ///
    /// ```swift
    /// if try dbPool.read(migrator.hasSchemaChanges) { print("a migration was changed") }
    /// ```
    ///
    /// The registered migrations run in a separate database on disk, up to the last applied one. Then both schemas are
    /// compared: tables, indexes, views and triggers by their SQL, except SQLite's own and the library's. A changed
    /// checksum counts as a change too.
    ///
    /// - throws: `DatabaseError`; `SQLITE_MISUSE` for mistakes in the registration; the error of a migration.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard !applied.isEmpty else { return false }
        let merged = registered.flatMap(\.mergedIdentifiers)
        guard applied.subtracting(merged).isSubset(of: migrations) else { return true }
        if try !changedMigrations(db).isEmpty { return true }
        // If only merged migrations are applied, nothing can be created again.
        guard let last = migrations.last(where: { applied.contains($0) }) else { return true }
        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        let schema = try db.userSchema()
        return try withScratchDatabase(like: db) { scratch in
            try migrator.run(scratch, upTo: last)
            return try scratch.userSchema() != schema
        }
    }

    /// Runs `body` with an empty database in a separate file, configured like another's connections.
    ///
    /// The file has a name, as the database has: a nameless temporary database refuses operations that
    /// `prepareDatabase` may use, such as a persistent log.
    func withScratchDatabase<T>(like db: Database, _ body: (Database) throws -> T) throws -> T {
        let folder = try ScratchFolder()
        return try withScratchDatabase(path: folder.path + "/scratch.sqlite", like: db, body)
    }

    /// The connection is closed when this returns, so that its files can be removed.
    private func withScratchDatabase<T>(path: String, like db: Database, _ body: (Database) throws -> T) throws -> T {
        let scratch = try db.openScratch(path: path)
        return try scratch.asAccess(body)
    }
}

extension Database {
    /// Tables, indexes, views and triggers, except those of SQLite and of the library.
    fileprivate func userSchema() throws -> Set<[String?]> {
        let rows = try Row.fetchAll(self, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        return Set(
            rows.compactMap { row in
                let name: String = row[1]
                let table: String = row[2]
                // A cluster's commit journal, and the counters of its changes.
                if route != nil, Self.isOfCluster(name) || Self.isOfCluster(table) { return nil }
                for name in [name, table] {
                    if Self.isSQLiteInternalTable(name) || Self.isGRDBInternalTable(name) { return nil }
                }
                return [row[0], name, table, row[3]]
            })
    }
    private static func isOfCluster(_ name: String) -> Bool {
        name == "quarry_commit" || name == "quarry_change" || name.hasPrefix("quarry_change_")
    }
}

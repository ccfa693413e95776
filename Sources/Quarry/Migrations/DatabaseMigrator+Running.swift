public import QuarryCore

/// The progress of a database's migration.
public struct MigrationProgress: Hashable, Sendable {
    /// The state of a migration.
    public enum State: Hashable, Sendable {
        /// The migration begins.
        case begins
        /// The migration is applied and committed, by this process or by another one meanwhile.
        case committed
        /// The migration could not begin, has failed, or was cancelled. Its error is thrown next.
        case failed
    }

    /// The migration.
    public let identifier: String

    /// The number of the migration among those to apply, from 1.
    public let index: Int

    /// The number of migrations to apply.
    public let count: Int

    /// The state of the migration.
    public let state: State
}

extension DatabaseMigrator {
    // MARK: - Migrating

    /// Applies the migrations that the database hasn't applied yet, on this thread.
    ///
    /// ```swift
    /// try migrator.migrate(dbPool)
    /// ```
    ///
    /// Other accesses wait meanwhile. If several processes migrate one file at the same time, each migration is applied
    /// once, by one of them; the others wait for it, according to `Configuration.busyMode`, and return when all are
    /// applied.
    ///
    /// - throws: the error of a migration; its changes are rolled back, and `migrate(_:upTo:progress:)` tells which
    ///   migration failed. `DatabaseError`: for foreign keys without a row; `SQLITE_MISUSE` for mistakes in the
    ///   registration; `SQLITE_BUSY` if another connection holds the lock.
    public func migrate(_ writer: any DatabaseWriter) throws {
        try writer.barrierWriteWithoutTransaction { db in try run(db, upTo: nil) }
    }

    /// Applies migrations up to the given one.
    ///
    /// ```swift
    /// try migrator.migrate(dbPool, upTo: "v2")
    /// ```
    ///
    /// - parameter writer: the database.
    /// - parameter targetIdentifier: the last migration to apply.
    /// - throws: the errors of `migrate(_:)`; `SQLITE_MISUSE` if there is no such migration, or if a later one is
    ///   already applied.
    public func migrate(_ writer: any DatabaseWriter, upTo targetIdentifier: String) throws {
        try writer.barrierWriteWithoutTransaction { db in try run(db, upTo: targetIdentifier) }
    }

    /// Applies migrations on this thread, and reports the progress.
    ///
    /// ```swift
    /// try migrator.migrate(dbPool) { progress in
    ///     if progress.state == .failed { logger.error("migration \(progress.identifier) has failed") }
    /// }
    /// ```
    ///
    /// - parameter writer: the database.
    /// - parameter targetIdentifier: the last migration to apply; nil for all.
    /// - parameter progress: called when a migration begins, and when it is applied or has failed.
    /// - throws: the errors of `migrate(_:)`.
    public func migrate(
        _ writer: any DatabaseWriter, upTo targetIdentifier: String? = nil, progress: (MigrationProgress) -> Void
    ) throws {
        try writer.barrierWriteWithoutTransaction { db in try run(db, upTo: targetIdentifier, progress) }
    }

    /// Applies migrations as the synchronous `migrate`, and reports the progress; waiting suspends the task.
    ///
    /// ```swift
    /// try await migrator.migrate(dbPool) { progress in
    ///     print("\(progress.index) of \(progress.count): \(progress.identifier) \(progress.state)")
    /// }
    /// ```
    ///
    /// Cancelling the task ends the wait, or interrupts the running statement: its migration is rolled back, earlier
    /// ones stay, and `CancellationError` is thrown.
    ///
    /// - parameter writer: the database.
    /// - parameter targetIdentifier: the last migration to apply; nil for all.
    /// - parameter progress: called when a migration begins, and when it is applied or has failed, on the thread that
    ///   runs the migrations.
    /// - throws: the errors of `migrate(_:)`; `CancellationError`.
    public func migrate(
        _ writer: any DatabaseWriter, upTo targetIdentifier: String? = nil,
        progress: @escaping @Sendable (MigrationProgress) -> Void
    ) async throws {
        try await writer.barrierWriteWithoutTransaction { db in
            try run(db, upTo: targetIdentifier, progress)
        }
    }

    /// Applies migrations asynchronously.
    ///
    /// - parameter writer: the database.
    /// - parameter completion: receives the connection after the migrations, or the error that ended them.
    public func asyncMigrate(
        _ writer: any DatabaseWriter, completion: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.asyncBarrierWriteWithoutTransaction { access in
            completion(
                access.flatMap { db in
                    Result {
                        try run(db, upTo: nil)
                        return db
                    }
                })
        }
    }

    // MARK: - Running

    package func run(_ db: Database, upTo target: String?, _ progress: (MigrationProgress) -> Void = { _ in }) throws {
        try checkRegistrations()
        if target == nil, !eraseDatabaseOnSchemaChange, try isUpToDate(db) { return }
        if eraseDatabaseOnSchemaChange, try hasSchemaChanges(db) { try db.erase() }
        let history = MigrationHistory(db: db)
        var applied = try history.identifiers()
        let pending = try pending(upTo: target, applied: applied)
        try checkChecksums(history, applied)
        try forgetMergedMigrations(history, &applied)
        for (index, migration) in pending.enumerated() {
            func report(_ state: MigrationProgress.State) {
                progress(
                    MigrationProgress(
                        identifier: migration.identifier, index: index + 1, count: pending.count, state: state))
            }
            report(.begins)
            do {
                try apply(migration, history, &applied)
            } catch {
                report(.failed)
                throw error
            }
            report(.committed)
        }
    }

    /// Whether exactly the registered migrations are applied, and no checksum must be compared: the usual case, which
    /// is found with little work.
    private func isUpToDate(_ db: Database) throws -> Bool {
        try !hasChecksums && MigrationHistory(db: db).holds(exactly: sortedIdentifiers)
    }

    /// The migrations to apply, in order.
    ///
    /// - throws: `SQLITE_MISUSE` if the target doesn't exist or has been passed.
    func pending(upTo target: String?, applied: Set<String>) throws -> [Migration] {
        let pending = registered.filter { !applied.contains($0.identifier) }
        guard let target else { return pending }
        guard let end = registered.firstIndex(where: { $0.identifier == target }) else {
            throw DatabaseError.misuse("no migration \(target) is registered")
        }
        if let last = registered[(end + 1)...].last(where: { applied.contains($0.identifier) }) {
            throw DatabaseError.misuse(
                "the database can't be migrated up to \(target): \(last.identifier) is already applied")
        }
        return registered[...end].filter { !applied.contains($0.identifier) }
    }

    /// Applies a migration, unless another process has applied it.
    ///
    /// - parameter applied: the migrations found applied at the last check; updated.
    func apply(_ migration: Migration, _ history: MigrationHistory, _ applied: inout Set<String>) throws {
        while true {
            var hasBegun = false
            do {
                switch migration.foreignKeys {
                case .asConfigured:
                    try transact(migration, history, checksForeignKeys: false, &applied, &hasBegun)
                case .checkedAtTheEnd, .unchecked:
                    let checks = migration.foreignKeys == .checkedAtTheEnd && history.db.checksForeignKeys
                    try history.db.withoutForeignKeys {
                        try transact(migration, history, checksForeignKeys: checks, &applied, &hasBegun)
                    }
                }
                return
            } catch DatabaseError.SQLITE_BUSY where !hasBegun {
                // Waits for another process that applies one migration after another, as long as each of them takes.
                let now = try history.identifiers()
                guard now != applied else { throw error(afterBusy: migration) }
                applied = now
            } catch let error as DatabaseError {
                throw error.with(circumstances: " - in migration \(String(reflecting: migration.identifier))")
            }
        }
    }

    private func error(afterBusy migration: Migration) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "database is locked: migration \(migration.identifier) could not begin",
            sql: "BEGIN IMMEDIATE TRANSACTION")
    }

    private func transact(
        _ migration: Migration, _ history: MigrationHistory, checksForeignKeys: Bool, _ applied: inout Set<String>,
        _ hasBegun: inout Bool
    ) throws {
        let db = history.db
        try db.inTransaction(.immediate) {
            hasBegun = true
            // From here on, no other connection can write.
            applied = try history.identifiers()
            guard !applied.contains(migration.identifier) else {
                try checkChecksums(history, applied)
                return .rollback
            }
            let merged = migration.mergedIdentifiers.intersection(applied)
            try db.withSchemaSource(nil) { try migration.migrate(db, merged) }
            guard db.isInsideTransaction else {
                throw DatabaseError.misuse("the migration has ended its own transaction")
            }
            if checksForeignKeys { try db.checkForeignKeys() }
            try history.note(migration, merged: merged)
            applied.insert(migration.identifier)
            return .commit
        }
    }
}

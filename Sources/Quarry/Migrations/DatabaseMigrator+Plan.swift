public import QuarryCore

/// What migrating a database would do.
public struct MigrationPlan: Hashable, Sendable {
    /// A migration that would run.
    public struct Step: Hashable, Sendable {
        /// The migration.
        public let identifier: String

        /// The statements it would run that may change the database, in their order. Arguments are shown only where
        /// `Configuration.publicStatementArguments` says so.
        public let statements: [String]
    }

    /// Whether the database would be erased before, as `DatabaseMigrator.eraseDatabaseOnSchemaChange` says.
    public let erasesDatabase: Bool

    /// The migrations that would run, in their order.
    public let steps: [Step]
}

extension MigrationPlan: CustomStringConvertible {
    /// ```
    /// -- v2
    /// ALTER TABLE "player" ADD COLUMN "score" INTEGER;
    /// ```
    public var description: String {
        var lines = erasesDatabase ? ["-- the database is erased"] : []
        for step in steps { lines += ["-- \(step.identifier)"] + step.statements.map { $0 + ";" } }
        return lines.joined(separator: "\n")
    }
}

extension DatabaseMigrator {
    /// What `migrate` would do, found out on a copy: the database is only read.
    ///
    /// ```swift
    /// let plan = try dbPool.read { db in try migrator.plan(db) }
    /// print(plan)
    /// ```
    ///
    /// The copy is a temporary file, in which the migrations really run, with their checks and commits: so the plan
    /// shows what they do to the rows that are there. Nobody else waits meanwhile.
    ///
    /// - parameter db: a connection, in a read.
    /// - parameter targetIdentifier: the last migration to apply; nil for all.
    /// - throws: what migrating would throw.
    public func plan(_ db: Database, upTo targetIdentifier: String? = nil) throws -> MigrationPlan {
        try checkRegistrations()
        let erases = eraseDatabaseOnSchemaChange ? try hasSchemaChanges(db) : false
        let applied = erases ? [] : try appliedIdentifiers(db)
        let pending = try pending(upTo: targetIdentifier, applied: applied)
        if !erases, let change = try changedMigrations(db).first {
            throw change.error
        }
        guard !pending.isEmpty else { return MigrationPlan(erasesDatabase: erases, steps: []) }
        return try withScratchDatabase(like: db) { copy in
            if !erases { try db.backup(to: copy) }
            let history = MigrationHistory(db: copy)
            var applied = applied
            let steps = try pending.map { migration in
                let statements = Lock<[String]>([])
                var recorded = migration
                recorded.migrate = { db, merged in
                    let changes = try db.recordingChanges { try migration.migrate(db, merged) }
                    statements.withLock { $0 = changes }
                }
                try apply(recorded, history, &applied)
                return MigrationPlan.Step(
                    identifier: migration.identifier, statements: statements.withLock { $0 })
            }
            return MigrationPlan(erasesDatabase: erases, steps: steps)
        }
    }
}

public import QuarryCore

/// The effect that migrating a database would have.
public struct MigrationPlan: Hashable, Sendable {
    /// A migration that would run.
    public struct Step: Hashable, Sendable {
        /// The migration.
        public let identifier: String

        /// The SQL of the statements it would run that may change the database, in order. Arguments are shown only if
        /// `Configuration.publicStatementArguments` is true.
        public let statements: [String]
    }

    /// Whether the database would be erased first, according to `DatabaseMigrator.eraseDatabaseOnSchemaChange`.
    public let erasesDatabase: Bool

    /// The migrations that would run, in order.
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
    /// Computes the effect of `migrate` on a copy: the database itself is only read.
    ///
    /// ```swift
    /// let plan = try dbPool.read { db in try migrator.plan(db) }
    /// print(plan)
    /// ```
    ///
    /// The copy is a temporary file, in which the migrations really run, with their checks and commits, so that the
    /// plan shows their effect on the existing rows. No other access is blocked meanwhile.
    ///
    /// - parameter db: a connection, in a read.
    /// - parameter targetIdentifier: the last migration to apply; nil for all.
    /// - throws: the errors that migrating would throw.
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

public import QuarryCore

/// The result of `apply`.
public struct AppliedChangeset: Hashable, Sendable {
    /// The number of conflicts that the closure has resolved.
    public let conflictCount: Int

    /// The resolutions of the conflicts, for `Changeset.rebased(on:)`.
    public let rebaseInformation: Changeset.RebaseInformation
}

extension Database {
    /// Applies the changes of a changeset or patchset to the tables of `main`, in a savepoint: all of them, or none.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.apply(changeset) { conflict in
    ///         conflict.kind == .data ? .replace : .omit
    ///     }
    /// }
    /// ```
    ///
    /// Each table needs at least as many columns as it had when the changes were made, and the same primary key.
    /// Triggers and the actions of foreign keys run as usual, so that an indirect change may find its work done. The
    /// changes reach observers as those of statements do. See
    /// <https://www.sqlite.org/session/sqlite3changeset_apply.html>.
    ///
    /// - parameter tables: the tables to change; nil for all tables of the changeset. Other changes are ignored.
    /// - parameter onConflict: resolves a conflict. It can't use the connection. Its error is thrown, and nothing is
    ///   applied.
    /// - returns: information about the conflicts.
    /// - throws: `SQLITE_ABORT` if `onConflict` returns `.abort`; `SQLITE_MISUSE` if it returns `.replace` for a kind
    ///   that allows none; its own error; `SQLITE_SCHEMA` for a table that is missing or has other columns, before
    ///   anything is changed; `SQLITE_READONLY`; an error that says so if this build of SQLite has no session
    ///   extension; other `DatabaseError`s; `CancellationError` in a cancelled task.
    @discardableResult
    public func apply(
        _ changeset: some ChangesetProtocol, toTables tables: [String]? = nil,
        onConflict: (Changeset.Conflict) throws -> Changeset.Conflict.Resolution = { _ in .abort }
    ) throws -> AppliedChangeset {
        try operationWillStart(writes: true, "could not apply a changeset")
        guard !changeset.bytes.isEmpty else {
            return AppliedChangeset(conflictCount: 0, rebaseInformation: Changeset.RebaseInformation())
        }
        try ChangesetCalls.checkAvailable()
        return try withSavepoint { () -> (TransactionCompletion, AppliedChangeset) in
            let plan = try ApplicationPlan(changeset, tables: tables, self)
            return (.commit, try apply(changeset.bytes, plan, onConflict))
        }
    }

    private func apply(
        _ bytes: [UInt8], _ plan: ApplicationPlan,
        _ onConflict: (Changeset.Conflict) throws -> Changeset.Conflict.Resolution
    ) throws -> AppliedChangeset {
        let defersForeignKeys = try Bool.fetchOne(self, sql: "PRAGMA defer_foreign_keys") ?? false
        return try withoutActuallyEscaping(onConflict) { onConflict in
            let conflicts = ConflictResolver(self, onConflict)
            let application = ChangesetApplication(acceptsTable: plan.accepts, resolve: conflicts.resolve)
            var rebase: [UInt8] = []
            let (failure, isAborted) = try changingRows(as: plan.statements) {
                let outcome = ChangesetCalls.apply(pointer, bytes, application)
                rebase = outcome.rebase
                return outcome.code
            } failure: { code in
                conflicts.failure ?? error(code, operation: "could not apply a changeset")
            }
            // SQLite has turned it off.
            if defersForeignKeys, !isAborted { try execute(sql: "PRAGMA defer_foreign_keys = ON") }
            if let failure { throw failure }
            return AppliedChangeset(
                conflictCount: conflicts.count, rebaseInformation: Changeset.RebaseInformation(unchecked: rebase))
        }
    }
}

/// Asks a closure about conflicts, and keeps the error with which an application ends.
private final class ConflictResolver {
    private unowned let db: Database
    private let onConflict: (Changeset.Conflict) throws -> Changeset.Conflict.Resolution

    /// The number of resolved conflicts.
    private(set) var count = 0
    private(set) var failure: (any Error)?

    init(_ db: Database, _ onConflict: @escaping (Changeset.Conflict) throws -> Changeset.Conflict.Resolution) {
        self.db = db
        self.onConflict = onConflict
    }

    func resolve(_ calls: ConflictCalls) -> ChangesetApplication.Answer {
        guard failure == nil else { return .abort }
        guard !ConnectionCalls.isAutocommit(db.pointer) else {
            failure = db.abortedTransactionError()
            return .abort
        }
        do {
            let conflict = Changeset.Conflict(calls)
            return try answer(db.lendingToConflictResolution { try onConflict(conflict) }, conflict)
        } catch {
            failure = error
            return .abort
        }
    }

    private func answer(
        _ resolution: Changeset.Conflict.Resolution, _ conflict: Changeset.Conflict
    ) throws -> ChangesetApplication.Answer {
        switch (resolution, conflict.kind) {
        case (.omit, _):
            count += 1
            return .omit
        case (.replace, .data), (.replace, .conflict):
            count += 1
            return .replace
        case (.replace, _):
            throw DatabaseError.misuse(
                "a conflict of kind \(conflict.kind) can't be resolved by replacing: \(conflict)")
        case (.abort, .foreignKey):
            throw DatabaseError(
                resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
                message: "could not apply a changeset: \(conflict.foreignKeyViolationCount) foreign keys are violated")
        case (.abort, _):
            throw DatabaseError(
                resultCode: .SQLITE_ABORT, message: "could not apply a changeset: conflict of kind \(conflict)")
        }
    }
}

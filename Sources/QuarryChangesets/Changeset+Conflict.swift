public import QuarryCore

extension Changeset {
    /// A change that can't be applied as it is.
    ///
    /// ```swift
    /// try db.apply(changeset) { conflict in
    ///     switch conflict.kind {
    ///     case .data, .conflict: .replace
    ///     case .notFound, .constraint: .omit
    ///     case .foreignKey: .abort
    ///     }
    /// }
    /// ```
    ///
    /// See <https://www.sqlite.org/session/c_changeset_conflict.html>.
    public struct Conflict: Sendable {
        /// The reason of a conflict.
        public enum Kind: Sendable {
            /// A row to be updated or deleted has other values than the change's old values.
            case data
            /// A row to be updated or deleted doesn't exist.
            case notFound
            /// A row to be inserted has the primary key of an existing row.
            case conflict
            /// The change violates a constraint, such as `UNIQUE` of another column, or `CHECK`.
            case constraint
            /// All changes were applied, and foreign keys of the transaction are violated.
            case foreignKey
        }

        /// The answer to a conflict: <https://www.sqlite.org/session/c_changeset_abort.html>.
        public enum Resolution: Sendable {
            /// The change isn't applied. For foreign keys, all changes stay, and so do the violations: SQLite forgets
            /// those of keys that aren't deferred, and commits.
            case omit
            /// The change overwrites or deletes the existing row. For the kinds `data` and `conflict` alone.
            case replace
            /// Nothing is applied: `apply` throws.
            case abort
        }

        /// The reason.
        public let kind: Kind

        /// The change; nil for foreign keys.
        public let change: Change?

        /// The values of the existing row, for the kinds `data` and `conflict`.
        public let existingRow: [DatabaseValue]?

        /// The number of violated foreign keys; 0 for other kinds.
        public let foreignKeyViolationCount: Int
    }
}

extension Changeset.Conflict: CustomStringConvertible {
    /// `data: update player(1, "Arthur") to (_, "Art")`
    public var description: String {
        guard let change else { return "\(kind): \(foreignKeyViolationCount) violations" }
        return "\(kind): \(change)"
    }
}

extension Changeset.Conflict {
    /// A copy of the conflict that SQLite lends.
    init(_ calls: ConflictCalls) {
        let operation = calls.operation
        let columns = 0..<(operation?.columnCount ?? 0)
        change = operation.map { operation in
            Changeset.Change(
                table: operation.table, kind: DatabaseEvent.Kind(rawValue: operation.code) ?? .update,
                isIndirect: operation.isIndirect, primaryKeyPositions: calls.primaryKeyPositions,
                oldValues: columns.map {
                    operation.code == DatabaseEvent.Kind.insert.rawValue ? nil : calls.oldValue($0)
                },
                newValues: columns.map {
                    operation.code == DatabaseEvent.Kind.delete.rawValue ? nil : calls.newValue($0)
                })
        }
        switch calls.kind {
        case .data: kind = .data
        case .notFound: kind = .notFound
        case .conflict: kind = .conflict
        case .constraint: kind = .constraint
        case .foreignKey: kind = .foreignKey
        }
        existingRow = kind == .data || kind == .conflict ? columns.map { calls.existingValue($0) ?? .null } : nil
        foreignKeyViolationCount = calls.foreignKeyViolationCount
    }
}

public import QuarryCore

/// Says which migration could not be applied, and why. The database is as it was before that migration.
///
/// ```swift
/// do {
///     try migrator.migrate(dbPool)
/// } catch let error as DatabaseMigrationError {
///     error.identifier     // "v2"
///     error.databaseError  // SQLite error 1: no such table: player - while executing `…`
/// }
/// ```
public struct DatabaseMigrationError: Error {
    /// Why a migration could not be applied, or counts as applied no more.
    public enum Reason: Sendable {
        /// It threw, left foreign keys without a row, or could not be committed.
        case failed(any Error)

        /// It is applied, and was registered with another checksum then.
        ///
        /// - parameter applied: the checksum it had when it was applied.
        /// - parameter registered: the one it has now.
        case changed(applied: String, registered: String)
    }

    /// The migration.
    public let identifier: String

    /// Why.
    public let reason: Reason

    init(_ identifier: String, _ reason: Reason) {
        self.identifier = identifier
        self.reason = reason
    }

    /// What the migration threw, or what its checks or its commit did; nil for one that has changed.
    public var underlyingError: (any Error)? {
        if case .failed(let error) = reason { error } else { nil }
    }

    /// The underlying error, if it is one of the database.
    public var databaseError: DatabaseError? { underlyingError as? DatabaseError }
}

extension DatabaseMigrationError: CustomStringConvertible {
    /// `migration v2 failed: SQLite error 1: no such table: player - while executing …`
    public var description: String {
        switch reason {
        case .failed(let error):
            "migration \(identifier) failed: \(error)"
        case .changed(let applied, let registered):
            "migration \(identifier) has changed since it was applied: its checksum was \(applied), and is \(registered)"
        }
    }
}

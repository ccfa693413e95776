public import QuarryCore
public import QuarrySQL

/// What a record type's inserts and updates do when they violate a constraint.
///
/// ```swift
/// struct Player: PersistableRecord {
///     static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)
/// }
/// try player.insert(db) // INSERT OR REPLACE INTO player …
/// ```
///
/// An `onConflict` argument of a method counts for its call, whatever the policy says. See
/// <https://www.sqlite.org/lang_conflict.html>.
public struct PersistenceConflictPolicy: Sendable {
    /// For inserts.
    public let conflictResolutionForInsert: Database.ConflictResolution

    /// For updates.
    public let conflictResolutionForUpdate: Database.ConflictResolution

    /// A policy.
    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        conflictResolutionForInsert = insert
        conflictResolutionForUpdate = update
    }
}

extension Database.ConflictResolution {
    /// `OR REPLACE `, or nothing for what SQLite does anyway.
    var insertedSQL: String { self == .abort ? "" : "OR \(rawValue) " }
}

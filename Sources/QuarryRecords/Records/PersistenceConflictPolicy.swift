public import QuarryCore
public import QuarrySQL

/// The conflict resolutions of a record type's inserts and updates.
///
/// ```swift
/// struct Player: PersistableRecord {
///     static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)
/// }
/// try player.insert(db) // INSERT OR REPLACE INTO player …
/// ```
///
/// An `onConflict` argument of a method overrides the policy for its call. See
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
    /// `OR REPLACE `, or an empty text for SQLite's default.
    var insertedSQL: String { self == .abort ? "" : "OR \(rawValue) " }
}

/// A type that names a part of a database: a region, a request, a table.
///
/// ```swift
/// let observation = DatabaseRegionObservation(tracking: Player.all(), SQLRequest("SELECT * FROM team"))
/// ```
public protocol DatabaseRegionConvertible: Sendable {
    /// The part of the database.
    ///
    /// - throws: `DatabaseError`, for example if a table doesn't exist.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// All tables.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

extension DatabaseRegion: DatabaseRegionConvertible {
    /// The region itself.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

/// A type-erased `DatabaseRegionConvertible`.
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible {
    private let base: any DatabaseRegionConvertible

    /// Wraps a value.
    public init(_ region: some DatabaseRegionConvertible) { base = region }

    /// The region of the wrapped value.
    ///
    /// - throws: its error.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try base.databaseRegion(db) }
}

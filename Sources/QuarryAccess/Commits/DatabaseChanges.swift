public import QuarryCore

/// The tables, columns and keys that commits have changed.
///
/// ```swift
/// let changes = commit.changes
/// changes.containsChange(in: "player")         // a row has come, gone or changed
/// changes.containsChange(in: "player", key: 1) // the row with this primary key has
/// changes.changedKeys(in: "player")            // [1: .updated(columns: ["score"]), 7: .inserted]
/// ```
///
/// Keys are known for those who ask for them: see `DatabaseWriter.commits(keys:bufferingAtMost:)`. Names of tables are
/// compared without regard to case. `player` is the table of the main database; the table of an attached database is
/// named with its schema: `archive.player`.
public struct DatabaseChanges: Sendable, Equatable {
    /// The changed tables and columns.
    public private(set) var region: DatabaseRegion

    private var keys: [TableName: KeyChanges]

    /// No changes.
    public init() { self.init(DatabaseRegion(), [:]) }

    init(_ region: DatabaseRegion, _ keys: [TableName: KeyChanges]) {
        self.region = region
        self.keys = keys
    }

    /// Anything may have changed.
    public static let unknown = DatabaseChanges(.fullDatabase, [:])

    /// Whether nothing has changed.
    public var isEmpty: Bool { region.isEmpty }

    /// Whether anything may have changed: other processes don't tell what they change, and a slow reader of commits
    /// has missed some.
    public var isUnknown: Bool { region.isFullDatabase }

    /// Whether a table may have changed.
    public func containsChange(in table: String) -> Bool { region.isModified(table) }

    /// Whether a change may concern a region.
    ///
    /// ```swift
    /// let region = try dbPool.read { db in try Player.select(Column("score")).databaseRegion(db) }
    /// changes.containsChange(in: region)
    /// ```
    public func containsChange(in region: DatabaseRegion) -> Bool { region.isModified(by: self.region) }

    /// Whether a row may have come, gone or changed.
    ///
    /// ```swift
    /// changes.containsChange(in: "country", key: "FR")
    /// ```
    ///
    /// - parameter key: the primary key; the rowid in a table without one.
    /// - returns: true also if the table has changed, and its changed keys aren't known.
    public func containsChange(in table: String, key: RowKey) -> Bool {
        guard containsChange(in: table) else { return false }
        return changedKeys(in: table).map { $0[key] != nil } ?? true
    }

    /// The changed rows of a table, by their primary keys; by their rowids in a table without one.
    ///
    /// - returns: nil if the table has changed, and its changed keys aren't known; an empty dictionary if it hasn't.
    public func changedKeys(in table: String) -> [RowKey: RowChange]? {
        guard containsChange(in: table) else { return [:] }
        return isUnknown ? nil : keys[TableName(path: table)]?.changes
    }

    /// Whether a table has changed, and its changed keys can't be listed: they were not asked for, there are more than
    /// 10,000, or the table was created, altered or dropped.
    public func didClear(_ table: String) -> Bool { changedKeys(in: table) == nil }

    /// Adds later changes.
    public mutating func add(_ later: DatabaseChanges) {
        if isEmpty { return self = later }
        for table in Set(region.tableNames ?? []).union(later.region.tableNames ?? []) {
            let (was, will) = (region.hasTable(table), later.region.hasTable(table))
            if was, will {
                keys[table] = keys[table].flatMap { keys in
                    later.keys[table].map { others in
                        var sum = keys
                        sum.add(others)
                        return sum
                    }
                }
            } else if will {
                keys[table] = later.keys[table]
            }
        }
        region.formUnion(later.region)
        if region.isFullDatabase { keys = [:] }
    }
}

extension DatabaseChanges: CustomStringConvertible {
    /// The region: `player(score)`.
    public var description: String { region.description }
}

extension DatabaseRegion {
    fileprivate func hasTable(_ table: TableName) -> Bool { tableNames?.contains(table) ?? true }

    fileprivate func isModified(_ table: String) -> Bool { isFullDatabase || hasTable(TableName(path: table)) }
}

extension TableName {
    /// The table named `player` or `archive.player`.
    fileprivate init(path: String) {
        if let dot = path.firstIndex(of: ".") {
            self.init(schema: String(path[..<dot]), name: String(path[path.index(after: dot)...]))
        } else {
            self.init(schema: "main", name: path)
        }
    }
}

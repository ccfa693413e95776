/// A part of a database: tables, columns and rows that a statement reads or changes.
///
/// ```swift
/// let region = try dbQueue.read { db in try Player.select(Column("name")).databaseRegion(db) }
/// print(region) // player(name)
/// region.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])) // false
/// ```
///
/// Names of tables and columns are compared without regard to case.
public struct DatabaseRegion: Sendable, Equatable {
    /// The tables of the region; nil for the full database.
    private(set) var tables: [TableName: TableRegion]?

    private init(tables: [TableName: TableRegion]?) { self.tables = tables }

    /// An empty region, which no change modifies.
    public init() { tables = [:] }

    /// All tables.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// A part of a table.
    ///
    /// - parameter columns: nil for all columns, and for rows that come or go. No columns for the presence of rows
    ///   only, as in `SELECT COUNT(*)`.
    /// - parameter rowIDs: nil for all rows.
    package init(_ table: TableName, columns: Set<String>? = nil, rowIDs: Set<Int64>? = nil) {
        tables = rowIDs?.isEmpty == true ? [:] : [table: TableRegion(columns: columns, rowIDs: rowIDs)]
    }

    /// Whether the region has no table.
    public var isEmpty: Bool { tables?.isEmpty ?? false }

    /// Whether the region is the full database.
    public var isFullDatabase: Bool { tables == nil }

    /// The names of the tables; nil for the full database.
    package var tableNames: [TableName]? { tables.map { Array($0.keys) } }

    /// The columns of a table, in lower case; nil for all columns, and for rows that come or go.
    package func columns(of table: TableName) -> Set<String>? { tables?[table]?.columns }

    /// Calls `body` with each table.
    ///
    /// - returns: false for the full database, whose tables aren't listed.
    package func forEachTable(_ body: (TableName) -> Void) -> Bool {
        guard let tables else { return false }
        for name in tables.keys { body(name) }
        return true
    }

    /// The tables of which the region has some rows only.
    package var tablesWithRows: [TableName] {
        tables?.compactMap { $0.value.rowIDs == nil ? nil : $0.key } ?? []
    }

    // MARK: - Combining

    /// The region with the parts of both.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        var result = self
        result.formUnion(other)
        return result
    }

    /// Adds the parts of another region.
    public mutating func formUnion(_ other: DatabaseRegion) {
        guard tables != nil, let others = other.tables else { return tables = nil }
        if tables?.isEmpty ?? false { return tables = others }
        tables?.merge(others) { $0.union($1) }
    }

    /// The parts that both regions have.
    public func intersection(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables else { return other }
        guard let others = other.tables else { return self }
        var result: [TableName: TableRegion] = [:]
        for (name, region) in tables {
            if let shared = others[name].flatMap({ region.intersection($0) }) { result[name] = shared }
        }
        return DatabaseRegion(tables: result)
    }

    /// The region with these rows of its tables only.
    package func restricted(toRows rowIDs: Set<Int64>, of table: TableName) -> DatabaseRegion {
        guard let region = tables?[table] else { return self }
        var result = self
        let rows = TableRegion(columns: nil, rowIDs: rowIDs)
        result.tables?[table] = rowIDs.isEmpty ? nil : region.intersection(rows)
        return result
    }

    /// The region with all columns and rows of its tables.
    package var withWholeTables: DatabaseRegion {
        DatabaseRegion(tables: tables?.mapValues { _ in TableRegion(columns: nil, rowIDs: nil) })
    }

    // MARK: - Changes

    /// Whether a change of another region may change what this region reads.
    ///
    /// - parameter changes: the changed columns of changed rows; all columns where rows have come or gone.
    package func isModified(by changes: DatabaseRegion) -> Bool {
        guard let tables else { return !changes.isEmpty }
        guard let others = changes.tables else { return !tables.isEmpty }
        // The search begins with the shorter list.
        if tables.count <= others.count {
            return tables.contains { name, region in others[name].map { region.overlaps($0) } ?? false }
        }
        return others.contains { name, region in tables[name].map { $0.overlaps(region) } ?? false }
    }

    /// Whether a change of a row may change what this region reads.
    ///
    /// - parameter event: a change that a `TransactionObserver` has received. Its columns aren't known; ask
    ///   `isModified(byEventsOfKind:)` for these.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard let tables else { return true }
        guard let region = tables[TableName(schema: event.databaseName, name: event.tableName)] else {
            return isVirtualTable(ofShadow: event)
        }
        return region.rowIDs?.contains(event.rowID) ?? true
    }

    /// Whether the region has a virtual table whose content the event's table stores: `document` for
    /// `document_content`.
    private func isVirtualTable(ofShadow event: DatabaseEvent) -> Bool {
        guard let end = event.tableName.lastIndex(of: "_"), let tables else { return false }
        let name = TableName(schema: event.databaseName, name: String(event.tableName[..<end]))
        return tables[name] != nil
    }

    /// Whether changes of a kind may change what this region reads.
    ///
    /// ```swift
    /// final class NameObserver: TransactionObserver {
    ///     func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
    ///         region.isModified(byEventsOfKind: eventKind)
    ///     }
    /// }
    /// ```
    ///
    /// An event's kind doesn't name a schema, so it applies to the tables of that name in all schemas.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard let tables else { return true }
        let columns: Set<String>? =
            switch eventKind {
            case .insert, .delete: nil
            case .update(_, let columnNames): Set(columnNames.map(\.lowercasedASCII))
            }
        let name = eventKind.tableName.lowercasedASCII
        return tables.contains { table, region in
            table.name.lowercasedASCII == name && region.overlaps(TableRegion(columns: columns, rowIDs: nil))
        }
    }
}

extension DatabaseRegion: CustomStringConvertible {
    /// `player(id,name)[1,2],team(*)`, `full database`, or `empty`.
    public var description: String {
        guard let tables else { return "full database" }
        guard !tables.isEmpty else { return "empty" }
        return tables.map { "\($0.key)\($0.value)" }.sorted().joined(separator: ",")
    }
}

/// The part of a table in a region.
struct TableRegion: Sendable, Equatable {
    /// The columns in lower case; nil for all, and for rows that come or go.
    var columns: Set<String>?
    /// The rows; nil for all. Not empty.
    var rowIDs: Set<Int64>?

    func union(_ other: TableRegion) -> TableRegion {
        var result = self
        result.columns = columns.flatMap { columns in other.columns.map { columns.union($0) } }
        result.rowIDs = rowIDs.flatMap { rowIDs in other.rowIDs.map { rowIDs.union($0) } }
        return result
    }

    /// The part that both have; nil if they have no row or no column in common.
    func intersection(_ other: TableRegion) -> TableRegion? {
        guard overlaps(other) else { return nil }
        var result = self
        result.columns =
            columns.map { columns in other.columns.map { columns.intersection($0) } ?? columns }
            ?? other.columns
        result.rowIDs = rowIDs.map { rowIDs in other.rowIDs.map { rowIDs.intersection($0) } ?? rowIDs } ?? other.rowIDs
        return result
    }

    func overlaps(_ other: TableRegion) -> Bool {
        if let columns, let others = other.columns, columns.isDisjoint(with: others) { return false }
        if let rowIDs, let others = other.rowIDs, rowIDs.isDisjoint(with: others) { return false }
        return true
    }
}

extension TableRegion: CustomStringConvertible {
    /// `(id,name)[1,2]`, `(*)`
    var description: String {
        let list = columns.map { $0.isEmpty ? "" : $0.sorted().joined(separator: ",") } ?? "*"
        let rows = rowIDs.map { "[" + $0.sorted().map(String.init).joined(separator: ",") + "]" } ?? ""
        return "(\(list))\(rows)"
    }
}

public import Quarry

/// A copy of a database that follows the commits of the other: the changed rows are read anew, by their keys.
///
/// ```swift
/// let replica = try DatabaseReplica(of: reader)
/// let commits = try reader.advance()
/// try replica.apply(commits.changes, from: reader)
/// #expect(try replica.difference(from: reader) == nil)
/// ```
public struct DatabaseReplica: Sendable {
    /// The copy. It has no triggers: their changes are among those that are applied.
    public let copy: DatabaseQueue

    /// The part of a database that was copied.
    public enum Extent: Sendable {
        case rows, wholeDatabase
    }

    /// Copies a database.
    ///
    /// - parameter path: the file of the copy; nil for one in memory.
    public init(of source: some DatabaseReader, path: String? = nil) throws {
        var configuration = Configuration()
        // Cascades are among the changes, too.
        configuration.foreignKeysEnabled = false
        copy =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        try copyAll(from: source)
    }

    /// Copies the whole database.
    public func copyAll(from source: some DatabaseReader) throws {
        try source.backup(to: copy)
        try copy.write { db in
            for name in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
                try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
            }
        }
    }

    /// Applies the changes of commits: afterwards, the copy has the source's rows.
    ///
    /// - parameter changes: the changes since the state that the copy has.
    @discardableResult
    public func apply(_ changes: DatabaseChanges, from source: some DatabaseReader) throws -> Extent {
        guard !changes.isUnknown, try schema(of: source) == schema(of: copy) else {
            try copyAll(from: source)
            return .wholeDatabase
        }
        try source.read { from in
            try copy.write { to in
                for table in try Table.all(in: from) where changes.containsChange(in: table.name) {
                    if let keys = changes.changedKeys(in: table.name) {
                        try table.copyRows(Array(keys.keys), from: from, to: to)
                    } else {
                        try table.copyAllRows(from: from, to: to)
                    }
                }
            }
        }
        return .rows
    }

    /// The first difference between the copy and a database; nil if they are the same.
    public func difference(from source: some DatabaseReader) throws -> String? {
        let (schema, copied) = (try schema(of: source), try schema(of: copy))
        guard schema == copied else { return "the schema is \(schema), and that of the copy \(copied)" }
        return try source.read { from in
            try copy.read { to in
                for table in try Table.all(in: from) {
                    let (rows, copied) = (try table.rows(from), try table.rows(to))
                    for (row, other) in zip(rows, copied) where row != other {
                        return "\(table.name) has \(row), and the copy \(other)"
                    }
                    guard rows.count == copied.count else {
                        return "\(table.name) has \(rows.count) rows, and the copy \(copied.count)"
                    }
                }
                return nil
            }
        }
    }

    /// The SQL of tables and views.
    private func schema(of reader: some DatabaseReader) throws -> [String] {
        try reader.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM sqlite_master
                    WHERE type IN ('table', 'view') AND sql IS NOT NULL ORDER BY name
                    """)
        }
    }
}

/// A table whose rows are copied.
private struct Table {
    let name: String
    /// The expressions of the primary key.
    let key: [String]
    /// Whether the rowid belongs to a row: there is no primary key.
    let copiesRowID: Bool

    /// The tables of a database, without those that SQLite keeps for its own and for a full text.
    static func all(in db: Database) throws -> [Table] {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')")
        return try names.filter { !$0.hasPrefix("sqlite_") }.map { name in
            let key = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", arguments: [name])
            return Table(
                name: name, key: key.isEmpty ? ["rowid"] : key.map(\.quotedDatabaseIdentifier),
                copiesRowID: key.isEmpty)
        }
    }

    /// Copies rows that have changed.
    func copyRows(_ keys: [RowKey], from: Database, to: Database) throws {
        let condition = key.map { "\($0) = ?" }.joined(separator: " AND ")
        // All that have gone go first: a row that comes may have a unique value of one that goes.
        for key in keys {
            try to.execute(sql: "DELETE FROM \(quoted) WHERE \(condition)", arguments: StatementArguments(key.values))
        }
        for key in keys {
            let select = "SELECT \(columns) FROM \(quoted) WHERE \(condition)"
            if let row = try Row.fetchOne(from, sql: select, arguments: StatementArguments(key.values)) {
                try insert(row, to)
            }
        }
    }

    func copyAllRows(from: Database, to: Database) throws {
        try to.execute(sql: "DELETE FROM \(quoted)")
        for row in try Row.fetchAll(from, sql: "SELECT \(columns) FROM \(quoted)") { try insert(row, to) }
    }

    func rows(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(quoted) ORDER BY \(key.joined(separator: ", "))")
    }

    private func insert(_ row: Row, _ db: Database) throws {
        let names = row.columnNames.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let marks = row.columnNames.map { _ in "?" }.joined(separator: ", ")
        // A state that isn't the source's last may have a unique value in a row that has lost it since.
        try db.execute(
            sql: "INSERT OR REPLACE INTO \(quoted) (\(names)) VALUES (\(marks))",
            arguments: StatementArguments(Array(row.databaseValues)))
    }

    private var quoted: String { name.quotedDatabaseIdentifier }

    private var columns: String { copiesRowID ? "rowid, *" : "*" }
}

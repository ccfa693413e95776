import QuarryCore

/// The tables that a changeset changes, checked against a connection.
///
/// SQLite ignores the changes of a table that is missing, or whose columns differ, and only logs that. So the tables
/// are compared before.
struct ApplicationPlan {
    private struct TablePlan {
        var inserts = false
        var deletes = false
        var updatedColumns: Set<Int> = []
    }

    /// The names in lower case; nil for all tables.
    private let names: Set<String>?

    /// Statements that change what the changeset may change, as SQLite's own statements do.
    private(set) var statements: [String] = []

    /// - parameter tables: the tables to change; nil for all.
    init(_ changeset: some ChangesetProtocol, tables: [String]?, _ db: Database) throws {
        names = tables.map { Set($0.map(\.lowercasedASCII)) }
        var plans: [ChangesetReader.Table: TablePlan] = [:]
        var order: [ChangesetReader.Table] = []
        for change in changeset where accepts(change.table) {
            let table = ChangesetReader.Table(name: change.table, primaryKeyPositions: change.primaryKeyPositions)
            if plans[table] == nil { order.append(table) }
            switch change.kind {
            case .insert: plans[table, default: TablePlan()].inserts = true
            case .delete: plans[table, default: TablePlan()].deletes = true
            case .update:
                let columns = change.newValues.indices.filter { change.newValues[$0] != nil }
                plans[table, default: TablePlan()].updatedColumns.formUnion(columns)
            }
        }
        for table in order {
            let columns = try Self.columns(of: table, db)
            guard let plan = plans[table] else { continue }
            let name = "main.\(table.name.quotedDatabaseIdentifier)"
            if plan.inserts { statements.append("INSERT INTO \(name) DEFAULT VALUES") }
            if plan.deletes { statements.append("DELETE FROM \(name)") }
            let names = plan.updatedColumns.sorted().map { columns[$0].quotedDatabaseIdentifier }
            if !names.isEmpty {
                statements.append("UPDATE \(name) SET " + names.map { "\($0) = \($0)" }.joined(separator: ", "))
            }
        }
    }

    /// Whether the changes of a table are to be applied.
    func accepts(_ table: String) -> Bool { names?.contains(table.lowercasedASCII) ?? true }

    /// The columns of a table.
    ///
    /// - throws: `SQLITE_SCHEMA` for a table to which the changes can't be applied.
    private static func columns(of table: ChangesetReader.Table, _ db: Database) throws -> [String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, pk FROM pragma_table_info(?, 'main') ORDER BY cid", arguments: [table.name])
        func mismatch(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_SCHEMA,
                message: "could not apply a changeset: the table \(table.name) \(reason)")
        }
        guard !rows.isEmpty else { throw mismatch("doesn't exist") }
        let columns: [String] = try rows.map { try $0.decode(atIndex: 0) }
        let positions: [Int] = try rows.map { try $0.decode(atIndex: 1) }
        let count = table.primaryKeyPositions.count
        guard columns.count >= count else {
            throw mismatch("has \(columns.count) columns, and the changeset has \(count)")
        }
        // SQLite gives its statistics a primary key of its own.
        guard table.name.lowercasedASCII != "sqlite_stat1" else { return columns }
        guard positions.prefix(count).elementsEqual(table.primaryKeyPositions.map { Int($0) }) else {
            throw mismatch("has another primary key than in the changeset")
        }
        return columns
    }
}

import QuarryCore
import QuarrySQL

extension SchemaReader: QuerySchema {
    func keyColumns(of table: String, _ db: Database) throws -> [String] { try db.primaryKey(table).columns }

    func rowColumn(of table: String, _ db: Database) throws -> String? {
        let key = try db.primaryKey(table)
        if key.columns.count == 1 { return key.columns[0] }
        return key.tableHasRowID ? "rowid" : key.columns.first
    }

    func isViewWithoutKey(_ table: String, _ db: Database) throws -> Bool {
        guard let found = try find(table, in: nil, db), found.kind == .view else { return false }
        let view = DatabaseObjectID(name: found.name, schemaID: .attached(found.schema))
        return try db.schemaSource?.columnsForPrimaryKey(db, inView: view) == nil
    }

    func columnNames(of table: String, _ db: Database) throws -> [String] { try db.columns(in: table).map(\.name) }

    func uniqueKeys(of table: String, _ db: Database) throws -> [[String]] {
        // A virtual table has no indexes; a view has only the key from a schema source.
        guard let key = try? db.primaryKey(table) else { return [] }
        guard try db.tableExists(table) else { return [key.columns] }
        let indexes = try db.indexes(on: table).filter { $0.isUnique && !$0.isPartial }.map(\.columns)
        var keys = [key.columns]
        if key.tableHasRowID, key.columns != ["rowid"] { keys.append(["rowid"]) }
        return keys + indexes
    }

    func references(from table: String, _ db: Database) throws -> [TableReference] {
        try db.foreignKeys(on: table).map { key in
            TableReference(
                destination: key.destinationTable,
                columns: key.mapping.map { (origin: $0.origin, destination: $0.destination) })
        }
    }
}

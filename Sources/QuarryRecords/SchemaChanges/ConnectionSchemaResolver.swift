import QuarryCore
import QuarrySQL

/// Resolves, for a connection, the facts that the rendering of a definition needs.
package struct ConnectionSchemaResolver: SchemaResolver {
    let db: Database

    package func text(of sql: SQL) throws -> String {
        let (text, arguments) = try sql.build(db)
        return try SQLLiteral.inlining(arguments, into: text) { value in
            try SQLLiteral.text(of: value, readsExactly: readsExactly, isUTF8: isUTF8)
        }
    }

    private func readsExactly(_ text: String, _ value: Double) throws -> Bool {
        try Double.fetchOne(db.makeStatement(sql: "SELECT \(text)")) == value
    }

    private func isUTF8() throws -> Bool {
        try String.fetchOne(db.makeStatement(sql: "PRAGMA encoding")) == "UTF-8"
    }

    package var checksForeignKeys: Bool { db.checksForeignKeys }

    package func declaredType(_ type: SQLColumnType) -> String {
        guard db.route != nil else { return type.rawValue }
        // A node can't carry the values of such columns. NUMERIC has the same affinity, so the same values are stored:
        // https://www.sqlite.org/datatype3.html#determination_of_column_affinity
        switch type.rawValue.uppercased() {
        case "BOOLEAN", "DATE", "DATETIME", "TIMESTAMP": return "NUMERIC"
        default: return type.rawValue
        }
    }

    package func tableExists(_ name: String, in schemaName: String?) throws -> Bool {
        try db.tableExists(name, in: schemaName)
    }

    package func attachedSchema(of table: String) throws -> String? {
        guard let found = try db.schema.find(table, in: nil, db) else { return nil }
        return ["main", "temp"].contains { found.schema.isSameName(as: $0) } ? nil : found.schema
    }

    package func hasRows(in table: String, _ schemaName: String?) throws -> Bool {
        let exists = "SELECT EXISTS (SELECT 1 FROM \(db.qualified(table, schemaName)))"
        return try Bool.fetchOne(db.makeStatement(sql: exists)) ?? false
    }

    package func primaryKeyColumns(of table: String, in schemaName: String?) throws -> [ReferencedColumn] {
        let key = try db.primaryKey(table, in: schemaName)
        // A hidden rowid can't be referenced: https://www.sqlite.org/foreignkeys.html#fk_indexes
        if key.isRowID, key.rowIDColumn == nil { return [] }
        let columns = try db.columns(in: table, in: schemaName)
        return key.columns.map { name in
            let column = columns.first { $0.name.isSameName(as: name) }
            return ReferencedColumn(name: name, type: column?.columnType)
        }
    }
}

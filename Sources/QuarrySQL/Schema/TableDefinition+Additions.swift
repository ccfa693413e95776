import QuarryCore

extension TableDefinition {
    /// The number of primary keys that are defined: more than one is a mistake.
    package var primaryKeyCount: Int {
        let columns = items.count { if case .column(let column, _) = $0 { column.primaryKey != nil } else { false } }
        return columns + primaryKeys.count + (primaryKeyBody == nil ? 0 : 1)
    }

    /// The statements that add a column to the existing table: the column, and its index.
    package func additions(of column: String, _ resolver: some SchemaResolver) throws -> [String] {
        let definitions = items.compactMap { item -> ColumnDefinition? in
            guard case .column(let definition, _) = item, definition.name == column else { return nil }
            return definition
        }
        let keys = ReferencedKeys(resolver: resolver, table: name, schemaName: schemaName, ownKey: .inDatabase)
        let table = QualifiedName(name: name, schemaName: schemaName).sql
        return try definitions.map { "ALTER TABLE \(table) ADD COLUMN \(try $0.sql(keys))" }
    }
}

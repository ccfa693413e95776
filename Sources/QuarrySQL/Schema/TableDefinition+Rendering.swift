import QuarryCore

extension TableDefinition {
    /// The SQL of a table.
    package struct Rendering {
        /// `CREATE TABLE …`
        package var table: String
        /// The indexes of the definition, in order.
        package var indexes: [IndexDefinition]
    }

    /// The definition in SQL.
    ///
    /// - parameter name: the name in CREATE TABLE, if the table receives its own name later.
    package func render(_ resolver: some SchemaResolver, as temporaryName: String? = nil) throws -> Rendering {
        var keys = ReferencedKeys(resolver: resolver, table: name, schemaName: schemaName, ownKey: .unknown)
        keys.ownKey = ownKey
        var parts: [String] = []
        var composite: [ForeignKey] = []
        var compositeIndexes: [IndexDefinition] = []
        var columnIndexes: [IndexDefinition] = []
        var bodyColumns: [String] = []

        func add(_ column: ColumnDefinition, isInPrimaryKey: Bool) throws {
            parts.append(try column.sql(keys, isNotNull: isInPrimaryKey))
            if isInPrimaryKey { bodyColumns.append(column.name) }
            if column.isIndexed {
                columnIndexes.append(index("\(name)_on_\(column.name)", on: [column.name], isUnique: false))
            }
        }

        for item in items {
            switch item {
            case .column(let column, let isInPrimaryKey):
                try add(column, isInPrimaryKey: isInPrimaryKey)
            case .belongsTo(let definition, let isInPrimaryKey):
                let key = try ResolvedForeignKey(definition, keys)
                for column in key.columns { try add(column, isInPrimaryKey: isInPrimaryKey) }
                if let constraint = key.constraint { composite.append(constraint) }
                if let columns = key.index {
                    let name = IndexDefinition.defaultName(on: name, columns: columns.columns)
                    compositeIndexes.append(index(name, on: columns.columns, isUnique: columns.isUnique))
                }
            case .sql(let sql):
                parts.append(try resolver.text(of: sql))
            }
        }
        if let primaryKeyBody {
            parts.append("PRIMARY KEY (\(bodyColumns.quotedList))" + primaryKeyBody.conflictResolution.clause)
        }
        for key in primaryKeys {
            parts.append("PRIMARY KEY (\(key.columns.quotedList))" + key.conflictResolution.clause)
        }
        for key in uniqueKeys { parts.append("UNIQUE (\(key.columns.quotedList))" + key.conflictResolution.clause) }
        for key in composite + foreignKeys {
            let destination = try keys.columns(of: key.reference, from: key.columns)
            parts.append("FOREIGN KEY (\(key.columns.quotedList)) " + key.reference.clause(columns: destination))
        }
        for check in checks { parts.append("CHECK (\(try resolver.text(of: check)))") }
        for constraint in constraints { parts.append(try resolver.text(of: constraint)) }

        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " TABLE"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " " + QualifiedName(name: temporaryName ?? name, schemaName: schemaName).sql
        sql += " (" + parts.joined(separator: ", ") + ")"
        let suffixes = [(TableOptions.strict, "STRICT"), (.withoutRowID, "WITHOUT ROWID")]
        let suffix = suffixes.filter { options.contains($0.0) }.map(\.1).joined(separator: ", ")
        if !suffix.isEmpty { sql += " " + suffix }
        return Rendering(table: sql, indexes: compositeIndexes + columnIndexes)
    }

    private func index(_ indexName: String, on columns: [String], isUnique: Bool) -> IndexDefinition {
        var options: IndexOptions = isUnique ? .unique : []
        if self.options.contains(.ifNotExists) { options.insert(.ifNotExists) }
        return IndexDefinition(
            name: indexName, schemaName: schemaName, table: name, columns: columns, options: options)
    }

    /// Whether a column or a constraint is defined in SQL, which isn't parsed here.
    private var hasUnknownParts: Bool {
        items.contains { if case .sql = $0 { true } else { false } } || !constraints.isEmpty
    }

    /// The table's own primary key, for its references to itself.
    private var ownKey: ReferencedKeys.OwnKey {
        var columns: [ColumnDefinition] = []
        var body: [ColumnDefinition] = []
        for item in items {
            guard case .column(let column, let isInPrimaryKey) = item else { continue }
            columns.append(column)
            if isInPrimaryKey { body.append(column) }
        }
        func referenced(_ column: ColumnDefinition) -> ReferencedColumn {
            ReferencedColumn(name: column.name, type: column.type)
        }
        if let column = columns.first(where: { $0.primaryKey != nil }) { return .columns([referenced(column)]) }
        if primaryKeyBody != nil { return .columns(body.map(referenced)) }
        if let key = primaryKeys.first {
            return .columns(
                key.columns.map { name in
                    columns.first { $0.name.isSameName(as: name) }.map(referenced)
                        ?? ReferencedColumn(name: name, type: nil)
                })
        }
        return hasUnknownParts ? .unknown : .columns([])
    }
}

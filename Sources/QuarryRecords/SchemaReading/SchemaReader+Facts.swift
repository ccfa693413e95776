import QuarryCore

extension SchemaReader {
    /// The columns of a table or view.
    package func columns(of table: Found, _ db: Database) throws -> [ColumnInfo] {
        try reading(db, schema: table.schema) { known in try columns(of: table.name, known, db) }
    }

    private func columns(of name: String, _ known: KnownSchema, _ db: Database) throws -> [ColumnInfo] {
        try known.fact(\.columns, of: name) {
            try Self.columns(named: name, schema: known.name, db)
        }
    }

    /// The columns of a table that may not be listed in the schema, such as `sqlite_master` or `json_each`.
    static func columns(named name: String, schema: String, _ db: Database) throws -> [ColumnInfo] {
        try pragma("table_xinfo", name, schema, db) { row in
            let hidden: Int = row["hidden"]
            // 1: a hidden column of a virtual table.
            return hidden == 1 ? nil : try ColumnInfo(row: row)
        }
    }

    /// The primary key of a table.
    package func primaryKey(of table: Found, _ db: Database) throws -> PrimaryKeyInfo {
        try reading(db, schema: table.schema) { known in
            try known.fact(\.primaryKey, of: table.name) {
                let columns = try columns(of: table.name, known, db)
                let key = columns.filter { $0.primaryKeyIndex > 0 }.sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }
                let withoutRowID = try listing(of: table, db)?.isWithoutRowID ?? false
                if key.isEmpty { return try hiddenRowID(of: table, columns) }
                // INTEGER PRIMARY KEY DESC isn't the rowid, and has an index, like other keys:
                // https://www.sqlite.org/lang_createtable.html#rowids_and_the_integer_primary_key
                if key.count == 1, !withoutRowID, key[0].type.isSameName(as: "integer"),
                    try !indexes(of: table.name, known, db).contains(where: { $0.origin == .primaryKeyConstraint })
                {
                    return PrimaryKeyInfo(columns: [key[0].name], isRowID: true, rowIDColumn: key[0].name)
                }
                return PrimaryKeyInfo(columns: key.map(\.name), isRowID: false, tableHasRowID: !withoutRowID)
            }
        }
    }

    /// The rowid as the key, by a name that no column hides: <https://www.sqlite.org/lang_createtable.html#rowid>.
    private func hiddenRowID(of table: Found, _ columns: [ColumnInfo]) throws -> PrimaryKeyInfo {
        guard let name = Self.rowIDName(besides: columns) else {
            throw DatabaseError(
                message: "table \(table.name) has no primary key, and its columns hide its rowid")
        }
        return PrimaryKeyInfo(columns: [name], isRowID: true)
    }

    /// A name of the rowid that no column hides; nil if there is none.
    static func rowIDName(besides columns: [ColumnInfo]) -> String? {
        let names = Set(columns.map(\.name).schemaNames)
        return RowID.names.first { !names.contains(SchemaName($0)) }
    }

    /// The indexes of a table, without indexes on expressions.
    package func indexes(of table: Found, _ db: Database) throws -> [IndexInfo] {
        try reading(db, schema: table.schema) { known in try indexes(of: table.name, known, db) }
    }

    private func indexes(of name: String, _ known: KnownSchema, _ db: Database) throws -> [IndexInfo] {
        try known.fact(\.indexes, of: name) {
            let rows: [Row] = try Self.pragma("index_list", name, known.name, db) { $0.copy() }
            return try rows.compactMap { row in
                let terms: [IndexInfo.Term] = try Self.pragma("index_xinfo", row["name"], known.name, db) { row in
                    // SQLite adds columns to find the row, which aren't part of the key.
                    (row["key"] as Bool) ? IndexInfo.Term(row) : nil
                }
                return IndexInfo(row, terms: terms)
            }
        }
    }

    /// The foreign keys of a table.
    func foreignKeys(of table: Found, _ db: Database) throws -> [ForeignKeyInfo] {
        try reading(db, schema: table.schema) { known in
            try known.fact(\.foreignKeys, of: table.name) {
                let rows: [Row] = try Self.pragma("foreign_key_list", table.name, known.name, db) { $0.copy() }
                var keys: [ForeignKeyInfo] = []
                for row in rows {
                    if keys.last?.id != row["id"] { keys.append(ForeignKeyInfo(row)) }
                    keys[keys.count - 1].mapping.append((origin: row["from"], destination: row["to"] ?? ""))
                }
                for index in keys.indices where keys[index].mapping.contains(where: { $0.destination.isEmpty }) {
                    // The key references the destination's primary key.
                    let destination = keys[index].destinationTable
                    guard let found = try find(destination, in: known.name, db) else {
                        throw db.noSuchTable(destination, in: known.name)
                    }
                    let columns = try primaryKey(of: found, db).columns
                    for position in keys[index].mapping.indices where position < columns.count {
                        keys[index].mapping[position].destination = columns[position]
                    }
                }
                return keys
            }
        }
    }

    /// The rows of a PRAGMA for one table or index.
    package static func pragma<T>(
        _ pragma: String, _ name: String, _ schema: String, _ db: Database, _ body: (Row) throws -> T?
    ) throws -> [T] {
        let sql = "PRAGMA \(schema.quotedDatabaseIdentifier).\(pragma)(\(name.quotedDatabaseIdentifier))"
        return try db.untraced {
            let rows = try Row.fetchCursor(db.makeStatement(sql: sql))
            var values: [T] = []
            while let row = try rows.next() {
                if let value = try body(row) { values.append(value) }
            }
            return values
        }
    }
}

extension SchemaReader {
    /// An entry of SQLite's list of tables: <https://www.sqlite.org/pragma.html#pragma_table_list>.
    package struct Listing {
        /// `table`, `view`, `virtual` or `shadow`.
        var type: String
        package var isWithoutRowID: Bool
        package var isStrict: Bool
    }

    package func listing(of table: Found, _ db: Database) throws -> Listing? {
        let name = SchemaName(table.name)
        let schema = SchemaName(table.schema)
        let listings: [Listing] = try Self.pragma("table_list", table.name, table.schema, db) { row in
            guard SchemaName(row["name"]) == name, SchemaName(row["schema"]) == schema else { return nil }
            return Listing(type: row["type"], isWithoutRowID: row["wr"], isStrict: row["strict"])
        }
        return listings.first
    }

    /// The tables with a foreign key to a table, possibly including itself.
    func tables(referringTo table: Found, _ db: Database) throws -> [String] {
        let name = SchemaName(table.name)
        return try reading(db, schema: table.schema) { known in
            try known.tableNames.sorted().filter { child in
                let destinations: [SchemaName] = try Self.pragma("foreign_key_list", child, known.name, db) {
                    SchemaName($0["table"])
                }
                return destinations.contains(name)
            }
        }
    }
}

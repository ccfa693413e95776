import Quarry

/// The schema of a database.
struct Schema {
    /// Tables and views, in the order in which they were created.
    var tables: [SchemaTable]

    /// The objects that have SQL, in the order of creation. The tables of SQLite, of the library, and of the
    /// modules behind virtual tables are left out.
    var objects: [SchemaObject]

    /// - parameter rows: how many rows of each table are looked at; nil for all.
    init(_ db: Database, rows: Int?) throws {
        var kinds: [String: String] = [:]
        let listed = try Row.fetchCursor(db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
        while let row = try listed.next() { kinds[(row[0] as String).sqlName] = row[1] }
        tables = []
        objects = []
        let all = try Row.fetchAll(
            db, sql: "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_master ORDER BY rowid")
        for row in all {
            let object = SchemaObject(type: row[0], name: row[1], table: row[2], sql: row[3])
            let kind = kinds[object.table.sqlName]
            guard !Database.isSQLiteInternalTable(object.table), !Database.isGRDBInternalTable(object.table) else {
                continue
            }
            if kind != "shadow", !object.sql.isEmpty { objects.append(object) }
            switch (object.type, kind) {
            case ("table", "shadow"): tables.append(SchemaTable(name: object.name, kind: .shadow))
            case ("table", "virtual"): tables.append(SchemaTable(name: object.name, kind: .virtual))
            case ("table", _): tables.append(try SchemaTable(table: object.name, db, rows: rows))
            case ("view", _): tables.append(SchemaTable(view: object.name, db, rows: rows))
            default: break
            }
        }
        resolveReferences()
    }

    /// A key that names no columns refers to the primary key.
    private mutating func resolveReferences() {
        for table in tables.indices {
            for key in tables[table].foreignKeys.indices
            where tables[table].foreignKeys[key].destinationColumns == nil {
                let primaryKey = self.table(tables[table].foreignKeys[key].table)?.primaryKey ?? []
                tables[table].foreignKeys[key].destinationColumns = primaryKey.isEmpty ? nil : primaryKey
            }
        }
    }

    func table(_ name: String) -> SchemaTable? { tables.first { $0.name.isSameSQLName(as: name) } }
}

extension SchemaTable {
    init(table name: String, _ db: Database, rows: Int?) throws {
        self.init(name: name, kind: .table)
        columns = try Self.columns(of: name, db)
        let keyColumns = try db.columns(in: name, in: "main").filter { $0.primaryKeyIndex > 0 }
        primaryKey = keyColumns.sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }.map(\.name)
        if !primaryKey.isEmpty {
            let key = try db.primaryKey(name, in: "main")
            rowIDColumn = key.rowIDColumn
            uniqueKeys.append(primaryKey)
        }
        uniqueKeys += try db.indexes(on: name, in: "main").filter { $0.isUnique && !$0.isPartial }.map(\.columns)
        foreignKeys = try Self.foreignKeys(of: name, db)
        try look(db, rows)
    }

    init(view name: String, _ db: Database, rows: Int?) {
        self.init(name: name, kind: .view)
        do {
            columns = try Self.columns(of: name, db)
            try look(db, rows)
        } catch {
            problem = (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    private static func columns(of name: String, _ db: Database) throws -> [SchemaColumn] {
        try db.columns(in: name, in: "main").map { column in
            SchemaColumn(
                name: column.name, type: column.type, isNotNull: column.isNotNull,
                defaultSQL: column.defaultValueSQL, isGenerated: column.generation != nil)
        }
    }

    static func foreignKeys(of name: String, _ db: Database) throws -> [SchemaForeignKey] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT id, "table", "from", "to", on_delete, on_update FROM pragma_foreign_key_list(?, 'main') \
                ORDER BY id DESC, seq
                """, arguments: [name])
        var keys: [(id: Int, key: SchemaForeignKey)] = []
        for row in rows {
            if keys.last?.id != row[0] {
                keys.append(
                    (
                        id: row[0],
                        key: SchemaForeignKey(
                            table: row[1], columns: [], destinationColumns: nil, onDelete: row[4], onUpdate: row[5])
                    ))
            }
            keys[keys.count - 1].key.columns.append(row[2])
            if let destination: String = row[3] {
                keys[keys.count - 1].key.destinationColumns =
                    (keys[keys.count - 1].key.destinationColumns ?? [])
                    + [destination]
            }
        }
        return keys.map(\.key)
    }

    /// Looks at rows.
    private mutating func look(_ db: Database, _ limit: Int?) throws {
        let end = limit.map { " LIMIT \($0)" } ?? ""
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM main.\(name.quotedDatabaseIdentifier)\(end)")
        while let row = try rows.next() {
            for index in columns.indices {
                columns[index].contents.note(
                    try row.decode(DatabaseValue.self, atIndex: index), mayBeDate: columns[index].isDeclaredAsDate)
            }
        }
    }
}

import QuarryCore
import QuarrySQL

/// The replacement of a table's definition, in the steps of <https://www.sqlite.org/lang_altertable.html#otheralter>.
struct TableRebuild {
    private let db: Database
    private let table: SchemaReader.Found
    private let expressions: [SchemaName: (column: String, value: SQL)]
    let definition: TableDefinition

    /// The name of the new table, until the old one is dropped.
    private let newName: String

    init(
        _ db: Database, table name: String, in schemaName: String?, options: TableOptions,
        filling expressions: [String: SQL]
    ) throws {
        self.db = db
        table = try db.schema.table(name, in: schemaName, db)
        let type = try db.schema.listing(of: table, db)?.type
        guard type == "table", !Database.isSQLiteInternalTable(table.name) else {
            throw DatabaseError(message: "table \(table.name) can't be rebuilt: it isn't an ordinary table")
        }
        self.expressions = Dictionary(
            expressions.map { (SchemaName($0.key), (column: $0.key, value: $0.value)) }, uniquingKeysWith: { $1 })
        definition = TableDefinition(name: table.name, schemaName: table.schema, options: options)
        var number = 0
        var candidate: String
        repeat {
            candidate = "quarry_rebuild_\(table.name)" + (number == 0 ? "" : "_\(number)")
            number += 1
        } while try db.schema.find(candidate, in: table.schema, db) != nil
        newName = candidate
    }

    func run() throws {
        guard !db.hasDeferredForeignKeyViolations else {
            throw DatabaseError.misuse("table \(table.name) can't be rebuilt while deferred foreign keys are violated")
        }
        let rendering = try definition.render(db.schemaResolver, as: newName)
        let checksForeignKeys = db.checksForeignKeys
        try db.withoutForeignKeysAndReferences {
            let wasSound = isSchemaSound()
            let dependents = try Dependents(db, of: table)
            let sequence = try self.sequence()
            try db.execute(sql: rendering.table)
            try nameErrors { try copyRows() }
            try db.execute(sql: "DROP TABLE \(db.qualified(table.name, table.schema))")
            try db.execute(
                sql:
                    "ALTER TABLE \(db.qualified(newName, table.schema)) RENAME TO \(table.name.quotedDatabaseIdentifier)"
            )
            if let sequence, SQLWords.contains("AUTOINCREMENT", in: rendering.table) { try set(sequence) }
            try dependents.restore(db, except: rendering.indexes.map(\.name))
            for index in rendering.indexes { try db.execute(sql: index.sql(db.schemaResolver)) }
            if wasSound { try checkSchema() }
            if checksForeignKeys { try checkForeignKeys() }
        }
    }

    // MARK: - Rows

    private func copyRows() throws {
        let oldColumns = try db.columns(in: table.name, in: table.schema)
        let newColumns = try db.columns(in: newName, in: table.schema)
        let oldNames = Dictionary(
            oldColumns.map { (SchemaName($0.name), $0.name) }, uniquingKeysWith: { first, _ in first })
        var targets: [String] = []
        var sources: [SQL] = []
        var unused = expressions
        for column in newColumns {
            let name = SchemaName(column.name)
            if let expression = unused.removeValue(forKey: name) {
                guard column.generation == nil else {
                    throw DatabaseError.misuse("column \(column.name) is generated, and can't be filled")
                }
                targets.append(column.name)
                sources.append(expression.value)
            } else if column.generation == nil, let oldName = oldNames[name] {
                targets.append(column.name)
                sources.append(SQL(sql: oldName.quotedDatabaseIdentifier))
            }
        }
        if let name = unused.values.map(\.column).min() {
            throw DatabaseError.misuse("table \(table.name) has no column \(name) to be filled")
        }
        // The new table still has its temporary name.
        let newTable = SchemaReader.Found(schema: table.schema, name: newName, kind: .table)
        if let old = try rowID(of: table, oldColumns), let new = try rowID(of: newTable, newColumns),
            !targets.schemaNames.contains(SchemaName(new))
        {
            targets.append(new)
            sources.append(SQL(sql: old.quotedDatabaseIdentifier))
        }
        guard !targets.isEmpty else { return }
        let list = targets.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let insert = "INSERT INTO \(db.qualified(newName, table.schema)) (\(list)) SELECT "
        let from = " FROM \(db.qualified(table.name, table.schema))"
        try db.execute(literal: SQL(sql: insert) + sources.joined(separator: ", ") + SQL(sql: from))
    }

    /// A name of the rowid in SQL; nil if there is none.
    private func rowID(of table: SchemaReader.Found, _ columns: [ColumnInfo]) throws -> String? {
        if try db.schema.listing(of: table, db)?.isWithoutRowID ?? false { return nil }
        let names = Set(columns.map(\.name).schemaNames)
        if let name = RowID.names.first(where: { !names.contains(SchemaName($0)) }) {
            // An alias of the rowid is better, because it may be filled.
            let key = try? db.schema.primaryKey(of: table, db)
            return key?.rowIDColumn ?? name
        }
        return try? db.schema.primaryKey(of: table, db).rowIDColumn
    }

    /// Makes errors name the table instead of its temporary name.
    private func nameErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            let message = error.message?.split(separator: newName, omittingEmptySubsequences: false)
                .joined(separator: table.name)
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: message, sql: error.sql, arguments: error.arguments,
                publicStatementArguments: error.publicStatementArguments)
        }
    }

    // MARK: - The sequence of AUTOINCREMENT

    private var sequenceTable: String { db.qualified("sqlite_sequence", table.schema) }

    /// The last number of the sequence: <https://www.sqlite.org/autoinc.html>.
    private func sequence() throws -> Int64? {
        guard try db.schema.find("sqlite_sequence", in: table.schema, db) != nil else { return nil }
        return try Int64.fetchOne(
            db, sql: "SELECT seq FROM \(sequenceTable) WHERE name = ?", arguments: [table.name])
    }

    private func set(_ sequence: Int64) throws {
        try db.execute(
            sql: "UPDATE \(sequenceTable) SET seq = max(seq, ?) WHERE name = ?", arguments: [sequence, table.name])
        if db.changesCount == 0 {
            try db.execute(
                sql: "INSERT INTO \(sequenceTable) (name, seq) VALUES (?, ?)", arguments: [table.name, sequence])
        }
    }

    // MARK: - Checks

    /// Throws if a view or trigger doesn't fit the schema.
    ///
    /// SQLite checks all of them when it renames a table, so this creates and drops a temporary table.
    private func checkSchema() throws {
        let first = "quarry_check_\(newName)"
        try db.inSavepoint {
            try db.execute(sql: "CREATE TABLE \(db.qualified(first, table.schema)) (a)")
            try db.withCheckedRenaming {
                try db.execute(
                    sql: "ALTER TABLE \(db.qualified(first, table.schema)) RENAME TO "
                        + "\(first + "_renamed")".quotedDatabaseIdentifier)
            }
            return .rollback
        }
    }

    private func isSchemaSound() -> Bool {
        do {
            try checkSchema()
            return true
        } catch {
            return false
        }
    }

    private func checkForeignKeys() throws {
        try db.checkForeignKeys(in: table.name, in: table.schema)
        for child in try db.schema.tables(referringTo: table, db) {
            try db.checkForeignKeys(in: child, in: table.schema)
        }
    }
}

/// The indexes and triggers of a table, which are dropped with it.
private struct Dependents {
    private struct Object {
        var schema: String
        var name: String
        var sql: String
    }

    private let indexes: [Object]
    private let triggers: [Object]

    init(_ db: Database, of table: SchemaReader.Found) throws {
        func objects(_ schema: String, _ condition: SQL) throws -> [Object] {
            let (sql, arguments) = try SQL(
                elements: [
                    .sql(
                        "SELECT name, sql FROM \(db.qualified("sqlite_master", schema)) WHERE sql IS NOT NULL AND ",
                        StatementArguments())
                ] + condition.elements + [.sql(" ORDER BY rowid", StatementArguments())]
            ).build(db)
            return try Row.fetchAll(db, sql: sql, arguments: arguments)
                .map { Object(schema: schema, name: $0[0], sql: $0[1]) }
        }
        let isOfTable: SQL = "tbl_name = \(table.name) COLLATE NOCASE"
        indexes = try objects(table.schema, "type = 'index' AND " + isOfTable)
        // A temporary trigger may belong to a table with that name in another schema: only the table's triggers are
        // dropped.
        let temporary = table.schema == "temp" ? [] : try objects("temp", "type = 'trigger' AND " + isOfTable)
        triggers = try objects(table.schema, "type = 'trigger' AND " + isOfTable) + temporary
    }

    /// Creates the dropped objects again.
    func restore(_ db: Database, except names: [String]) throws {
        let names = Set(names.schemaNames)
        for index in indexes where !names.contains(SchemaName(index.name)) {
            try restore(index, ["CREATE INDEX ", "CREATE UNIQUE INDEX "], db)
        }
        for trigger in triggers where try !db.triggerExists(trigger.name, in: trigger.schema) {
            try restore(trigger, ["CREATE TRIGGER "], db)
        }
    }

    /// The schema stores the SQL without the schema's name, with one of these beginnings.
    private func restore(_ object: Object, _ beginnings: [String], _ db: Database) throws {
        guard let beginning = beginnings.first(where: { object.sql.hasPrefix($0) }) else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "unexpected SQL of \(object.name) in the schema", sql: object.sql)
        }
        let rest = object.sql.dropFirst(beginning.count)
        try db.execute(sql: "\(beginning)\(object.schema.quotedDatabaseIdentifier).\(rest)")
    }
}

import QuarryCore

/// Reads a connection's schema, and caches the facts as long as they are valid.
///
/// Changes by this connection are counted (`Database.schemaChangeCount`). Changes by others show in SQLite's number of
/// the schema's state. The number is read when a fact is requested and another connection may have written since: at
/// most once in a transaction, and not at all if the file hasn't changed.
package final class SchemaReader: ConnectionAttachment {
    package static let keepsStatements = false

    private var schemas: [String: KnownSchema] = [:]
    private var changeCount = -1

    /// The schemas, in the order of a name's lookup.
    private var order: [String]?

    /// Whether the connection has a function for REGEXP.
    var knowsRegularExpressions = false

    /// The replacement for the configuration's source.
    var source: SchemaSourceOverride?

    /// A source set by `withSchemaSource`.
    struct SchemaSourceOverride {
        var source: (any DatabaseSchemaSource)?
    }

    func forget() {
        schemas = [:]
        order = nil
    }

    // MARK: - Schemas

    /// The schemas, in the order of a name's lookup.
    func lookupOrder(_ db: Database) throws -> [String] {
        noteChanges(db)
        if let order { return order }
        let rows = try db.untraced { try Row.fetchAll(db.cachedStatement(sql: "PRAGMA database_list")) }
        let attached = rows.compactMap { row -> String? in
            let number: Int = row[0]
            // 0 is main, 1 is temp.
            return number > 1 ? row[1] : nil
        }
        order = ["temp", "main"] + attached
        return ["temp", "main"] + attached
    }

    /// The name of a schema as it was attached.
    ///
    /// - throws: `DatabaseError` if the schema doesn't exist.
    func schema(named name: String, _ db: Database) throws -> String {
        guard let schema = try lookupOrder(db).first(where: { $0.isSameName(as: name) }) else {
            throw DatabaseError(message: "no such schema: \(name)")
        }
        return schema
    }

    // MARK: - Reading

    /// Calls `body` with the known facts about a schema, in its current state.
    ///
    /// - parameter body: may read more facts; it runs again if another connection has changed the schema meanwhile.
    func reading<T>(_ db: Database, schema: String, _ body: (KnownSchema) throws -> T) throws -> T {
        try db.untraced { try readingCurrent(db, schema: schema, body) }
    }

    private func readingCurrent<T>(
        _ db: Database, schema: String, _ body: (KnownSchema) throws -> T
    ) throws -> T {
        while true {
            let known = try current(db, schema: schema)
            let result = Result { try body(known) }
            guard known.hasRead else { return try result.get() }
            // In a transaction, all facts were read from one state.
            if try isPinned(db, schema: schema) || db.schemaVersion(of: schema) == known.version {
                known.hasRead = false
                return try result.get()
            }
            schemas[schema] = nil
        }
    }

    private func current(_ db: Database, schema: String) throws -> KnownSchema {
        noteChanges(db)
        if let known = schemas[schema] {
            if schema == "temp" { return known }
            let dataVersion = db.pinnedDataVersion(schema: schema)
            if let dataVersion, dataVersion == known.dataVersion { return known }
            if try db.schemaVersion(of: schema) == known.version {
                known.dataVersion = db.pinnedDataVersion(schema: schema)
                return known
            }
            schemas[schema] = nil
            // Statements prepared earlier have other columns now.
            try db.noteForeignSchemaChanges()
        }
        let known = try KnownSchema(db, name: schema, version: db.schemaVersion(of: schema))
        known.dataVersion = db.pinnedDataVersion(schema: schema)
        schemas[schema] = known
        return known
    }

    private func isPinned(_ db: Database, schema: String) -> Bool {
        schema == "temp" || (db.isInsideTransaction && db.pinnedDataVersion(schema: schema) != nil)
    }

    private func noteChanges(_ db: Database) {
        guard changeCount != db.schemaChangeCount else { return }
        forget()
        changeCount = db.schemaChangeCount
    }

    // MARK: - Looking up

    /// A table or view that was found.
    package struct Found {
        package var schema: String
        package var name: String
        package var kind: KnownSchema.Kind
    }

    /// Finds a table or view: in one schema, or in all, in SQLite's order.
    package func find(_ name: String, in schemaName: String?, _ db: Database) throws -> Found? {
        for schema in try schemas(schemaName, db) {
            let table = try reading(db, schema: schema) { $0.table(name) }
            if let table { return Found(schema: schema, name: table.name, kind: table.kind) }
        }
        return nil
    }

    func hasTrigger(_ name: String, in schemaName: String?, _ db: Database) throws -> Bool {
        try schemas(schemaName, db).contains { schema in
            try reading(db, schema: schema) { $0.hasTrigger(name) }
        }
    }

    private func schemas(_ schemaName: String?, _ db: Database) throws -> [String] {
        guard let schemaName else { return try lookupOrder(db) }
        return [try schema(named: schemaName, db)]
    }

    /// A table that must exist.
    ///
    /// - throws: `DatabaseError`: "no such table: main.player".
    package func table(_ name: String, in schemaName: String?, _ db: Database) throws -> Found {
        guard let found = try find(name, in: schemaName, db), found.kind == .table else {
            throw db.noSuchTable(name, in: schemaName)
        }
        return found
    }
}

// The shadow of a connection: a local database with the schema of the other end and without rows. SQLite
// prepares the program's statements on it, and answers questions about the schema.
//
// The version of the schema comes with the first answer of each transaction. If it is another one, the next statement
// finds the shadow rebuilt. A name that the shadow doesn't know is asked for once more before it is an error.

import QuarryCore

extension ShadowRoute {
    /// Makes sure that the shadow has the schema that the transaction sees.
    func learnSchema(_ db: Database) throws {
        try learnVersion(db)
        try rebuildIfStale(db)
        isKnown = true
    }

    private func learnVersion(_ db: Database) throws {
        do {
            try session.learnSchemaVersion(call(db, isOfStatement: false))
        } catch {
            statementDidFail(error, db)
            throw db.errorOfRoute(error, sql: nil)
        }
    }

    /// After a preparation that has failed: learns of tables that others have made.
    ///
    /// - returns: whether the shadow has changed, so that preparing again may succeed.
    func preparationDidFail(_ code: CInt, sql: Substring.UTF8View, _ db: Database) throws -> Bool {
        guard tables != nil, code & 0xFF == ResultCode.SQLITE_ERROR.rawValue else { return false }
        let (code, message) = (ConnectionCalls.errorCode(db.pointer), ConnectionCalls.errorMessage(db.pointer))
        guard code == .SQLITE_ERROR, message.contains("no such") || message.contains("has no column") else {
            return false
        }
        let count = db.foreignSchemaChangeCount
        try learnSchema(db)
        guard count == db.foreignSchemaChangeCount else { return true }
        // The caller makes the error from SQLite's, which the questions have replaced.
        throw db.traced(
            DatabaseError(
                resultCode: code, message: message,
                sql: String(Substring(sql.skippingSpaceAndComments.droppingTrailingSpace))))
    }

    /// Rebuilds the shadow if the other end has told of another version of the schema.
    func rebuildIfStale(_ db: Database) throws {
        guard let version = session.schemaVersion, version != shadowVersion, tables != nil else { return }
        let entries: [RemoteSchemaEntry]
        do {
            entries = try session.schema(call(db, isOfStatement: false))
        } catch {
            statementDidFail(error, db)
            throw db.errorOfRoute(error, sql: nil)
        }
        // The transaction may have seen another version than the one that was asked for before.
        let isInside = !ConnectionCalls.isAutocommit(db.pointer)
        if Set(try shadowEntries(db)) != Set(entries) {
            try rebuild(entries, db)
            hasOpenChange = isInside
            db.noteForeignSchemaChange()
        }
        hasDeferredForeignKeys = entries.contains { $0.kind == .table && $0.hasDeferredForeignKeys }
        try checkDeclaredTypes(knownAs: "the schema of the cluster", db)
        shadowVersion = session.schemaVersion
    }

    private func shadowEntries(_ db: Database) throws(LookupFailure) -> [RemoteSchemaEntry] {
        try db.lookUp(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        ) { row in
            RemoteSchemaEntry(
                kind: StatementColumns.string(row, 0).flatMap(RemoteSchemaEntry.Kind.init) ?? .table,
                name: StatementColumns.string(row, 1) ?? "", sql: StatementColumns.string(row, 2) ?? "")
        }
    }

    /// Drops what the shadow has, and creates what the other end has.
    private func rebuild(_ entries: [RemoteSchemaEntry], _ db: Database) throws {
        let checksForeignKeys = ConnectionCalls.isOn(db.pointer, .foreignKeys)
        ConnectionCalls.turn(db.pointer, .foreignKeys, on: false)
        defer { ConnectionCalls.turn(db.pointer, .foreignKeys, on: checksForeignKeys) }
        // Dropping a virtual table drops its own tables, too, and some of them can't be dropped alone.
        let old = try shadowEntries(db)
        for kind in [RemoteSchemaEntry.Kind.trigger, .view] {
            for entry in old where entry.kind == kind {
                run("DROP \(kind.rawValue) IF EXISTS \(entry.name.quotedDatabaseIdentifier)", db)
            }
        }
        for isVirtual in [true, false] {
            for entry in old where entry.kind == .table && entry.isVirtual == isVirtual {
                run("DROP TABLE IF EXISTS \(entry.name.quotedDatabaseIdentifier)", db)
            }
        }
        // A virtual table makes its own tables.
        let (virtual, others) = (entries.filter(\.isVirtual), entries.filter { !$0.isVirtual })
        for entry in virtual { run(entry.sql, db) }
        var names = Set(try shadowEntries(db).map { "\($0.kind) \($0.name)" })
        for kind in [RemoteSchemaEntry.Kind.table, .index, .view, .trigger] {
            for entry in others where entry.kind == kind && names.insert("\(kind) \(entry.name)").inserted {
                // SQL that this SQLite doesn't understand is of another version. Statements that need it fail by name.
                run(entry.sql, db)
            }
        }
    }

    // MARK: - Declared types

    /// Runs a change of the schema on the shadow and takes it back, to refuse columns whose values a node can't carry.
    func checkDeclaredTypes(ofChange sql: String, _ db: Database) throws {
        guard run("SAVEPOINT quarry_shadow", db) else { return }
        defer {
            run("ROLLBACK TO quarry_shadow", db)
            run("RELEASE quarry_shadow", db)
        }
        // SQLite reports a mistake when the statement itself runs.
        guard run(sql, db) else { return }
        guard try db.lookUp("SELECT 1 FROM sqlite_temp_schema", { _ in }).isEmpty else {
            throw Database.notInACluster(StatementDestination.temporaryObject, sql: sql)
        }
        try checkDeclaredTypes(knownAs: "this statement", db)
    }

    /// Throws for columns declared BOOLEAN, DATE, DATETIME or TIMESTAMP: a node sends NULL in them as 0 or as an empty
    /// text, and aborts when it meets a real number.
    private func checkDeclaredTypes(knownAs name: String, _ db: Database) throws {
        let columns = try db.lookUp(
            """
            SELECT t.name, c.name, c.type FROM pragma_table_list() t, pragma_table_xinfo(t.name) c
            WHERE t.schema = 'main' AND t.type = 'table'
            AND upper(c.type) IN ('BOOLEAN', 'DATE', 'DATETIME', 'TIMESTAMP')
            """
        ) { row in
            (
                table: StatementColumns.string(row, 0) ?? "", column: StatementColumns.string(row, 1) ?? "",
                type: StatementColumns.string(row, 2) ?? ""
            )
        }
        guard let first = columns.first else { return }
        let list = columns.map { "\($0.table).\($0.column) \($0.type)" }.joined(separator: ", ")
        let (table, column) = (first.table.quotedDatabaseIdentifier, first.column.quotedDatabaseIdentifier)
        let new = "\(first.column)_new".quotedDatabaseIdentifier
        throw DatabaseError(
            resultCode: .SQLITE_MISMATCH,
            message: """
                \(name) has columns that a dqlite node can't carry: \(list). Declare them NUMERIC, which has the same \
                affinity; in an existing table: ALTER TABLE \(table) ADD COLUMN \(new) NUMERIC; \
                UPDATE \(table) SET \(new) = \(column); ALTER TABLE \(table) DROP COLUMN \(column); \
                ALTER TABLE \(table) RENAME COLUMN \(new) TO \(column)
                """)
    }
}

extension RemoteSchemaEntry {
    fileprivate var isVirtual: Bool { sql.uppercased().hasPrefix("CREATE VIRTUAL") }

    fileprivate var hasDeferredForeignKeys: Bool {
        // Comments may separate the words. A table that only seems to have one costs the sharing of commits.
        let words = sql.uppercased()
        return words.contains("INITIALLY") && words.contains("DEFERRED")
    }
}

import QuarryCore

/// What a foreign key refers to: `REFERENCES "team"("id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED`.
struct ForeignKeyReference {
    var table: String
    /// nil for the primary key.
    var columns: [String]?
    var deleteAction: SQLForeignKeyAction?
    var updateAction: SQLForeignKeyAction?
    var isDeferred = false

    /// - parameter columns: the columns that the key refers to; nil to leave that to SQLite.
    func clause(columns: [String]?) -> String {
        var sql = "REFERENCES \(table.quotedDatabaseIdentifier)"
        if let columns { sql += "(\(columns.quotedList))" }
        if let deleteAction { sql += " ON DELETE \(deleteAction.rawValue)" }
        if let updateAction { sql += " ON UPDATE \(updateAction.rawValue)" }
        if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
        return sql
    }
}

/// The keys that the foreign keys of a table refer to: those of other tables, and its own, which isn't there yet.
struct ReferencedKeys {
    var resolver: any SchemaResolver
    var table: String
    var schemaName: String?

    enum OwnKey {
        /// The table is there already.
        case inDatabase
        case columns([ReferencedColumn])
        /// It may be in SQL that isn't understood here.
        case unknown
    }

    var ownKey: OwnKey

    func isOwn(_ name: String) -> Bool { name.isSameName(as: table) }

    /// The key of a table; nil if it may be in SQL that isn't understood here.
    func key(of name: String) throws -> [ReferencedColumn]? {
        let columns: [ReferencedColumn]
        switch ownKey {
        case .columns(let own) where isOwn(name): columns = own
        case .unknown where isOwn(name): return nil
        default: columns = try resolver.primaryKeyColumns(of: name, in: schemaName)
        }
        if !columns.isEmpty { return columns }
        // Where foreign keys are checked, SQLite would refuse each change of the table: "foreign key mismatch".
        // Elsewhere, and in migrations, the table may be used, or be replaced by a later migration.
        if resolver.checksForeignKeys {
            throw DatabaseError(message: "table \(name) has no primary key that a foreign key can refer to")
        }
        return [.hiddenRowID]
    }

    /// The names of the columns that a reference of so many columns refers to; nil to leave them to SQLite.
    func columns(of reference: ForeignKeyReference, from origins: [String]) throws -> [String]? {
        guard let columns = try reference.columns ?? key(of: reference.table)?.map(\.name) else { return nil }
        guard columns.count == origins.count else {
            let list = origins.joined(separator: ", ")
            let count = columns.count == 1 ? "1 column" : "\(columns.count) columns"
            throw DatabaseError(
                message: "foreign key on \(list) refers to \(count) of table \(reference.table), not \(origins.count)")
        }
        return columns
    }

    /// The table that `belongsTo(name)` means: that of the name, or of its plural.
    func table(named name: String) throws -> String {
        for candidate in [name] + EnglishPlural.candidates(of: name) {
            if isOwn(candidate) { return table }
            if try resolver.tableExists(candidate, in: schemaName) { return candidate }
        }
        throw DatabaseError(message: "no such table: \(name)")
    }
}

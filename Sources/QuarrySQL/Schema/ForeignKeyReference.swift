import QuarryCore

/// The reference of a foreign key: `REFERENCES "team"("id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED`.
struct ForeignKeyReference {
    var table: String
    /// nil for the primary key.
    var columns: [String]?
    var deleteAction: SQLForeignKeyAction?
    var updateAction: SQLForeignKeyAction?
    var isDeferred = false

    /// - parameter columns: the referenced columns; nil to leave them to SQLite.
    func clause(columns: [String]?) -> String {
        var sql = "REFERENCES \(table.quotedDatabaseIdentifier)"
        if let columns { sql += "(\(columns.quotedList))" }
        if let deleteAction { sql += " ON DELETE \(deleteAction.rawValue)" }
        if let updateAction { sql += " ON UPDATE \(updateAction.rawValue)" }
        if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
        return sql
    }
}

/// The keys that the foreign keys of a table reference: those of other tables, and the table's own, which doesn't exist
/// yet.
struct ReferencedKeys {
    var resolver: any SchemaResolver
    var table: String
    var schemaName: String?

    enum OwnKey {
        /// The table already exists.
        case inDatabase
        case columns([ReferencedColumn])
        /// The key may be defined in SQL, which isn't parsed here.
        case unknown
    }

    var ownKey: OwnKey

    func isOwn(_ name: String) -> Bool { name.isSameName(as: table) }

    /// The key of a table; nil if it may be defined in SQL, which isn't parsed here.
    func key(of name: String) throws -> [ReferencedColumn]? {
        let columns: [ReferencedColumn]
        switch ownKey {
        case .columns(let own) where isOwn(name): columns = own
        case .unknown where isOwn(name): return nil
        default: columns = try resolver.primaryKeyColumns(of: name, in: schemaName)
        }
        if !columns.isEmpty { return columns }
        // If foreign keys are enforced, SQLite would refuse each change of the table: "foreign key mismatch". If not,
        // as in migrations, the table may be used, or may be replaced by a later migration.
        if resolver.checksForeignKeys {
            throw DatabaseError(message: "table \(name) has no primary key that a foreign key can refer to")
        }
        return [.hiddenRowID]
    }

    /// The names of the columns that a reference with this number of columns references; nil to leave them to SQLite.
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

    /// The table that `belongsTo(name)` references: the table with that name, or with its plural.
    func table(named name: String) throws -> String {
        for candidate in [name] + EnglishPlural.candidates(of: name) {
            if isOwn(candidate) { return table }
            if try resolver.tableExists(candidate, in: schemaName) { return candidate }
        }
        let call = "belongsTo(\(String(reflecting: name)))"
        throw DatabaseError(message: "no such table: \(name)")
            .with(circumstances: ": \(call) refers to it. Create it before, or name the table with inTable:")
    }
}

import QuarryCore
import QuarrySQL

/// The record of a database's applied migrations.
///
/// The table of identifiers is GRDB's. Checksums have a separate table, which exists only if a migration has one. Its
/// name begins like the names of GRDB's own tables, which GRDB leaves alone.
struct MigrationHistory {
    static let table = "grdb_migrations"
    static let checksumTable = "grdb_migration_checksums"

    let db: Database

    // An attached database may have such tables too.
    private func exists(_ table: String) throws -> Bool { try db.tableExists(table, in: "main") }

    private static let selection = "SELECT identifier FROM main.\(table) ORDER BY identifier"

    func identifiers() throws -> Set<String> {
        guard try exists(Self.table) else { return [] }
        return try Set(String.fetchAll(db.cachedStatement(sql: Self.selection)))
    }

    /// Whether exactly these identifiers are recorded.
    ///
    /// - parameter identifiers: sorted by their bytes, as in the table's index.
    func holds(exactly identifiers: [String]) throws -> Bool {
        let kept: Statement
        if let statement = try db.keptStatement(sql: Self.selection) {
            kept = statement
        } else {
            guard try exists(Self.table) else { return identifiers.isEmpty }
            kept = try db.cachedStatement(sql: Self.selection)
        }
        do {
            let noted = try BorrowedText.fetchCursor(kept)
            for var identifier in identifiers {
                guard let text = try noted.next(), text.bytes.isUTF8(of: &identifier) else { return false }
            }
            return try noted.next() == nil
        } catch DatabaseError.SQLITE_ERROR {
            // The table has been dropped.
            return false
        }
    }

    /// The recorded checksums, by identifier.
    func checksums() throws -> [String: String] {
        guard try exists(Self.checksumTable) else { return [:] }
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT identifier, checksum FROM main.\(Self.checksumTable)"))
        var checksums: [String: String] = [:]
        while let row = try rows.next() { checksums[row[0]] = row[1] }
        return checksums
    }

    /// Records a migration, in the transaction that has applied it.
    ///
    /// - parameter merged: the applied migrations that it replaces.
    func note(_ migration: Migration, merged: Set<String>) throws {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS main.\(Self.table) (identifier TEXT NOT NULL PRIMARY KEY)")
        for identifier in merged.sorted() { try forget(identifier) }
        try db.execute(
            sql: "INSERT INTO main.\(Self.table) (identifier) VALUES (?)", arguments: [migration.identifier])
        if let checksum = migration.checksum { try note(checksum, of: migration.identifier) }
    }

    func forget(_ identifier: String) throws {
        try db.execute(sql: "DELETE FROM main.\(Self.table) WHERE identifier = ?", arguments: [identifier])
        if try exists(Self.checksumTable) {
            try db.execute(sql: "DELETE FROM main.\(Self.checksumTable) WHERE identifier = ?", arguments: [identifier])
        }
    }

    func note(_ checksum: String, of identifier: String) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(Self.checksumTable) \
                (identifier TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)
                """)
        try db.execute(
            sql: "INSERT OR REPLACE INTO main.\(Self.checksumTable) (identifier, checksum) VALUES (?, ?)",
            arguments: [identifier, checksum])
    }
}

/// The text of a column in SQLite's memory, valid until the next step.
private struct BorrowedText: DatabaseValueConvertible {
    let bytes: UnsafeRawBufferPointer

    var databaseValue: DatabaseValue { String(decoding: bytes, as: UTF8.self).databaseValue }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> BorrowedText? { nil }

    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> BorrowedText? {
        StatementColumns.withUTF8(sqliteStatement, index) { BorrowedText(bytes: $0) }
    }
}

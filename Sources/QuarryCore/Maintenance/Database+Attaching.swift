/// A database of a connection: <https://www.sqlite.org/pragma.html#pragma_database_list>.
public struct AttachedDatabase: Hashable, Sendable {
    /// The name in SQL: `main`, `temp`, or the name it was attached with.
    public var name: String

    /// The file; empty for a temporary database or a database in memory.
    public var path: String
}

extension Database {
    /// Attaches another database to the connection, so that statements can use both.
    ///
    /// ```swift
    /// try dbQueue.writeWithoutTransaction { db in
    ///     try db.attach("/var/lib/app/archive.sqlite", as: "archive")
    ///     try db.execute(sql: "INSERT INTO archive.player SELECT * FROM player")
    /// }
    /// ```
    /// ```sql
    /// ATTACH DATABASE '/var/lib/app/archive.sqlite' AS "archive"
    /// ```
    ///
    /// The connections of a pool attach it in `prepareDatabase`. See <https://www.sqlite.org/lang_attach.html>.
    ///
    /// - parameter path: the file, which is created if missing, unless the connection is read-only; `:memory:` for a
    ///   database in memory; or a URI with options.
    /// - parameter name: the database's name in SQL.
    /// - throws: `DatabaseError`: "database archive is already in use"; `SQLITE_CANTOPEN`; `SQLITE_MISUSE` inside a
    ///   transaction, because the database would stay attached after a rollback.
    public func attach(_ path: String, as name: String) throws {
        try operationWillStart(writes: false)
        try checkName(name, of: "schema")
        try checkOutsideTransaction("ATTACH", name)
        guard !path.utf8.contains(0) else {
            // SQLite would open the file that the path before the NUL names.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the path has a NUL character: \(String(reflecting: path))")
        }
        let path = options.acceptsURIs ? path : FileKind.plainPath(path)
        if let kind = FileKind(databasePath: path), kind != .file {
            // SQLite would wait forever for another process to write to a pipe.
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "unable to open database: \(path): it is \(kind.rawValue)")
        }
        try Self.createFile(path, options)
        try execute(sql: "ATTACH DATABASE ? AS \(name.quotedDatabaseIdentifier)", arguments: [path])
    }

    /// Detaches an attached database.
    ///
    /// ```sql
    /// DETACH DATABASE "archive"
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_detach.html>.
    ///
    /// - parameter name: the database's name in SQL.
    /// - throws: `DatabaseError`: "no such database: archive", "cannot detach database main", "database archive is
    ///   locked" while a statement reads it; `SQLITE_MISUSE` inside a transaction.
    public func detach(_ name: String) throws {
        try operationWillStart(writes: false)
        try checkName(name, of: "schema")
        try checkOutsideTransaction("DETACH", name)
        try execute(sql: "DETACH DATABASE \(name.quotedDatabaseIdentifier)")
    }

    /// The databases of the connection, with their files.
    ///
    /// ```swift
    /// let names = try db.attachedDatabases().map(\.name) // main, archive
    /// ```
    /// ```sql
    /// PRAGMA database_list
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func attachedDatabases() throws -> [AttachedDatabase] {
        try Row.fetchAll(makeStatement(sql: "PRAGMA database_list")).map { row in
            AttachedDatabase(name: row[1], path: row[2] ?? "")
        }
    }

    private func checkOutsideTransaction(_ verb: String, _ name: String) throws(DatabaseError) {
        guard isInsideTransaction else { return }
        throw DatabaseError.misuse("\(verb) of database \(name) inside a transaction")
    }
}

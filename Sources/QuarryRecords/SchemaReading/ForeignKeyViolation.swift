public import QuarryCore

/// A row whose foreign key references a missing row.
///
/// See <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>.
public struct ForeignKeyViolation: Sendable {
    /// The table with the foreign key.
    public var originTable: String

    /// The rowid of the row; nil in a WITHOUT ROWID table.
    public var originRowID: Int64?

    /// The referenced table.
    public var destinationTable: String

    /// SQLite's number of the key in its table, as in `ForeignKeyInfo`.
    public var foreignKeyId: Int

    /// The schema of both tables.
    public var schemaName: String

    /// A description of the violation, with the values of the row.
    ///
    /// ```
    /// FOREIGN KEY constraint violation - from player(teamId) to team(id), in [id:1 teamId:42]
    /// ```
    ///
    /// - throws: `DatabaseError` if the row or the schema can't be read.
    public func failureDescription(_ db: Database) throws -> String {
        try failureDescription(db, showsTexts: true)
    }

    private func failureDescription(_ db: Database, showsTexts: Bool) throws -> String {
        let keys = try db.foreignKeys(on: originTable, in: schemaName)
        guard let key = keys.first(where: { $0.id == foreignKeyId }) else { return description }
        var text =
            "FOREIGN KEY constraint violation - from \(originTable)(\(key.originColumns.joined(separator: ", ")))"
        text += " to \(destinationTable)(\(key.destinationColumns.joined(separator: ", ")))"
        guard let originRowID else { return text }
        let columns = try db.columns(in: originTable, in: schemaName)
        guard let rowID = SchemaReader.rowIDName(besides: columns) else { return text }
        let table = "\(schemaName.quotedDatabaseIdentifier).\(originTable.quotedDatabaseIdentifier)"
        let sql = "SELECT * FROM \(table) WHERE \(rowID.quotedDatabaseIdentifier) = ?"
        if let row = try Row.fetchOne(db, sql: sql, arguments: [originRowID]) {
            let values = row.map { "\($0.0):\(showsTexts ? $0.1.description : $0.1.idInError)" }
            text += ", in [\(values.joined(separator: " "))]"
        }
        return text
    }

    /// The violation as an error, `SQLITE_CONSTRAINT_FOREIGNKEY`. Texts and blobs of the row may be private: they are
    /// shown only if `Configuration.publicStatementArguments` is true.
    public func databaseError(_ db: Database) -> DatabaseError {
        let text = try? failureDescription(db, showsTexts: db.options.publicStatementArguments)
        return DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: text ?? description)
    }
}

extension ForeignKeyViolation {
    /// A violation from a row of `foreign_key_check`, whose schema is assumed to be `main`.
    ///
    /// ```swift
    /// let violations = try ForeignKeyViolation.fetchAll(db, sql: "PRAGMA foreign_key_check") // [ForeignKeyViolation]
    /// ```
    ///
    /// - throws: `RowDecodingError` for a row with other columns.
    public init(row: borrowing Row) throws {
        originTable = try row.decode(forColumn: "table")
        originRowID = try row.decode(forColumn: "rowid")
        destinationTable = try row.decode(forColumn: "parent")
        foreignKeyId = try row.decode(forColumn: "fkid")
        schemaName = "main"
    }
}

extension ForeignKeyViolation: CustomStringConvertible {
    /// The violation, without the facts that need the connection.
    public var description: String {
        "FOREIGN KEY constraint violation - from \(originTable) to \(destinationTable)"
            + (originRowID.map { ", in rowid \($0)" } ?? "")
    }
}

/// A cursor over violations of foreign keys.
public final class ForeignKeyViolationCursor: Cursor {
    private let database: Database
    private var schemas: ArraySlice<String>
    private let table: String?
    private var schemaName = ""
    private var rows: RowCursor?

    init(_ database: Database, schemas: [String], table: String? = nil) {
        self.database = database
        self.schemas = schemas[...]
        self.table = table
    }

    /// The next violation, or nil after the last.
    ///
    /// - throws: `DatabaseError`, for example for a key whose referenced columns aren't unique ("foreign key
    ///   mismatch").
    public func next() throws -> ForeignKeyViolation? {
        while true {
            if let row = try rows?.next() {
                var violation = try ForeignKeyViolation(row: row)
                violation.schemaName = schemaName
                return violation
            }
            guard let schema = schemas.popFirst() else { return nil }
            schemaName = schema
            var sql = "PRAGMA \(schema.quotedDatabaseIdentifier).foreign_key_check"
            if let table { sql += "(\(table.quotedDatabaseIdentifier))" }
            rows = try Row.fetchCursor(database.makeStatement(sql: sql))
        }
    }
}

extension Database {
    /// The rows whose foreign keys reference missing rows, in all databases of the connection.
    ///
    /// ```swift
    /// let violations = try db.foreignKeyViolations()
    /// while let violation = try violations.next() { print(try violation.failureDescription(db)) }
    /// ```
    /// ```sql
    /// PRAGMA "main".foreign_key_check
    /// ```
    ///
    /// - throws: `DatabaseError`. The cursor may also throw, for example for a key whose referenced columns aren't
    ///   unique ("foreign key mismatch").
    public func foreignKeyViolations() throws -> ForeignKeyViolationCursor {
        try checkAccess()
        let schemas = try schema.lookupOrder(self).filter { name in
            try schema.reading(self, schema: name) { !$0.tableNames.isEmpty }
        }
        return ForeignKeyViolationCursor(self, schemas: schemas)
    }

    /// The rows of a table whose foreign keys reference missing rows.
    ///
    /// ```swift
    /// let violations = try db.foreignKeyViolations(in: "player")
    /// while let violation = try violations.next() { print(try violation.failureDescription(db)) }
    /// ```
    /// ```sql
    /// PRAGMA "main".foreign_key_check("player")
    /// ```
    ///
    /// - parameter tableName: the name of a table.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError`: "no such table: player".
    public func foreignKeyViolations(
        in tableName: String, in schemaName: String? = nil
    ) throws -> ForeignKeyViolationCursor {
        try checkAccess()
        let found = try schema.table(tableName, in: schemaName, self)
        return ForeignKeyViolationCursor(self, schemas: [found.schema], table: found.name)
    }

    /// Throws if a foreign key references a missing row.
    ///
    /// ```swift
    /// try db.checkForeignKeys()
    /// ```
    /// ```sql
    /// PRAGMA "main".foreign_key_check
    /// ```
    ///
    /// - throws: `DatabaseError` with the code `SQLITE_CONSTRAINT_FOREIGNKEY`, which names the table, the key, and the
    ///   row.
    public func checkForeignKeys() throws {
        if let violation = try foreignKeyViolations().next() { throw violation.databaseError(self) }
    }

    /// Throws if a foreign key of a table references a missing row.
    ///
    /// ```swift
    /// try db.checkForeignKeys(in: "player")
    /// ```
    /// ```sql
    /// PRAGMA "main".foreign_key_check("player")
    /// ```
    ///
    /// - parameter tableName: the name of a table.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: the errors of `checkForeignKeys()`; "no such table: player".
    public func checkForeignKeys(in tableName: String, in schemaName: String? = nil) throws {
        if let violation = try foreignKeyViolations(in: tableName, in: schemaName).next() {
            throw violation.databaseError(self)
        }
    }
}

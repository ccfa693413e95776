extension Database {
    /// The tables that a statement reads and changes.
    ///
    /// They are known from the preparation, if they were noted then, if the schema is the same, and if SQLite
    /// hasn't prepared the statement again since: another connection may have changed the schema. Otherwise the SQL is
    /// prepared once more.
    func accesses(of statement: Statement) -> StatementAccesses {
        let stamp = schemaStamp
        let repreparations = statement.handle.repreparationCount
        if let known = statement.accesses, known.stamp == stamp, known.repreparations == repreparations {
            return known.value
        }
        guard let accesses = try? findAccesses(of: statement, stamp, repreparations) else { return .unknown }
        statement.accesses = (accesses, stamp, repreparations)
        return accesses
    }

    @inline(never)
    private func findAccesses(
        of statement: Statement, _ stamp: Int, _ repreparations: CInt
    ) throws(LookupFailure) -> StatementAccesses {
        guard statement.hasAccesses else { return .none }
        if let known = statement.accessReport, known.stamp == stamp, repreparations == 0 {
            let accesses = try makeAccesses(known.report, sql: statement.sql)
            statement.accessReport = nil
            return accesses
        }
        statement.accessReport = nil
        let (report, count) = try report(ofStatements: [statement.sql])
        return count == 0 ? .unknown : try makeAccesses(report, sql: statement.sql)
    }

    /// The tables and columns that statements would read and change. Statements that aren't valid are left out.
    func accesses(ofStatements texts: [String]) throws(LookupFailure) -> StatementAccesses {
        try makeAccesses(try report(ofStatements: texts).report, sql: "")
    }

    /// Runs an operation that prepares statements of SQLite's own, whose accesses aren't of interest.
    package func withOwnStatements<T>(_ body: () throws -> T) rethrows -> T {
        guard let accessRecorder = watchers.accessRecorder else { return try body() }
        return try accessRecorder.recording(body).value
    }

    /// Makes the connection note the tables that statements access when they are prepared.
    ///
    /// The first call makes SQLite prepare every statement once more. The kept statements are forgotten: when SQLite
    /// prepares one of them in the middle of a recording, it reports whole tables, although the request knows the rows.
    @discardableResult
    func startRecordingAccesses() -> AccessRecorder {
        if let accessRecorder = watchers.accessRecorder { return accessRecorder }
        let recorder = AccessRecorder()
        watchers.accessRecorder = recorder
        forgetKeptStatements()
        _ = hooks.onAuthorization { authorization in
            recorder.note(authorization)
            return .allow
        }
        return recorder
    }

    /// The accesses that a preparation has reported.
    func makeAccesses(
        _ report: AccessRecorder.Report, sql: String
    ) throws(LookupFailure) -> StatementAccesses {
        let report = report.withoutDeclarations(sql: sql)
        var changes = DatabaseRegion()
        for table in report.insertions + report.deletions { changes.formUnion(DatabaseRegion(table)) }
        for update in report.updates {
            let columns = try changesOtherColumns(update, sql: sql) ? nil : Set(update.columns.map(\.lowercasedASCII))
            changes.formUnion(DatabaseRegion(update.table, columns: columns))
        }
        for table in report.definitions {
            changes.formUnion(DatabaseRegion(table))
            for hidden in try tables(hiddenBy: table) { changes.formUnion(DatabaseRegion(hidden)) }
        }
        // VACUUM may change rowids that aren't columns.
        let isVacuum = Substring(sql).utf8.firstWord == "VACUUM"
        let changesSchema = (report.insertions + report.deletions).contains { $0.isSchemaTable }
        let isDefinition = isVacuum || changesSchema || !report.definitions.isEmpty
        var reads = try reads(of: report)
        if !isDefinition { reads.formUnion(try hiddenReads(ofSQL: sql)) }
        return StatementAccesses(
            reads: reads, changes: isVacuum ? .fullDatabase : changes,
            kinds: isDefinition ? [] : report.kinds, isDefinition: isDefinition, triggers: report.triggers)
    }

    /// The tables and columns that a preparation has reported as read.
    func reads(of report: AccessRecorder.Report) throws(LookupFailure) -> DatabaseRegion {
        var reads = DatabaseRegion()
        for (table, columns) in report.reads { reads.formUnion(DatabaseRegion(table, columns: columns)) }
        for read in report.readsOfPresence {
            for table in try tables(of: read) { reads.formUnion(DatabaseRegion(table, columns: [])) }
        }
        if !report.nestedQueries.isEmpty {
            for view in try views.named(report.nestedQueries) { reads.formUnion(DatabaseRegion(view, columns: [])) }
        }
        return reads
    }

    /// The tables that a read of the presence of rows may mean: <https://www.sqlite.org/lang_naming.html>.
    private func tables(of read: AccessRecorder.Report.PresenceRead) throws(LookupFailure) -> [TableName] {
        let name =
            switch read.table.lowercasedASCII {
            case "sqlite_schema": "sqlite_master"
            case "sqlite_temp_schema": "sqlite_temp_master"
            default: read.table
            }
        var schemas = ["temp", "main"]
        // The table of that name in `temp` is meant only if its schema is written.
        if name.isSameName(as: "sqlite_master") { schemas = ["main"] }
        if schemaMemory.hasAttached { schemas += try attachedSchemas }
        let tables = schemas.lazy.filter { ConnectionCalls.hasTable(self.pointer, schema: $0, named: name) }
            .map { TableName(schema: $0, name: name) }
        return read.isNested ? Array(tables) : Array(tables.prefix(1))
    }

    /// The tables and views that a name doesn't mean while a table or view has it in a schema that SQLite searches
    /// before.
    private func tables(hiddenBy table: TableName) throws(LookupFailure) -> [TableName] {
        let schema = table.schema.lowercasedASCII
        var hidden = schema == "temp" ? ["main"] : []
        if schemaMemory.hasAttached {
            let attached = try attachedSchemas
            hidden += attached.firstIndex { $0.isSameName(as: schema) }.map { attached[($0 + 1)...] } ?? attached[...]
        }
        let names = hidden.map { TableName(schema: $0, name: table.name) }
        guard !names.isEmpty else { return [] }
        let views = try views.named([table.name])
        return names.filter {
            ConnectionCalls.hasTable(pointer, schema: $0.schema, named: $0.name) || views.contains($0)
        }
    }

    /// The attached schemas, in the order in which SQLite searches them.
    private var attachedSchemas: [String] {
        get throws(LookupFailure) { try schemas.filter { $0.key > 1 }.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The schemas by their numbers: 0 for `main`, 1 for `temp` if there is one, higher ones for the attached.
    var schemas: [Int: String] {
        get throws(LookupFailure) {
            let names = try lookUp("PRAGMA database_list") { row in
                (Int(StatementColumns.int64(row, 0)), StatementColumns.string(row, 1) ?? "")
            }
            return Dictionary(names) { first, _ in first }
        }
    }

    /// Whether a statement that has failed may have kept its changes: `ON CONFLICT FAIL`, `RAISE(FAIL, …)`.
    func mayKeepChangesOfFailure(_ accesses: StatementAccesses, sql: String) -> Bool {
        if sql.utf8.hasWord(in: ["FAIL"]) { return true }
        do {
            for table in accesses.changes.tableNames ?? [] {
                if try definition(of: table, type: "table")?.utf8.hasWord(in: ["FAIL"]) ?? false { return true }
            }
            for trigger in accesses.triggers {
                if try definition(of: trigger, type: "trigger")?.utf8.hasWord(in: ["FAIL"]) ?? true { return true }
            }
            return false
        } catch {
            return true
        }
    }

    /// Whether a table is virtual, so that its module may read other tables; true if that can't be found now.
    package func isVirtual(_ table: TableName) -> Bool {
        let definition = (try? definition(of: table, type: "table")) ?? nil
        return definition?.utf8.hasWord(in: ["VIRTUAL"]) ?? true
    }

    /// The tables of all schemas.
    func allTables() throws(LookupFailure) -> [TableName] {
        var tables: [TableName] = []
        for (_, schema) in try schemas.sorted(by: { $0.key < $1.key }) {
            let sql = "SELECT name FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'table'"
            tables += try lookUp(sql) { TableName(schema: schema, name: StatementColumns.string($0, 0) ?? "") }
        }
        return tables
    }

    /// The names of a table's columns; none if the table doesn't exist.
    func columnNames(of table: TableName) throws(LookupFailure) -> [String] {
        let (schema, name) = (table.schema.quotedDatabaseIdentifier, table.name.quotedDatabaseIdentifier)
        return try lookUp("PRAGMA \(schema).table_xinfo(\(name))") { StatementColumns.string($0, 1) ?? "" }
    }

    /// Whether the preupdate hook tells the changed rows of a table: not those of a virtual table, and no rowids of a
    /// table WITHOUT ROWID.
    func tellsRows(of table: TableName) -> Bool {
        do {
            return try !(definition(of: table, type: "table")?.utf8.hasWord(in: ["VIRTUAL", "WITHOUT"]) ?? false)
        } catch {
            return false
        }
    }

    /// The columns of the keys of a table's rows; nil if the preupdate hook doesn't tell its rows, and if they can't be
    /// found now.
    func keyColumns(of table: TableName) -> KeyColumns? {
        if schemaMemory.knownKeyColumns.stamp != schemaStamp { schemaMemory.knownKeyColumns = (schemaStamp, [:]) }
        if let known = schemaMemory.knownKeyColumns.columns[table] { return known }
        guard let columns = try? findKeyColumns(of: table) else { return nil }
        schemaMemory.knownKeyColumns.columns[table] = .some(columns)
        return columns
    }

    /// Finds the keys of the tables that a statement may change: SQL can't be run when the rows are told.
    func findKeyColumns(of accesses: StatementAccesses) {
        for table in accesses.changes.tableNames ?? [] { _ = keyColumns(of: table) }
    }

    /// As `keyColumns(of:)`, without running SQL: nil if they were not asked for before.
    func knownKeyColumns(of table: TableName) -> KeyColumns? { schemaMemory.knownKeyColumns.columns[table] ?? nil }

    private func findKeyColumns(of table: TableName) throws(LookupFailure) -> KeyColumns? {
        guard let definition = try definition(of: table, type: "table"), !definition.utf8.hasWord(in: ["VIRTUAL"])
        else { return nil }
        let schema = table.schema.quotedDatabaseIdentifier
        var parts: [(position: Int, number: Int, type: String)] = []
        var reals: [Int] = []
        var number = 0
        for column in try lookUp(
            "PRAGMA \(schema).table_xinfo(\(table.name.quotedDatabaseIdentifier))",
            { row in
                (
                    position: Int(StatementColumns.int64(row, 5)), type: StatementColumns.string(row, 2) ?? "",
                    isVirtual: StatementColumns.int64(row, 6) == 2
                )
            })
        {
            if case .real = ColumnAffinity(declaredType: column.type) { reals.append(number) }
            if column.position > 0 { parts.append((column.position, number, column.type)) }
            // A virtual generated column isn't stored: https://www.sqlite.org/pragma.html#pragma_table_xinfo
            if !column.isVirtual { number += 1 }
        }
        parts.sort { $0.position < $1.position }
        let isWithoutRowID = definition.utf8.hasWord(in: ["WITHOUT"])
        if parts.isEmpty
            || !isWithoutRowID && parts.count == 1 && parts[0].type.utf8.hasWord(in: ["INTEGER"])
                && !definition.utf8.hasWord(in: ["DESC"])
        {
            return KeyColumns(numbers: nil, reals: reals)
        }
        return KeyColumns(numbers: parts.map(\.number), reals: reals)
    }

    /// Whether an update may change other columns than SQLite reports: rowids, columns that are computed from others,
    /// columns of virtual tables, and rows that the conflict resolution `REPLACE` deletes.
    private func changesOtherColumns(
        _ update: AccessRecorder.Report.Update, sql: String
    ) throws(LookupFailure) -> Bool {
        if update.columns.contains("ROWID") || sql.utf8.hasWord(in: ["REPLACE"]) { return true }
        let table = try definition(of: update.table, type: "table")
        if table?.utf8.hasWord(in: ["VIRTUAL", "GENERATED", "AS", "REPLACE"]) ?? true { return true }
        for trigger in update.triggers {
            if try definition(of: trigger, type: "trigger")?.utf8.hasWord(in: ["REPLACE"]) ?? true { return true }
        }
        return false
    }

    /// The SQL that has created a table or a trigger; nil for SQLite's own tables.
    private func definition(of name: TableName, type: String) throws(LookupFailure) -> String? {
        if schemaMemory.knownDefinitions.stamp != schemaStamp { schemaMemory.knownDefinitions = (schemaStamp, [:]) }
        if let known = schemaMemory.knownDefinitions.definitions[name] { return known }
        let sql = """
            SELECT sql FROM \(name.schema.quotedDatabaseIdentifier).sqlite_master \
            WHERE type = '\(type)' AND name = \(name.name.quotedSQLText) COLLATE NOCASE
            """
        let definition = try lookUp(sql) { StatementColumns.string($0, 0) }.first ?? nil
        schemaMemory.knownDefinitions.definitions[name] = .some(definition)
        return definition
    }
}

extension Statement {
    /// The tables and columns that the statement reads; the full database outside an access.
    ///
    /// ```swift
    /// let statement = try db.makeStatement(sql: "SELECT name FROM player")
    /// print(statement.databaseRegion) // player(name)
    /// ```
    ///
    /// See <https://www.sqlite.org/c3ref/set_authorizer.html>.
    public var databaseRegion: DatabaseRegion {
        guard let database = try? lifetime.accessedDatabase() else { return .fullDatabase }
        return database.accesses(of: self).reads
    }

    /// Whether SQLite reports what the statement accesses. A PRAGMA may act when it is prepared, so it isn't prepared
    /// once more.
    fileprivate var hasAccesses: Bool {
        switch kind {
        case .query: true
        case .other: Substring(sql).utf8.firstWord != "PRAGMA"
        default: false
        }
    }
}

extension Substring.UTF8View {
    /// The first word in capitals.
    package var firstWord: String? {
        var words = makeWordIterator()
        return words.next()
    }
}

extension String.UTF8View {
    /// The runs of letters and underscores.
    var words: [Substring.UTF8View] {
        split { !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || $0 == UInt8(ascii: "_")) }
    }

    /// Whether the text has one of some words, which are given in capitals.
    func hasWord(in words: [String]) -> Bool {
        self.words.contains { word in
            words.contains { $0.utf8.count == word.count && $0.utf8.elementsEqual(word.lazy.map { $0 & 0xDF }) }
        }
    }
}

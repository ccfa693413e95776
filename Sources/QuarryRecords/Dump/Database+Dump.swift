public import QuarryCore

extension Database {
    /// Prints the rows of some SQL.
    ///
    /// ```swift
    /// try db.dumpSQL("SELECT name, score FROM player WHERE score > \(100)")
    /// // Arthur|500
    /// // Barbara|1000
    /// ```
    ///
    /// - parameter sql: statements, separated by semicolons. They may be changes.
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try Dumping.run(self, format, to: stream) { dumping in
            let (sql, arguments) = try sql.build(self)
            let statements = try allStatements(sql: sql, arguments: arguments)
            while let statement = try statements.next() { try dumping.rows(of: statement) }
        }
    }

    /// Prints the rows of a request, followed by its prefetched rows.
    ///
    /// ```swift
    /// try db.dumpRequest(Team.including(all: Team.players), format: .debug(header: true))
    /// // id|name
    /// // 1|Reds
    /// //
    /// // players
    /// // id|name|teamId
    /// // 1|Arthur|1
    /// ```
    ///
    /// The dump keeps no rows, but the keys of the rows that prefetched rows belong to.
    ///
    /// - parameter request: a request.
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try Dumping.run(self, format, to: stream) { dumping in
            try dumping.rows(of: request.makePreparedRequest(self, forSingleResult: false))
        }
    }

    /// Prints the rows of tables and views.
    ///
    /// ```swift
    /// try db.dumpTables(["team", "player"])
    /// // team
    /// // 1|Reds
    /// //
    /// // player
    /// // 1|Arthur|1
    /// ```
    ///
    /// - parameter tables: the names of tables and views.
    /// - parameter format: the format of the rows.
    /// - parameter tableHeader: whether the names of the tables are written.
    /// - parameter stableOrder: whether rows are sorted by their primary key, and rows of views by their values, so
    ///   that equal tables give equal dumps.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`: "no such table: player"; the error of a ``ThrowingTextOutputStream``. The text
    ///   written before stays.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(), tableHeader: DumpTableHeaderOptions = .automatic,
        stableOrder: Bool = false, to stream: (any TextOutputStream)? = nil
    ) throws {
        try Dumping.run(self, format, to: stream) { dumping in
            let hasTitles = tableHeader == .always || tables.count > 1
            for table in tables { try dump(table, in: nil, hasTitle: hasTitles, stableOrder: stableOrder, &dumping) }
        }
    }

    /// Prints the schema and the rows of all tables, in a stable order.
    ///
    /// ```swift
    /// try db.dumpContent()
    /// // sqlite_master
    /// // CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
    /// //
    /// // team
    /// // 1|Reds
    /// ```
    ///
    /// Tables of SQLite, of the library, and of virtual table modules are left out.
    ///
    /// - parameter format: the format of the rows.
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpContent(
        format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try Dumping.run(self, format, to: stream) { dumping in
            try dumpSchema(&dumping)
            dumping.margin()
            let tables = try String.fetchAll(
                cachedStatement(
                    sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name COLLATE NOCASE, name"))
            let hidden = try hiddenTables()
            for table in tables where !hidden.contains(SchemaName(table)) {
                try dump(table, in: "main", hasTitle: true, stableOrder: true, &dumping)
            }
        }
    }

    /// Prints the schema: the statements that create tables, indexes, triggers and views.
    ///
    /// ```swift
    /// try db.dumpSchema()
    /// // sqlite_master
    /// // CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
    /// ```
    ///
    /// Tables of SQLite, of the library, and of virtual table modules are left out.
    ///
    /// - parameter stream: the stream to write to; nil for the standard output.
    /// - throws: `DatabaseError`; the error of a ``ThrowingTextOutputStream``. The text written before stays.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try Dumping.run(self, .debug(), to: stream) { dumping in try dumpSchema(&dumping) }
    }

    // MARK: - Parts

    private func dumpSchema(_ dumping: inout Dumping<some DumpFormat>) throws {
        try dumping.write(line: "sqlite_master")
        let hidden = try hiddenTables()
        let statement = try cachedStatement(
            sql: """
                SELECT tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL \
                ORDER BY tbl_name COLLATE NOCASE, tbl_name, \
                CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'trigger' THEN 2 ELSE 3 END, \
                name COLLATE NOCASE, name
                """)
        try PreparedRequest(statement: statement).forEachRow { row in
            guard !hidden.contains(SchemaName(row[0])) else { return }
            let sql: String = row[1]
            // A comment at the end would hide the semicolon.
            let hasComment = sql.split(separator: "\n").last?.contains("--") ?? false
            try dumping.write(line: sql + (hasComment ? "\n;" : ";"))
        }
    }

    private func dump(
        _ table: String, in schema: String?, hasTitle: Bool, stableOrder: Bool,
        _ dumping: inout Dumping<some DumpFormat>
    ) throws {
        if hasTitle { try dumping.title(table) }
        var sql = "SELECT * FROM " + (schema.map { $0 + "." } ?? "") + table.quotedDatabaseIdentifier
        if stableOrder {
            let terms: [String]
            if try tableExists(table, in: schema) {
                terms = try primaryKey(table, in: schema).columns.map(\.quotedDatabaseIdentifier)
            } else {
                let columnCount = try makeStatement(sql: sql).columnCount
                terms = (0..<columnCount).map { "\($0 + 1)" }
            }
            sql += " ORDER BY " + terms.joined(separator: ", ")
        }
        try dumping.rows(of: makeStatement(sql: sql))
        dumping.margin()
    }

    /// The tables of `main` that belong to SQLite, the library or a module.
    private func hiddenTables() throws -> Set<SchemaName> {
        let rows = try Row.fetchCursor(
            cachedStatement(sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main'"))
        var hidden: Set<SchemaName> = []
        while let row = try rows.next() {
            let name: String = row[0]
            if row[1] == "shadow" || Self.isSQLiteInternalTable(name) || Self.isGRDBInternalTable(name) {
                hidden.insert(SchemaName(name))
            }
        }
        return hidden
    }
}

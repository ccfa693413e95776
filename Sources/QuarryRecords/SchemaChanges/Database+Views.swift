public import QuarryCore
public import QuarrySQL

extension Database {
    // MARK: - Views

    /// Creates a view from SQL. Values are written as literals.
    ///
    /// ```swift
    /// try db.create(view: "hero", asLiteral: "SELECT * FROM player WHERE score > \(1000)")
    /// ```
    /// ```sql
    /// CREATE VIEW "hero" AS SELECT * FROM player WHERE score > 1000
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_createview.html>.
    ///
    /// - parameter name: the view's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the view is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter columns: the names of the view's columns; nil for the query's names.
    /// - parameter sqlLiteral: the query.
    /// - throws: `DatabaseError`, for example if the view exists; `SQLITE_MISMATCH` for a value that can't be stored.
    public func create(
        view name: String, in schemaName: String? = nil, options: ViewOptions = [], columns: [String]? = nil,
        asLiteral sqlLiteral: SQL
    ) throws {
        try checkAccess()
        let view = ViewDefinition(
            name: name, schemaName: schemaName, options: options, columns: columns, query: sqlLiteral)
        try execute(sql: view.sql(schemaResolver))
    }

    /// Creates a view from a request. Values are written as literals.
    ///
    /// ```swift
    /// try db.create(view: "hero", as: Player.filter(Column("score") > 1000))
    /// ```
    /// ```sql
    /// CREATE VIEW "hero" AS SELECT * FROM "player" WHERE "score" > 1000
    /// ```
    ///
    /// - parameter name: the view's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the view is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter columns: the names of the view's columns; nil for the request's names.
    /// - parameter request: the request.
    /// - throws: `DatabaseError`, for example if the view exists; `SQLITE_MISUSE` for a request that can't be written
    ///   as SQL.
    public func create(
        view name: String, in schemaName: String? = nil, options: ViewOptions = [], columns: [String]? = nil,
        as request: any SQLSubqueryable
    ) throws {
        try create(
            view: name, in: schemaName, options: options, columns: columns, asLiteral: SQL(request.sqlSubquery))
    }

    /// Drops a view.
    ///
    /// ```sql
    /// DROP VIEW "hero"
    /// ```
    ///
    /// - parameter name: the view's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   view.
    /// - throws: `DatabaseError`: "no such view: hero".
    public func drop(view name: String, in schemaName: String? = nil) throws {
        try execute(sql: "DROP VIEW \(qualified(name, schemaName))")
    }

    // MARK: - Triggers

    /// Creates a trigger.
    ///
    /// ```swift
    /// try db.create(
    ///     trigger: "player_score", on: "player", .after(.update(of: ["score"])),
    ///     when: "NEW.score <> OLD.score",
    ///     body: "INSERT INTO scoreLog (playerId, score) VALUES (NEW.id, NEW.score)")
    /// ```
    /// ```sql
    /// CREATE TRIGGER "player_score" AFTER UPDATE OF "score" ON "player" WHEN NEW.score <> OLD.score BEGIN
    /// INSERT INTO scoreLog (playerId, score) VALUES (NEW.id, NEW.score);
    /// END
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_createtrigger.html>.
    ///
    /// - parameter name: the trigger's name.
    /// - parameter schemaName: the schema of the trigger; nil for the table's schema, or for `temp` if it is temporary.
    /// - parameter table: a table, or a view.
    /// - parameter event: the event that runs the trigger.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter condition: the condition for rows for which the trigger runs; nil for all rows.
    /// - parameter body: statements, separated by semicolons. Values are written as literals.
    /// - throws: `DatabaseError`, for example if the trigger exists, or the table doesn't.
    public func create(
        trigger name: String, in schemaName: String? = nil, on table: String, _ event: TriggerEvent,
        options: TriggerOptions = [], when condition: SQL? = nil, body: SQL
    ) throws {
        try checkAccess()
        let trigger = TriggerDefinition(
            name: name, schemaName: schemaName, table: table, event: event, options: options, condition: condition,
            body: body)
        try execute(sql: trigger.sql(schemaResolver))
    }

    /// Drops a trigger.
    ///
    /// ```sql
    /// DROP TRIGGER "player_score"
    /// ```
    ///
    /// - parameter name: the trigger's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   trigger.
    /// - throws: `DatabaseError`: "no such trigger: player_score".
    public func drop(trigger name: String, in schemaName: String? = nil) throws {
        try execute(sql: "DROP TRIGGER \(qualified(name, schemaName))")
    }
}

extension Database {
    /// Creates a view from a request. Values are written as literals.
    ///
    /// ```swift
    /// let heroes: SQLRequest<Row> = "SELECT * FROM player WHERE score > \(1000)"
    /// try db.create(view: "hero", as: heroes)
    /// ```
    ///
    /// - parameter name: the view's name.
    /// - parameter schemaName: the name of an attached database; nil for `main`, or for `temp` if the view is
    ///   temporary.
    /// - parameter options: the options of the statement, such as `.ifNotExists`.
    /// - parameter columns: the names of the view's columns; nil for the request's names.
    /// - parameter request: the query.
    /// - throws: `DatabaseError`, for example if the view exists.
    public func create<RowDecoder>(
        view name: String, in schemaName: String? = nil, options: ViewOptions = [], columns: [String]? = nil,
        as request: SQLRequest<RowDecoder>
    ) throws {
        try create(view: name, in: schemaName, options: options, columns: columns, asLiteral: request.literal)
    }
}

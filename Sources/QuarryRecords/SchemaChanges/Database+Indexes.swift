public import QuarryCore
public import QuarrySQL

extension Database {
    // MARK: - Indexes

    /// Drops an index.
    ///
    /// ```sql
    /// DROP INDEX "player_on_name"
    /// ```
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   index.
    /// - throws: `DatabaseError`: "no such index: player_on_name".
    public func drop(index name: String, in schemaName: String? = nil) throws {
        try execute(sql: "DROP INDEX \(qualified(name, schemaName))")
    }

    /// Drops the index on the given columns of a table, whatever its name. Has no effect if there is no such index.
    ///
    /// ```swift
    /// try db.drop(indexOn: "player", columns: ["teamId", "number"])
    /// ```
    /// ```sql
    /// DROP INDEX "index_player_on_teamId_number"
    /// ```
    ///
    /// Indexes of constraints, and indexes on expressions, stay.
    ///
    /// - parameter table: the table's name.
    /// - parameter columns: the columns of the index, in their order.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first schema with the
    ///   table.
    /// - throws: `DatabaseError` if the table doesn't exist, or has more than one such index.
    public func drop(indexOn table: String, columns: [String], in schemaName: String? = nil) throws {
        try checkAccess()
        let found = try schema.table(table, in: schemaName, self)
        let indexes = try schema.indexes(of: found, self).filter { index in
            index.origin == .createIndex && index.columns.schemaNames == columns.schemaNames
        }
        guard indexes.count <= 1 else {
            let names = indexes.map(\.name).sorted().joined(separator: ", ")
            throw DatabaseError(
                message: "several indexes on \(found.name)(\(columns.joined(separator: ", "))): \(names)")
        }
        guard let index = indexes.first else { return }
        // The schema is named if the index could be mistaken for another.
        let isPlain = schemaName == nil && found.schema == "main"
        try drop(index: index.name, in: isPlain ? nil : found.schema)
    }

    /// Rebuilds the indexes that use a collation.
    ///
    /// ```sql
    /// REINDEX NOCASE
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_reindex.html>.
    ///
    /// - throws: `DatabaseError`: "unable to identify the object to be reindexed" for an unknown collation.
    public func reindex(collation: CollationName) throws { try execute(sql: "REINDEX \(collation.sql)") }

    package func create(_ index: IndexDefinition) throws {
        try checkAccess()
        try execute(sql: index.sql(schemaResolver))
    }
}

extension Database {
    /// Creates an index on columns.
    ///
    /// ```swift
    /// try db.create(index: "player_on_email", on: "player", columns: ["email"], options: .unique)
    /// ```
    /// ```sql
    /// CREATE UNIQUE INDEX "player_on_email" ON "player"("email")
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_createindex.html>.
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: the schema of the table; nil for the first schema with the table.
    /// - parameter table: the table's name.
    /// - parameter columns: the columns, in the order of the index.
    /// - parameter options: the options of the statement, such as `.unique`.
    /// - parameter condition: the condition for rows in the index; nil for all rows:
    ///   <https://www.sqlite.org/partialindex.html>.
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, columns: [String],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        try create(
            IndexDefinition(
                name: name, schemaName: schemaName, table: table, columns: columns, options: options,
                condition: condition))
    }

    /// Creates an index on columns.
    ///
    /// ```swift
    /// try db.create(index: "player_on_email", on: "player", columns: ["email"], unique: true)
    /// ```
    /// ```sql
    /// CREATE UNIQUE INDEX "player_on_email" ON "player"("email")
    /// ```
    ///
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false, ifNotExists: Bool = false,
        condition: SQL? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Creates an index on expressions.
    ///
    /// ```swift
    /// try db.create(index: "player_on_name", on: "player", expressions: ["lower(name)", "score DESC"])
    /// ```
    /// ```sql
    /// CREATE INDEX "player_on_name" ON "player"(lower(name), score DESC)
    /// ```
    ///
    /// See <https://www.sqlite.org/expridx.html>.
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: the schema of the table; nil for the first schema with the table.
    /// - parameter table: the table's name.
    /// - parameter expressions: the expressions, in the order of the index.
    /// - parameter options: the options of the statement, such as `.unique`.
    /// - parameter condition: the condition for rows in the index; nil for all rows.
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, expressions: [SQL],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        try create(
            IndexDefinition(
                name: name, schemaName: schemaName, table: table, terms: expressions, options: options,
                condition: condition))
    }

    /// Creates an index on columns, named after the table and the columns.
    ///
    /// ```swift
    /// try db.create(indexOn: "player", columns: ["teamId", "number"])
    /// ```
    /// ```sql
    /// CREATE INDEX "index_player_on_teamId_number" ON "player"("teamId", "number")
    /// ```
    ///
    /// - parameter table: the table's name.
    /// - parameter schemaName: the schema of the table; nil for the first schema with the table.
    /// - parameter columns: the columns, in the order of the index.
    /// - parameter options: the options of the statement, such as `.unique`.
    /// - parameter condition: the condition for rows in the index; nil for all rows.
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    public func create(
        indexOn table: String, in schemaName: String? = nil, columns: [String], options: IndexOptions = [],
        condition: SQL? = nil
    ) throws {
        try create(
            index: IndexDefinition.defaultName(on: table, columns: columns), in: schemaName, on: table,
            columns: columns, options: options, condition: condition)
    }
}

// MARK: - With built conditions and expressions

extension Database {
    /// Creates an index on the rows that satisfy a condition.
    ///
    /// ```swift
    /// try db.create(index: "winners", on: "player", columns: ["score"], condition: Column("score") > 1000)
    /// ```
    /// ```sql
    /// CREATE INDEX "winners" ON "player"("score") WHERE "score" > 1000
    /// ```
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: the schema of the table; nil for the first schema with the table.
    /// - parameter table: the table's name.
    /// - parameter columns: the columns, in the order of the index.
    /// - parameter options: the options of the statement, such as `.unique`.
    /// - parameter condition: the condition for rows in the index: <https://www.sqlite.org/partialindex.html>.
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    @_disfavoredOverload
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, columns: [String],
        options: IndexOptions = [], condition: some SQLSpecificExpressible
    ) throws {
        try create(
            index: name, in: schemaName, on: table, columns: columns, options: options,
            condition: SQL(condition.sqlExpression))
    }

    /// Creates an index on expressions, each with its collation and order.
    ///
    /// ```swift
    /// try db.create(
    ///     index: "player_on_name", on: "player",
    ///     expressions: [Column("name").collating(.nocase), Column("score").desc], options: .unique)
    /// ```
    /// ```sql
    /// CREATE UNIQUE INDEX "player_on_name" ON "player"("name" COLLATE NOCASE, "score" DESC)
    /// ```
    ///
    /// See <https://www.sqlite.org/expridx.html>.
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: the schema of the table; nil for the first schema with the table.
    /// - parameter table: the table's name.
    /// - parameter expressions: the expressions, in the order of the index.
    /// - parameter options: the options of the statement, such as `.unique`.
    /// - parameter condition: the condition for rows in the index; nil for all rows.
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    @_disfavoredOverload
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, expressions: [any SQLOrderingTerm],
        options: IndexOptions = [], condition: (any SQLSpecificExpressible)? = nil
    ) throws {
        try create(
            index: name, in: schemaName, on: table, expressions: expressions.map { SQL($0.sqlOrdering) },
            options: options, condition: condition.map { SQL($0.sqlExpression) })
    }

    /// Creates an index on the rows that satisfy a condition, named after the table and the columns.
    ///
    /// ```swift
    /// try db.create(indexOn: "player", columns: ["score"], condition: Column("score") > 1000)
    /// ```
    /// ```sql
    /// CREATE INDEX "index_player_on_score" ON "player"("score") WHERE "score" > 1000
    /// ```
    ///
    /// - throws: `DatabaseError`, for example if an index with that name exists, or rows have equal values in a unique
    ///   index.
    @_disfavoredOverload
    public func create(
        indexOn table: String, in schemaName: String? = nil, columns: [String], options: IndexOptions = [],
        condition: some SQLSpecificExpressible
    ) throws {
        try create(
            indexOn: table, in: schemaName, columns: columns, options: options, condition: SQL(condition.sqlExpression))
    }
}

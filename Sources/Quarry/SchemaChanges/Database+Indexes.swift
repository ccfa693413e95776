public import QuarryCore
public import QuarrySQL

extension Database {
    // MARK: - Indexes

    /// Deletes an index.
    ///
    /// ```sql
    /// DROP INDEX "player_on_name"
    /// ```
    ///
    /// - parameter name: the index's name.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first that has it.
    public func drop(index name: String, in schemaName: String? = nil) throws {
        try execute(sql: "DROP INDEX \(qualified(name, schemaName))")
    }

    /// Deletes the index on columns of a table, whatever its name. Does nothing if there is none.
    ///
    /// Indexes of constraints, and those on expressions, stay.
    ///
    /// - parameter table: the table's name.
    /// - parameter columns: the columns of the index, in their order.
    /// - parameter schemaName: `main`, `temp`, or the name of an attached database; nil for the first that has it.
    /// - throws: `DatabaseError` if there is no such table, or more than one such index.
    public func drop(indexOn table: String, columns: [String], in schemaName: String? = nil) throws {
        try checkAccess()
        let found = try schema.table(table, in: schemaName, self)
        let indexes = try schema.indexes(of: found, self).filter { index in
            index.origin == .createIndexStatement && index.columns.schemaNames == columns.schemaNames
        }
        guard indexes.count <= 1 else {
            let names = indexes.map(\.name).sorted().joined(separator: ", ")
            throw DatabaseError(
                message: "several indexes on \(found.name)(\(columns.joined(separator: ", "))): \(names)")
        }
        guard let index = indexes.first else { return }
        // The schema is named where the index could be mistaken for another.
        let isPlain = schemaName == nil && found.schema == "main"
        try drop(index: index.name, in: isPlain ? nil : found.schema)
    }

    /// Builds the indexes anew that use a collation.
    ///
    /// ```sql
    /// REINDEX NOCASE
    /// ```
    ///
    /// See <https://www.sqlite.org/lang_reindex.html>.
    public func reindex(collation: CollationName) throws { try execute(sql: "REINDEX \(collation.sql)") }

    /// Builds the indexes anew that use a collation, after its order has changed.
    public func reindex(collation: DatabaseCollation) throws { try reindex(collation: CollationName(collation.name)) }

    func create(_ index: IndexDefinition) throws {
        try checkAccess()
        try execute(sql: index.sql(schemaResolver))
    }
}

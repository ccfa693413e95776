public import Quarry

extension DocumentCollection {
    /// Creates an index on paths: from the existing documents, and kept by SQLite from then on.
    ///
    /// ```swift
    /// try books.createIndex(db, "author", on: author, year)
    /// ```
    /// ```sql
    /// CREATE INDEX main."document:books:author" ON "document"
    /// (collection, "object" ->> '$.author', "object" ->> '$.year') WHERE collection = 'books'
    /// ```
    ///
    /// It is an index on expressions, for this collection alone. Call it in a migration, or at each start: an index
    /// with the same definition is left as it is, one with another definition is replaced. See
    /// <https://www.sqlite.org/expridx.html> and <https://www.sqlite.org/partialindex.html>.
    ///
    /// - parameter name: a name, unique among the indexes of the collection.
    /// - parameter paths: the paths, in the order of the index.
    /// - parameter isUnique: whether two documents of the collection can't have the same values. Documents without a
    ///   value don't conflict.
    /// - returns: whether the index was created or replaced.
    /// - throws: `SQLITE_CONSTRAINT_UNIQUE` if documents have the same values in a unique index; `SQLITE_ERROR`
    ///   "malformed JSON" if SQL has stored an object that isn't JSON; `SQLITE_MISUSE` for a path that SQLite can't
    ///   follow, and for a collection whose name has a NUL; `DatabaseError`. The earlier index stays then.
    @discardableResult
    public func createIndex(
        _ db: Database, _ name: String, on paths: any DocumentIndexTerm..., unique isUnique: Bool = false
    ) throws -> Bool {
        try createIndex(db, name, on: paths, unique: isUnique)
    }

    /// Creates an index on paths, as the method that takes them one by one.
    ///
    /// - throws: its errors; `SQLITE_MISUSE` without a path.
    @discardableResult
    public func createIndex(
        _ db: Database, _ name: String, on paths: [any DocumentIndexTerm], unique isUnique: Bool = false
    ) throws -> Bool {
        guard !paths.isEmpty else {
            throw DatabaseError.misuse("an index has at least one path")
        }
        let index = try indexName(name)
        // With the collection as its first column, it serves ranges and orders better than the primary key does, also
        // in the eyes of SQLite without statistics.
        let terms = try paths.map { try $0.untypedPath.sql.get() }
        let start = "CREATE \(isUnique ? "UNIQUE " : "")INDEX "
        let definition = """
            \(index.text.quotedDatabaseIdentifier) ON \(store.name.quotedDatabaseIdentifier)\
            (\((["collection"] + terms).joined(separator: ", "))) WHERE collection = \(self.name.sqlText)
            """
        // SQLite stores the text without the name of the schema.
        if try db.storedSQL(ofSchemaObject: index.text) == start + definition { return false }
        try db.inSavepoint {
            try dropIndex(db, name)
            try db.execute(sql: "\(start)main.\(definition)")
            return .commit
        }
        return true
    }

    /// Drops an index on paths. Has no effect if it doesn't exist.
    ///
    /// ```sql
    /// DROP INDEX IF EXISTS main."document:books:author"
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func dropIndex(_ db: Database, _ name: String) throws {
        try db.execute(sql: "DROP INDEX IF EXISTS main.\(indexName(name).text.quotedDatabaseIdentifier)")
    }

    /// The names of the collection's indexes on paths.
    ///
    /// - throws: `DatabaseError`.
    public func indexNames(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql:
                "SELECT name FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE ORDER BY name",
            arguments: [store.name]
        ).compactMap { IndexName($0, store: store.name) }
            .filter { $0.collection.utf8.elementsEqual(self.name.utf8) }
            .map(\.name)
    }

    func indexName(_ index: String) throws -> IndexName {
        guard !name.utf8.contains(0) else {
            throw DatabaseError.misuse("a collection whose name has a NUL has no indexes: \(String(reflecting: name))")
        }
        return IndexName(store: store.name, collection: name, name: index)
    }
}

extension Database {
    /// The SQL of an index, a table or a trigger of the main schema.
    func storedSQL(ofSchemaObject name: String) throws -> String? {
        try String.fetchOne(
            self, sql: "SELECT sql FROM main.sqlite_master WHERE name = ? COLLATE NOCASE", arguments: [name])
    }
}

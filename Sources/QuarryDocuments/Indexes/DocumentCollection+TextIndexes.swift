public import Quarry

extension DocumentCollection {
    /// Creates a full-text index on paths: from the existing documents, and kept by triggers from then on.
    ///
    /// ```swift
    /// try books.createTextIndex(db, "text", on: title, author, tokenizer: .porter())
    /// let pattern = FTS5Pattern(matchingAllTokensIn: "white whale")!
    /// let found = try books.matching(pattern, in: "text").fetchAll(db)
    /// ```
    /// ```sql
    /// CREATE VIRTUAL TABLE main."document:books:text" USING fts5("title", "author", tokenize='porter')
    /// ```
    ///
    /// After an error of the disk, FTS5 of SQLite 3.40 may make the connection's next access fail once more, with
    /// `SQLITE_CORRUPT_VTAB` or the same error. The file isn't damaged, and the access after it succeeds.
    ///
    /// Its columns are named after the paths: `title`, `address.city`. Call it in a migration, or at each start: an
    /// index with the same definition is left as it is, one with another definition is built anew. See
    /// <https://www.sqlite.org/fts5.html>.
    ///
    /// - parameter name: a name, unique among the indexes of the collection.
    /// - parameter paths: the texts. Of an array, all strings are found.
    /// - parameter tokenizer: nil for FTS5's own default. A tokenizer in Swift must be known to all connections that
    ///   write.
    /// - returns: whether the index was created or replaced.
    /// - throws: `SQLITE_MISUSE` for a path that SQLite can't follow, and for a collection whose name has a NUL;
    ///   `DatabaseError`. The earlier index stays then.
    @discardableResult
    public func createTextIndex(
        _ db: Database, _ name: String, on paths: any DocumentIndexTerm..., tokenizer: FTS5TokenizerDescriptor? = nil
    ) throws -> Bool {
        try createTextIndex(db, name, on: paths, tokenizer: tokenizer)
    }

    /// Creates a full-text index on paths, as the method that takes them one by one.
    ///
    /// - throws: its errors; `SQLITE_MISUSE` without a path.
    @discardableResult
    public func createTextIndex(
        _ db: Database, _ name: String, on paths: [any DocumentIndexTerm], tokenizer: FTS5TokenizerDescriptor? = nil
    ) throws -> Bool {
        let index = TextIndex(name: try indexName(name))
        return try index.create(index.definition(paths.map(\.untypedPath), tokenizer), db)
    }

    /// Drops a full-text index. Has no effect if it doesn't exist.
    ///
    /// - throws: `DatabaseError`.
    public func dropTextIndex(_ db: Database, _ name: String) throws {
        try TextIndex(name: indexName(name)).drop(db)
    }

    /// The names of the collection's full-text indexes.
    ///
    /// - throws: `DatabaseError`.
    public func textIndexNames(_ db: Database) throws -> [String] {
        try store.textIndexes(db).map(\.name).filter { $0.collection.utf8.elementsEqual(name.utf8) }.map(\.name)
            .sorted()
    }

    /// The documents whose texts match a pattern, in no particular order.
    ///
    /// ```swift
    /// try books.matching(pattern, in: "text").filter(year > 1850).order(year).fetchAll(db)
    /// ```
    /// ```sql
    /// … WHERE (collection = 'books') AND "key" IN (SELECT … WHERE "document:books:text" MATCH 'white whale')
    /// ```
    ///
    /// If the collection has no such index, running the request throws `SQLITE_ERROR`: "no such table:
    /// main.document:books:text".
    public func matching(_ pattern: FTS5Pattern, in index: String) -> DocumentRequest<Object, Metadata> {
        let matches = TextIndex(name: IndexName(store: store.name, collection: name, name: index))
            .matches(pattern, ranked: false)
        return all().filter(SQL("\"key\" IN (\(matches))"))
    }

    /// The documents whose texts match a pattern, the best match first.
    ///
    /// ```swift
    /// let best = try books.bestMatches(db, pattern, in: "text", limit: 10)
    /// ```
    /// ```sql
    /// … ORDER BY rank LIMIT 10
    /// ```
    ///
    /// See <https://www.sqlite.org/fts5.html#the_bm25_function>.
    ///
    /// - parameter limit: the largest number of documents.
    /// - throws: `DocumentError`; `SQLITE_ERROR` if there is no such index; `DatabaseError`.
    public func bestMatches(
        _ db: Database, _ pattern: FTS5Pattern, in index: String, limit: Int
    ) throws -> [Document<Object, Metadata>] {
        let matches = TextIndex(name: try indexName(index)).matches(pattern, ranked: true)
        let request: SQLRequest<Row> = """
            SELECT key, version, metadata, object FROM (\(matches)) JOIN \(sql: sql.table) \
            ON \(condition) AND key = documentKey ORDER BY documentRank LIMIT \(limit)
            """
        let rows = try Row.fetchCursor(db, request)
        var documents: [Document<Object, Metadata>] = []
        while let row = try rows.next() { documents.append(try document(row)) }
        return documents
    }
}

public import Quarry
import QuarrySQL

/// A query of a collection's documents.
///
/// ```swift
/// let author = books.path("author", as: String.self)
/// let year = books.path("year", as: Int.self)
/// let found = try books.filter(author == "Melville" && year > 1850).order(year.desc).limit(10).fetchAll(db)
/// ```
/// ```sql
/// SELECT "key", "version", "metadata", "object" FROM "main"."document"
/// WHERE (collection = 'books') AND (("object" ->> '$.author') = 'Melville') AND (("object" ->> '$.year') > 1850)
/// ORDER BY "object" ->> '$.year' DESC LIMIT 10
/// ```
///
/// Indexes on paths serve filters and orders: see `DocumentCollection.createIndex`.
public struct DocumentRequest<Object: Codable & Sendable, Metadata: Codable & Sendable>: Sendable {
    /// The collection.
    public let collection: DocumentCollection<Object, Metadata>

    /// The request for the rows of the table: for subqueries, `explain`, and all that rows are good for.
    public let rows: QueryInterfaceRequest<Row>

    init(_ collection: DocumentCollection<Object, Metadata>, _ rows: QueryInterfaceRequest<Row>) {
        self.collection = collection
        self.rows = rows
    }

    private func with(_ rows: QueryInterfaceRequest<Row>) -> Self { Self(collection, rows) }

    // MARK: - Building

    /// The documents that fulfil a condition, too.
    public func filter(_ predicate: some SQLSpecificExpressible) -> Self { with(rows.filter(predicate)) }

    /// The documents in an order, in place of an earlier order.
    public func order(_ orderings: any SQLOrderingTerm...) -> Self { with(rows.order(orderings)) }

    /// The documents in the order of the bytes of their keys.
    public func orderedByKey() -> Self { with(rows.order(Column("key"))) }

    /// The documents in the reverse order.
    public func reversed() -> Self { with(rows.reversed()) }

    /// At most some of the documents.
    public func limit(_ limit: Int, offset: Int? = nil) -> Self { with(rows.limit(limit, offset: offset)) }

    // MARK: - Fetching

    /// All documents.
    ///
    /// ```swift
    /// let found = try books.filter(author == "Melville").fetchAll(db)
    /// ```
    ///
    /// - throws: `DocumentError` of the first that can't be decoded; `DatabaseError`.
    public func fetchAll(_ db: Database) throws -> [Document<Object, Metadata>] {
        var documents: [Document<Object, Metadata>] = []
        let cursor = try Row.fetchCursor(db, rows)
        while let row = try cursor.next() { documents.append(try collection.document(row)) }
        return documents
    }

    /// The first document.
    ///
    /// ```swift
    /// let newest = try books.all().order(year.desc).fetchOne(db)
    /// ```
    ///
    /// - throws: `DocumentError`; `DatabaseError`.
    public func fetchOne(_ db: Database) throws -> Document<Object, Metadata>? {
        try Row.fetchOne(db, rows).map(collection.document)
    }

    /// The documents one by one, as they are read. Only for the access.
    ///
    /// ```swift
    /// let documents = try books.all().fetchCursor(db) { key in key.hasPrefix("m") }
    /// while let document = try documents.next() { print(document.object.title) }
    /// ```
    ///
    /// - parameter isIncluded: decides by the key, before the object and the metadata are read.
    /// - throws: `DatabaseError`; from the cursor, also `DocumentError`.
    public func fetchCursor(
        _ db: Database, where isIncluded: @escaping (_ key: String) throws -> Bool = { _ in true }
    ) throws -> some Cursor<Document<Object, Metadata>> {
        let collection = collection
        return try Row.fetchCursor(db, rows)
            .filter { try isIncluded($0.decode(atIndex: 0)) }
            .map { try collection.document($0) }
    }

    /// The keys.
    ///
    /// ```swift
    /// let keys = try books.filter(year > 1850).fetchKeys(db)
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func fetchKeys(_ db: Database) throws -> [String] { try String.fetchAll(db, keyRows) }

    /// The keys one by one. Only for the access.
    ///
    /// - throws: `DatabaseError`.
    public func fetchKeyCursor(_ db: Database) throws -> some Cursor<String> {
        try String.fetchCursor(db, keyRows)
    }

    /// The keys and the metadata one by one, without the objects. Only for the access.
    ///
    /// ```swift
    /// let rows = try books.all().fetchMetadataCursor(db)
    /// while let (key, reading) = try rows.next() { print(key, reading?.page ?? 0) }
    /// ```
    ///
    /// - parameter isIncluded: decides by the key, before the metadata is read.
    /// - throws: `DatabaseError`; from the cursor, also `DocumentError`.
    public func fetchMetadataCursor(
        _ db: Database, where isIncluded: @escaping (_ key: String) throws -> Bool = { _ in true }
    ) throws -> some Cursor<(key: String, metadata: Metadata?)> {
        let collection = collection
        return try Row.fetchCursor(db, rows.select(Column("key"), Column("metadata")))
            .filter { try isIncluded($0.decode(atIndex: 0)) }
            .map { row in
                let key: String = try row.decode(atIndex: 0)
                return (key: key, metadata: try collection.metadata(row, index: 1, key: key))
            }
    }

    /// The number of documents.
    ///
    /// ```swift
    /// let count = try books.filter(year > 1850).fetchCount(db)
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int { try rows.fetchCount(db) }

    /// Whether there is no document.
    ///
    /// - throws: `DatabaseError`.
    public func isEmpty(_ db: Database) throws -> Bool { try rows.isEmpty(db) }

    /// Removes the documents.
    ///
    /// ```swift
    /// try books.filter(year < 1800).deleteAll(db)
    /// ```
    ///
    /// - returns: the number of removed documents.
    /// - throws: `DatabaseError`.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int { try rows.deleteAll(db) }

    /// SQLite's plan for the query: whether it uses an index.
    ///
    /// ```swift
    /// print(try books.filter(author == "Melville").explain(db))
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func explain(_ db: Database) throws -> QueryPlan { try rows.explain(db) }

    private var keyRows: QueryInterfaceRequest<String> { rows.select([Column("key")], as: String.self) }
}

extension DocumentRequest: DatabaseRegionConvertible {
    /// The tables and columns that the query reads: for `DatabaseRegionObservation` and `ValueObservation`.
    ///
    /// - throws: `DatabaseError`.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try rows.databaseRegion(db) }
}

extension DocumentCollection {
    /// All documents, in no particular order.
    public func all() -> DocumentRequest<Object, Metadata> {
        let columns = [Column("key"), Column("version"), Column("metadata"), Column("object")]
        // The schema is named for the reason that `DocumentSQL.table` tells.
        let table = QueryInterfaceRequest<Row>(query: SelectQuery(.table(store.name, schema: "main")))
        return DocumentRequest(self, table.select(columns).filter(condition))
    }

    /// The documents that fulfil a condition.
    public func filter(_ predicate: some SQLSpecificExpressible) -> DocumentRequest<Object, Metadata> {
        all().filter(predicate)
    }

    /// `collection = 'books'`, with the name as a literal: a partial index serves a query only if its condition is,
    /// word for word, a condition of the query: <https://www.sqlite.org/partialindex.html>.
    var condition: SQL {
        if name.utf8.contains(0) { return SQL(sql: "collection = ?", arguments: [name]) }
        return SQL(sql: "collection = \(name.sqlText)")
    }
}

extension String {
    /// The text in single quotes: without a NUL, an SQL literal.
    var sqlText: String {
        var text = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { text.unicodeScalars.append("'") }
            text.unicodeScalars.append(scalar)
        }
        return text + "'"
    }
}

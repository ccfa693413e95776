public import Quarry
import QuarryCore

/// Documents in a table of a database: values with a collection and a key, and with metadata if you like.
///
/// ```swift
/// let store = DocumentStore("document")
/// migrator.registerMigration("documents") { db in try store.create(in: db) }
///
/// let books = store.collection("books", of: Book.self)
/// try dbPool.write { db in
///     try books.set(db, key: "moby-dick", Book(title: "Moby-Dick", author: "Melville", year: 1851))
/// }
/// let book = try dbPool.read { db in try books.get(db, key: "moby-dick") }
/// ```
///
/// A store is the name of a table. It has no connection: it works in the transactions of any queue or pool, beside
/// records and SQL. A database may have several stores; their tables are in its main schema. Temporary tables and
/// attached databases may have tables of the same name: the store never uses them.
///
/// Names of collections and keys are texts, compared byte by byte: `"Books"` and `"books"` differ, and so do a composed
/// and a decomposed `"é"`, which Swift regards as equal. They may be empty, long, and contain NULs.
public struct DocumentStore: Sendable {
    /// The name of the table.
    public let name: String

    let sql: DocumentSQL

    /// A store.
    ///
    /// ```swift
    /// let store = DocumentStore("document")
    /// ```
    ///
    /// - parameter name: the name of its table. The names of the tables of its text indexes begin with it.
    public init(_ name: String = "document") {
        self.name = name
        sql = DocumentSQL(table: name)
    }

    /// A typed view of a collection, without metadata.
    ///
    /// ```swift
    /// let books = store.collection("books", of: Book.self)
    /// ```
    ///
    /// A collection exists as long as it has documents. Nothing is read or written by this method.
    ///
    /// - parameter name: the name of the collection; it may be empty.
    /// - parameter type: the type of the documents.
    /// - parameter coding: how objects become JSON and the other way round.
    public func collection<Object: Codable & Sendable>(
        _ name: String, of type: Object.Type, coding: JSONCoding = .standard
    ) -> DocumentCollection<Object, Never> {
        collection(name, of: type, metadata: Never.self, coding: coding)
    }

    /// A typed view of a collection, whose documents may have metadata.
    ///
    /// ```swift
    /// let books = store.collection("books", of: Book.self, metadata: Reading.self)
    /// ```
    ///
    /// - parameter name: the name of the collection; it may be empty.
    /// - parameter type: the type of the documents.
    /// - parameter metadata: the type of the metadata.
    /// - parameter coding: how objects and metadata become JSON and the other way round.
    public func collection<Object: Codable & Sendable, Metadata: Codable & Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, coding: JSONCoding = .standard
    ) -> DocumentCollection<Object, Metadata> {
        DocumentCollection(store: self, name: name, coding: coding)
    }
}

extension DocumentStore {
    // MARK: - The table

    /// Creates the table, unless it exists: in a migration, or at each start.
    ///
    /// ```swift
    /// migrator.registerMigration("documents") { db in try store.create(in: db) }
    /// ```
    /// ```sql
    /// CREATE TABLE IF NOT EXISTS main."document" (
    ///     collection TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, metadata TEXT,
    ///     object TEXT NOT NULL, PRIMARY KEY (collection, key)) STRICT
    /// ```
    ///
    /// The table is SQLite's: SQL may read and change it. `object` and `metadata` have JSON. See
    /// <https://www.sqlite.org/stricttables.html>.
    ///
    /// - throws: `SQLITE_MISUSE` for a name without characters or with a NUL, and if a table or view of that name has
    ///   other columns; `DatabaseError`.
    public func create(in db: Database) throws {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DatabaseError.misuse(
                "the name of a document store has characters, and no NUL: \(String(reflecting: name))")
        }
        try db.execute(sql: sql.create)
        let columns = try db.columns(in: name, in: "main").map(\.name)
        let key = try db.primaryKey(name, in: "main").columns
        guard Set(DocumentSQL.columns).isSubset(of: columns), key == ["collection", "key"] else {
            throw DatabaseError.misuse("\(name) is not a document store: its columns are \(columns)")
        }
    }

    /// Drops the table, its documents and its indexes. Has no effect if the table doesn't exist.
    ///
    /// ```swift
    /// try dbPool.write { db in try store.drop(in: db) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func drop(in db: Database) throws {
        for index in try textIndexes(db) { try index.drop(db) }
        try db.execute(sql: "DROP TABLE IF EXISTS \(sql.table)")
    }

    /// Whether the table exists.
    ///
    /// ```swift
    /// let exists = try dbPool.read { db in try store.exists(in: db) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func exists(in db: Database) throws -> Bool { try db.tableExists(name, in: "main") }

    // MARK: - All collections

    /// The names of the collections that have documents, in the order of their bytes.
    ///
    /// ```sql
    /// SELECT DISTINCT collection FROM main."document" ORDER BY collection
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func collectionNames(_ db: Database) throws -> [String] {
        try String.fetchAll(db.cachedStatement(sql: sql.collectionNames))
    }

    /// The number of documents in all collections.
    ///
    /// ```swift
    /// let count = try dbPool.read { db in try store.count(db) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: sql.countAll)) ?? 0
    }

    /// Removes the documents of all collections.
    ///
    /// ```sql
    /// DELETE FROM main."document"
    /// ```
    ///
    /// - returns: the number of removed documents.
    /// - throws: `DatabaseError`.
    @discardableResult
    public func removeAll(_ db: Database) throws -> Int {
        try db.cachedStatement(sql: sql.removeAll).execute()
        return db.changesCount
    }

    /// Calls a closure with the collection and the key of each document, in the order of their bytes.
    ///
    /// ```swift
    /// try store.forEachKey(db) { collection, key in print("\(collection)/\(key)") }
    /// ```
    ///
    /// - throws: the closure's error; `DatabaseError`.
    public func forEachKey(_ db: Database, _ body: (_ collection: String, _ key: String) throws -> Void) throws {
        let rows = try Row.fetchCursor(db.makeStatement(sql: sql.allKeys))
        while let row = try rows.next() {
            try body(try row.decode(atIndex: 0), try row.decode(atIndex: 1))
        }
    }
}

extension DocumentStore: Hashable {
    /// Whether the stores have the same table: SQLite compares names byte by byte, but for the case of ASCII letters.
    public static func == (lhs: DocumentStore, rhs: DocumentStore) -> Bool { lhs.name.isSameName(as: rhs.name) }

    public func hash(into hasher: inout Hasher) { hasher.combine(SpelledName(name.lowercasedASCII)) }
}

public import Quarry

extension DocumentCollection {
    /// The object of a key; nil if the collection has no such document.
    ///
    /// ```swift
    /// let book = try books.get(db, key: "moby-dick")
    /// ```
    /// ```sql
    /// SELECT version, object FROM main."document" WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// The metadata isn't read.
    ///
    /// - throws: `DocumentError` if the object can't be decoded; `DatabaseError`.
    public func get(_ db: Database, key: String) throws -> Object? {
        try row(db, sql.object, key) { try object($0, versionIndex: 0, index: 1, key: key) }
    }

    /// The metadata of a key; nil if there is no such document, or it has no metadata. The object isn't read.
    ///
    /// ```sql
    /// SELECT metadata FROM main."document" WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// - throws: `DocumentError` if the metadata can't be decoded; `DatabaseError`.
    public func getMetadata(_ db: Database, key: String) throws -> Metadata? {
        try row(db, sql.metadata, key) { try metadata($0, index: 0, key: key) } ?? nil
    }

    /// The object and the metadata of a key; nil if the collection has no such document.
    ///
    /// ```swift
    /// if let document = try books.getDocument(db, key: "emma") { print(document.object, document.metadata) }
    /// ```
    ///
    /// - throws: `DocumentError`; `DatabaseError`.
    public func getDocument(_ db: Database, key: String) throws -> Document<Object, Metadata>? {
        try row(db, sql.document, key, document)
    }

    /// The documents of several keys, in the order of the keys. Keys without a document are left out.
    ///
    /// ```swift
    /// let documents = try books.getDocuments(db, keys: ["typee", "emma"])
    /// ```
    ///
    /// - throws: `DocumentError`; `DatabaseError`.
    public func getDocuments(_ db: Database, keys: some Sequence<String>) throws -> [Document<Object, Metadata>] {
        try keys.compactMap { try getDocument(db, key: $0) }
    }

    /// Whether the collection has a document with a key.
    ///
    /// ```swift
    /// guard try books.contains(db, key: "emma") else { return }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func contains(_ db: Database, key: String) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: sql.exists), arguments: [name, key]) ?? false
    }

    /// The keys, in the order of their bytes.
    ///
    /// ```swift
    /// for key in try books.keys(db) { print(key) }
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func keys(_ db: Database) throws -> [String] { try all().orderedByKey().fetchKeys(db) }

    /// The number of documents.
    ///
    /// ```swift
    /// let count = try books.count(db)
    /// ```
    ///
    /// - throws: `DatabaseError`.
    public func count(_ db: Database) throws -> Int { try all().fetchCount(db) }

    /// Decodes the row of a key, without a copy of the row.
    private func row<T>(_ db: Database, _ sql: String, _ key: String, _ body: (Row) throws -> T) throws -> T? {
        try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [name, key]).withFirst(body)
    }
}

extension Cursor {
    /// Calls a closure with the first element, which may depend on the cursor.
    func withFirst<T>(_ body: (Element) throws -> T) throws -> T? {
        try withExtendedLifetime(self) { try next().map(body) }
    }
}

public import Quarry

extension DocumentCollection {
    /// Stores an object and its metadata, in place of an earlier one with that key.
    ///
    /// ```swift
    /// try books.set(db, key: "moby-dick", book)
    /// ```
    /// ```sql
    /// INSERT INTO main."document" (collection, key, version, metadata, object)
    /// VALUES ('books', 'moby-dick', 1, NULL, '{"author":"Melville",…}')
    /// ON CONFLICT (collection, key) DO UPDATE SET
    ///     version = excluded.version, metadata = excluded.metadata, object = excluded.object
    /// ```
    ///
    /// Without metadata, earlier metadata is removed: `replace` keeps it.
    ///
    /// - throws: `DocumentError` if a value can't be encoded; `SQLITE_CONSTRAINT_UNIQUE` if a unique index has another
    ///   document with the same values; `SQLITE_READONLY` in a read; `DatabaseError`.
    public func set(_ db: Database, key: String, _ object: Object, metadata: Metadata? = nil) throws {
        let json = try json(ofObject: object, key: key)
        let info = try self.json(ofMetadata: metadata, key: key)
        try db.cachedStatement(sql: sql.set).execute(arguments: [name, key, version, info, json])
    }

    /// Replaces the object of an existing document, and keeps its metadata.
    ///
    /// ```sql
    /// UPDATE main."document" SET version = 1, object = '…' WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// - returns: false if there is no such document: nothing is stored then.
    /// - throws: the errors of `set`.
    @discardableResult
    public func replace(_ db: Database, key: String, _ object: Object) throws -> Bool {
        let json = try json(ofObject: object, key: key)
        try db.cachedStatement(sql: sql.replaceObject).execute(arguments: [version, json, name, key])
        return db.changesCount > 0
    }

    /// Replaces the metadata of an existing document, and keeps its object.
    ///
    /// ```sql
    /// UPDATE main."document" SET metadata = '…' WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// - parameter metadata: nil removes the metadata.
    /// - returns: false if there is no such document: nothing is stored then.
    /// - throws: the errors of `set`.
    @discardableResult
    public func replaceMetadata(_ db: Database, key: String, _ metadata: Metadata?) throws -> Bool {
        let json = try json(ofMetadata: metadata, key: key)
        try db.cachedStatement(sql: sql.replaceMetadata).execute(arguments: [json, name, key])
        return db.changesCount > 0
    }

    /// Tells observers that a document has changed, without a change: a picture that the document names is new, say.
    ///
    /// ```sql
    /// UPDATE main."document" SET object = object WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// - parameter part: the part that counts as changed; nil for both.
    /// - returns: false if there is no such document.
    /// - throws: `SQLITE_READONLY` in a read; `DatabaseError`.
    @discardableResult
    public func touch(_ db: Database, key: String, _ part: DocumentPart? = nil) throws -> Bool {
        let statement =
            switch part {
            case .object: sql.touchObject
            case .metadata: sql.touchMetadata
            case nil: sql.touch
            }
        try db.cachedStatement(sql: statement).execute(arguments: [name, key])
        return db.changesCount > 0
    }

    /// Removes a document.
    ///
    /// ```sql
    /// DELETE FROM main."document" WHERE collection = 'books' AND key = 'moby-dick'
    /// ```
    ///
    /// - returns: whether it existed.
    /// - throws: `SQLITE_READONLY` in a read; `DatabaseError`.
    @discardableResult
    public func remove(_ db: Database, key: String) throws -> Bool {
        try db.cachedStatement(sql: sql.remove).execute(arguments: [name, key])
        return db.changesCount > 0
    }

    /// Removes the documents of several keys.
    ///
    /// ```swift
    /// try books.remove(db, keys: ["emma", "typee"])
    /// ```
    ///
    /// - returns: the number of removed documents.
    /// - throws: `SQLITE_READONLY` in a read; `DatabaseError`.
    @discardableResult
    public func remove(_ db: Database, keys: some Sequence<String>) throws -> Int {
        try keys.reduce(0) { try $0 + (remove(db, key: $1) ? 1 : 0) }
    }

    /// Removes all documents of the collection.
    ///
    /// ```sql
    /// DELETE FROM "main"."document" WHERE collection = 'books'
    /// ```
    ///
    /// - returns: the number of removed documents.
    /// - throws: `SQLITE_READONLY` in a read; `DatabaseError`.
    @discardableResult
    public func removeAll(_ db: Database) throws -> Int { try all().deleteAll(db) }
}

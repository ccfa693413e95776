public import Quarry

extension CollectionWriter {
    /// Writes the whole database in a transaction: in that of the access that this thread has, or else in its own.
    ///
    /// ```swift
    /// try shelf.write { db in
    ///     try shelf.removeAll()
    ///     try Team.deleteAll(db)
    /// }
    /// ```
    ///
    /// Inside another write it is a savepoint: if the closure throws, its own changes are rolled back, and the other
    /// write may go on. Each method that writes does the same.
    ///
    /// - throws: the errors of `DatabaseWriter.write`; `SQLITE_READONLY` inside a read of the database; `SQLITE_MISUSE`
    ///   where both a read and a write of a pool are open.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try database.joinedWrite(collection.store.name, updates)
    }

    /// As the synchronous `write`, in a transaction of its own; waiting suspends the task.
    ///
    /// - throws: the errors of `DatabaseWriter.write`; `CancellationError`.
    public func write<T: Sendable>(_ updates: @Sendable (Database) throws -> T) async throws -> T {
        try await database.write(updates)
    }

    /// As the asynchronous `write` that returns other values; returns rows.
    ///
    /// ```swift
    /// let rows = try await books.write { db in try Row.fetchAll(db, sql: "DELETE FROM page RETURNING *") }
    /// ```
    ///
    /// - throws: the errors of `DatabaseWriter.write` for rows; `CancellationError`.
    public func write<Rows: RowContainer>(_ updates: @Sendable (Database) throws -> Rows) async throws -> sending Rows {
        try await database.write(updates)
    }

    // MARK: - Storing

    /// Stores an object and its metadata, in place of an earlier one with that key.
    ///
    /// ```swift
    /// try shelf.set(key: "emma", emma)
    /// ```
    ///
    /// - throws: the errors of `DocumentCollection.set(_:key:_:metadata:)` and of `write`.
    public func set(key: String, _ object: Object, metadata: Metadata? = nil) throws {
        try write { db in try collection.set(db, key: key, object, metadata: metadata) }
    }

    /// As the synchronous `set`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `set`; `CancellationError`.
    public func set(key: String, _ object: Object, metadata: Metadata? = nil) async throws {
        try await write { [collection] db in try collection.set(db, key: key, object, metadata: metadata) }
    }

    /// Replaces the object of an existing document, and keeps its metadata.
    ///
    /// - returns: false if there is no such document: nothing is stored then.
    /// - throws: the errors of `set`.
    @discardableResult
    public func replace(key: String, _ object: Object) throws -> Bool {
        try write { db in try collection.replace(db, key: key, object) }
    }

    /// As the synchronous `replace`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `replace`; `CancellationError`.
    @discardableResult
    public func replace(key: String, _ object: Object) async throws -> Bool {
        try await write { [collection] db in try collection.replace(db, key: key, object) }
    }

    /// Replaces the metadata of an existing document, and keeps its object.
    ///
    /// - parameter metadata: nil removes the metadata.
    /// - returns: false if there is no such document: nothing is stored then.
    /// - throws: the errors of `set`.
    @discardableResult
    public func replaceMetadata(key: String, _ metadata: Metadata?) throws -> Bool {
        try write { db in try collection.replaceMetadata(db, key: key, metadata) }
    }

    /// As the synchronous `replaceMetadata`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `replaceMetadata`; `CancellationError`.
    @discardableResult
    public func replaceMetadata(key: String, _ metadata: Metadata?) async throws -> Bool {
        try await write { [collection] db in try collection.replaceMetadata(db, key: key, metadata) }
    }

    /// Tells observers that a document has changed, without a change.
    ///
    /// - parameter part: the part that counts as changed; nil for both.
    /// - returns: false if there is no such document.
    /// - throws: the errors of `write`.
    @discardableResult
    public func touch(key: String, _ part: DocumentPart? = nil) throws -> Bool {
        try write { db in try collection.touch(db, key: key, part) }
    }

    /// As the synchronous `touch`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `touch`; `CancellationError`.
    @discardableResult
    public func touch(key: String, _ part: DocumentPart? = nil) async throws -> Bool {
        try await write { [collection] db in try collection.touch(db, key: key, part) }
    }

    // MARK: - Removing

    /// Removes a document.
    ///
    /// ```swift
    /// try shelf.remove(key: "emma")
    /// ```
    ///
    /// - returns: whether it existed.
    /// - throws: the errors of `write`.
    @discardableResult
    public func remove(key: String) throws -> Bool { try write { db in try collection.remove(db, key: key) } }

    /// As the synchronous `remove`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `remove`; `CancellationError`.
    @discardableResult
    public func remove(key: String) async throws -> Bool {
        try await write { [collection] db in try collection.remove(db, key: key) }
    }

    /// Removes the documents of several keys, in one transaction.
    ///
    /// - returns: the number of removed documents.
    /// - throws: the errors of `write`.
    @discardableResult
    public func remove(keys: some Sequence<String>) throws -> Int {
        try write { db in try collection.remove(db, keys: keys) }
    }

    /// As the synchronous `remove(keys:)`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `remove(keys:)`; `CancellationError`.
    @discardableResult
    public func remove(keys: some Sequence<String> & Sendable) async throws -> Int {
        try await write { [collection] db in try collection.remove(db, keys: keys) }
    }

    /// Removes all documents of the collection, or those of a part.
    ///
    /// ```swift
    /// try shelf.removeAll { $0.filter(year < 1800) }
    /// ```
    ///
    /// - returns: the number of removed documents.
    /// - throws: the errors of `write`; the closure's error.
    @discardableResult
    public func removeAll(_ part: Part = { $0 }) throws -> Int {
        let request = try part(collection.all())
        return try write { db in try request.deleteAll(db) }
    }

    /// As the synchronous `removeAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `removeAll`; `CancellationError`.
    @discardableResult
    public func removeAll(_ part: Part = { $0 }) async throws -> Int {
        let request = try part(collection.all())
        return try await write { db in try request.deleteAll(db) }
    }
}

public import Quarry

extension BoundCollection {
    /// A part of the collection: the closure of a method changes the request for all documents.
    public typealias Part = (DocumentRequest<Object, Metadata>) throws -> DocumentRequest<Object, Metadata>

    /// Reads the whole database, in the access that this thread has, or else in one of its own.
    ///
    /// ```swift
    /// let (count, book) = try shelf.read { db in
    ///     (try shelf.count(), try shelf.get(key: "emma"))
    /// }
    /// ```
    ///
    /// - throws: the errors of `DatabaseReader.read`; `SQLITE_MISUSE` where both a read and a write of a pool are open.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try reader.joinedRead(collection.store.name, value)
    }

    /// As the synchronous `read`, in an access of its own; waiting suspends the task.
    ///
    /// - throws: the errors of `DatabaseReader.read`; `CancellationError`.
    public func read<T: Sendable>(_ value: @Sendable (Database) throws -> T) async throws -> T {
        try await reader.read(value)
    }

    /// As the asynchronous `read` that returns other values; returns rows.
    ///
    /// ```swift
    /// let rows = try await books.read { db in try Row.fetchAll(db, sql: "SELECT * FROM book") }
    /// ```
    ///
    /// - throws: the errors of `DatabaseReader.read` for rows; `CancellationError`.
    public func read<Rows: RowContainer>(_ value: @Sendable (Database) throws -> Rows) async throws -> sending Rows {
        try await reader.read(value)
    }

    // MARK: - By key

    /// The object of a key; nil if the collection has no such document.
    ///
    /// ```swift
    /// let book = try shelf.get(key: "emma")
    /// ```
    ///
    /// - throws: `DocumentError` if the object can't be decoded; the errors of `read`.
    public func get(key: String) throws -> Object? { try read { db in try collection.get(db, key: key) } }

    /// As the synchronous `get`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `get`; `CancellationError`.
    public func get(key: String) async throws -> Object? {
        try await read { [collection] db in try collection.get(db, key: key) }
    }

    /// The metadata of a key; nil if there is no such document, or it has no metadata. The object isn't read.
    ///
    /// - throws: `DocumentError` if the metadata can't be decoded; the errors of `read`.
    public func getMetadata(key: String) throws -> Metadata? {
        try read { db in try collection.getMetadata(db, key: key) }
    }

    /// As the synchronous `getMetadata`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `getMetadata`; `CancellationError`.
    public func getMetadata(key: String) async throws -> Metadata? {
        try await read { [collection] db in try collection.getMetadata(db, key: key) }
    }

    /// The object and the metadata of a key; nil if the collection has no such document.
    ///
    /// - throws: `DocumentError`; the errors of `read`.
    public func getDocument(key: String) throws -> Document<Object, Metadata>? {
        try read { db in try collection.getDocument(db, key: key) }
    }

    /// As the synchronous `getDocument`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `getDocument`; `CancellationError`.
    public func getDocument(key: String) async throws -> Document<Object, Metadata>? {
        try await read { [collection] db in try collection.getDocument(db, key: key) }
    }

    /// The documents of several keys, in the order of the keys. Keys without a document are left out.
    ///
    /// - throws: `DocumentError`; the errors of `read`.
    public func getDocuments(keys: some Sequence<String>) throws -> [Document<Object, Metadata>] {
        try read { db in try collection.getDocuments(db, keys: keys) }
    }

    /// As the synchronous `getDocuments`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `getDocuments`; `CancellationError`.
    public func getDocuments(keys: some Sequence<String> & Sendable) async throws -> [Document<Object, Metadata>] {
        try await read { [collection] db in try collection.getDocuments(db, keys: keys) }
    }

    /// Whether the collection has a document with a key.
    ///
    /// - throws: the errors of `read`.
    public func contains(key: String) throws -> Bool { try read { db in try collection.contains(db, key: key) } }

    /// As the synchronous `contains`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `contains`; `CancellationError`.
    public func contains(key: String) async throws -> Bool {
        try await read { [collection] db in try collection.contains(db, key: key) }
    }

    /// The keys, in the order of their bytes.
    ///
    /// - throws: the errors of `read`.
    public func keys() throws -> [String] { try read(collection.keys) }

    /// As the synchronous `keys`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `keys`; `CancellationError`.
    public func keys() async throws -> [String] { try await read { [collection] db in try collection.keys(db) } }

    // MARK: - Parts

    /// The number of documents, or of those of a part.
    ///
    /// ```swift
    /// let count = try shelf.count()
    /// let newer = try shelf.count { $0.filter(year > 1850) }
    /// ```
    ///
    /// - throws: the errors of `read`; the closure's error.
    public func count(_ part: Part = { $0 }) throws -> Int {
        let request = try part(collection.all())
        return try read { db in try request.fetchCount(db) }
    }

    /// As the synchronous `count`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `count`; `CancellationError`.
    public func count(_ part: Part = { $0 }) async throws -> Int {
        let request = try part(collection.all())
        return try await read { db in try request.fetchCount(db) }
    }

    /// All documents, or those of a part.
    ///
    /// ```swift
    /// let found = try shelf.fetchAll { $0.filter(author == "Melville").order(year.desc).limit(10) }
    /// ```
    ///
    /// - throws: `DocumentError` of the first that can't be decoded; the errors of `read`; the closure's error.
    public func fetchAll(_ part: Part = { $0 }) throws -> [Document<Object, Metadata>] {
        let request = try part(collection.all())
        return try read { db in try request.fetchAll(db) }
    }

    /// As the synchronous `fetchAll`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchAll`; `CancellationError`.
    public func fetchAll(_ part: Part = { $0 }) async throws -> [Document<Object, Metadata>] {
        let request = try part(collection.all())
        return try await read { db in try request.fetchAll(db) }
    }

    /// The first document, or the first of a part; nil if there is none.
    ///
    /// ```swift
    /// let newest = try shelf.fetchOne { $0.order(year.desc) }
    /// ```
    ///
    /// - throws: `DocumentError` if it can't be decoded; the errors of `read`; the closure's error.
    public func fetchOne(_ part: Part = { $0 }) throws -> Document<Object, Metadata>? {
        let request = try part(collection.all())
        return try read { db in try request.fetchOne(db) }
    }

    /// As the synchronous `fetchOne`; waiting suspends the task.
    ///
    /// - throws: the errors of the synchronous `fetchOne`; `CancellationError`.
    public func fetchOne(_ part: Part = { $0 }) async throws -> Document<Object, Metadata>? {
        let request = try part(collection.all())
        return try await read { db in try request.fetchOne(db) }
    }
}

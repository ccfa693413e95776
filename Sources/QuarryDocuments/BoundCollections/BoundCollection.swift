public import Quarry

/// A collection together with the database that it is in: one line reads or writes a document.
///
/// ```swift
/// let shelf = store.collection("books", of: Book.self).bound(to: dbPool)
/// try await shelf.set(key: "emma", emma)
/// let book = try await shelf.get(key: "emma")
/// ```
/// ```sql
/// BEGIN DEFERRED TRANSACTION
/// SELECT version, object FROM main."document" WHERE collection = 'books' AND key = 'emma'
/// COMMIT TRANSACTION
/// ```
///
/// As with `BoundTable`, each method is an access of its own. But on a thread that has an access to the same database
/// open, a method joins it:
///
/// ```swift
/// try dbPool.write { db in
///     try shelf.set(key: "emma", emma)      // in this transaction
///     try player.insert(db)
///     let count = try shelf.count()         // sees the new document
/// }
/// ```
///
/// Making the value opens nothing, and checks nothing. The methods that follow `await` never join, because the closure
/// of an access can't wait: they are accesses of their own.
///
/// Several methods of a pool may see several states. To read one state, use them inside `read`.
public protocol BoundCollection<Object, Metadata>: Sendable {
    /// The type of the objects.
    associatedtype Object: Codable & Sendable
    /// The type of the metadata.
    associatedtype Metadata: Codable & Sendable

    /// The collection.
    var collection: DocumentCollection<Object, Metadata> { get }

    /// The database, as a reader.
    var reader: any DatabaseReader { get }
}

/// A collection together with a reader of its database. See `BoundCollection`.
///
/// ```swift
/// let shelf = books.bound(to: snapshot)
/// let count = try shelf.count()
/// ```
public struct CollectionReader<Object: Codable & Sendable, Metadata: Codable & Sendable>: BoundCollection {
    public let collection: DocumentCollection<Object, Metadata>
    /// The database.
    public let database: any DatabaseReader
    public var reader: any DatabaseReader { database }
}

/// A collection together with a writer of its database. See `BoundCollection`.
///
/// ```swift
/// let shelf = books.bound(to: dbPool)
/// try shelf.set(key: "emma", emma)
/// ```
public struct CollectionWriter<Object: Codable & Sendable, Metadata: Codable & Sendable>: BoundCollection {
    public let collection: DocumentCollection<Object, Metadata>
    /// The database.
    public let database: any DatabaseWriter
    public var reader: any DatabaseReader { database }
}

extension DocumentCollection {
    /// The collection of a reader, to read with one line.
    ///
    /// ```swift
    /// let shelf = books.bound(to: snapshot)
    /// let book = try shelf.get(key: "emma")
    /// ```
    public func bound(to reader: some DatabaseReader) -> CollectionReader<Object, Metadata> {
        CollectionReader(collection: self, database: reader)
    }

    /// The collection of a writer, to read and write with one line.
    ///
    /// ```swift
    /// let shelf = books.bound(to: dbPool)
    /// try shelf.set(key: "emma", emma)
    /// ```
    public func bound(to writer: some DatabaseWriter) -> CollectionWriter<Object, Metadata> {
        CollectionWriter(collection: self, database: writer)
    }
}

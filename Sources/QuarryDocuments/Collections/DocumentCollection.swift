public import Quarry

/// The documents of a collection: objects and metadata of one type, by key.
///
/// ```swift
/// let books = store.collection("books", of: Book.self, metadata: Reading.self)
/// try dbPool.write { db in
///     try books.set(db, key: "moby-dick", book, metadata: Reading(page: 1))
///     try books.replaceMetadata(db, key: "moby-dick", Reading(page: 30))
/// }
/// let book = try dbPool.read { db in try books.get(db, key: "moby-dick") }
/// ```
///
/// All methods take the connection of a transaction, as those of records do.
public struct DocumentCollection<Object: Codable & Sendable, Metadata: Codable & Sendable>: Sendable {
    /// The store.
    public let store: DocumentStore

    /// The name of the collection.
    public let name: String

    /// How objects and metadata become JSON and the other way round.
    public let coding: JSONCoding

    /// The version of the type of the objects: see `version(_:)`.
    public internal(set) var version = 1

    /// How the objects of older versions are decoded.
    var upgrades: [Int: @Sendable (Row, _ index: Int, JSONCoding) throws -> Object?] = [:]

    init(store: DocumentStore, name: String, coding: JSONCoding) {
        self.store = store
        self.name = name
        self.coding = coding
    }

    var sql: DocumentSQL { store.sql }

    func address(_ key: String) -> DocumentAddress {
        DocumentAddress(store: store.name, collection: name, key: key)
    }

    // MARK: - Coding

    func json(ofObject object: Object, key: String) throws -> String {
        do {
            return try coding.json(of: object)
        } catch {
            throw DocumentError(.encodingObject, Object.self, address(key), error)
        }
    }

    func json(ofMetadata metadata: Metadata?, key: String) throws -> String? {
        guard let metadata else { return nil }
        do {
            return try coding.json(of: metadata)
        } catch {
            throw DocumentError(.encodingMetadata, Metadata.self, address(key), error)
        }
    }

    /// Decodes the object of a row.
    ///
    /// - parameter index: the index of the column `object`; `version` is at `versionIndex`.
    func object(_ row: Row, versionIndex: Int, index: Int, key: String) throws -> Object {
        let stored = try row.decode(Int.self, atIndex: versionIndex)
        guard stored == version else { return try oldObject(row, version: stored, index: index, key: key) }
        do {
            if let object = try coding.decode(Object.self, from: row, atIndex: index) { return object }
        } catch {
            throw DocumentError(.decodingObject, Object.self, address(key), error)
        }
        throw DocumentError(.decodingObject, Object.self, address(key))
    }

    private func oldObject(_ row: Row, version stored: Int, index: Int, key: String) throws -> Object {
        guard let upgrade = upgrades[stored] else {
            throw DocumentError(
                .upgradingObject, Object.self, address(key),
                reason: stored > version
                    ? "its version is \(stored), and the collection's is \(version)"
                    : "the collection, of version \(version), has no upgrade from version \(stored)")
        }
        do {
            if let object = try upgrade(row, index, coding) { return object }
        } catch {
            throw DocumentError(.upgradingObject, Object.self, address(key), error)
        }
        throw DocumentError(.upgradingObject, Object.self, address(key))
    }

    func metadata(_ row: Row, index: Int, key: String) throws -> Metadata? {
        // A collection without metadata ignores those that other types have stored.
        if Metadata.self == Never.self { return nil }
        do {
            return try coding.decode(Metadata.self, from: row, atIndex: index)
        } catch {
            throw DocumentError(.decodingMetadata, Metadata.self, address(key), error)
        }
    }

    /// The document of a row with the columns `key`, `version`, `metadata`, `object`.
    func document(_ row: Row) throws -> Document<Object, Metadata> {
        let key = try row.decode(String.self, atIndex: 0)
        return Document(
            key: key, object: try object(row, versionIndex: 1, index: 3, key: key),
            metadata: try metadata(row, index: 2, key: key))
    }
}

/// An object with its key and its metadata.
public struct Document<Object, Metadata> {
    /// The key in the collection.
    public var key: String

    /// The object.
    public var object: Object

    /// The metadata; nil if it has none.
    public var metadata: Metadata?

    /// A document.
    public init(key: String, object: Object, metadata: Metadata? = nil) {
        self.key = key
        self.object = object
        self.metadata = metadata
    }
}

extension Document: Sendable where Object: Sendable, Metadata: Sendable {}
extension Document: Equatable where Object: Equatable, Metadata: Equatable {}
extension Document: Hashable where Object: Hashable, Metadata: Hashable {}

extension Document: Identifiable {
    /// The key.
    public var id: String { key }
}

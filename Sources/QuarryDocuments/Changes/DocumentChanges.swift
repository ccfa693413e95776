public import Quarry

/// A part of a document.
///
/// ```swift
/// try books.touch(db, key: "emma", .metadata)
/// ```
public enum DocumentPart: Hashable, Sendable {
    /// The object.
    case object
    /// The metadata.
    case metadata
}

/// The change of a document, from before a commit to after it.
///
/// ```swift
/// for (key, change) in changes.changedKeys(in: "books") ?? [:] where change == .removed { forget(key) }
/// ```
public enum DocumentChange: Hashable, Sendable {
    /// The document is new.
    case inserted
    /// The document was set, replaced or touched.
    case updated(Set<DocumentPart>)
    /// The document is gone.
    case removed

    /// Whether the part is new, was set, or is gone.
    public func concerns(_ part: DocumentPart) -> Bool {
        switch self {
        case .inserted, .removed: true
        case .updated(let parts): parts.contains(part)
        }
    }

    init(_ change: RowChange) {
        switch change {
        case .inserted: self = .inserted
        case .deleted: self = .removed
        case .updated(nil): self = .updated([.object, .metadata])
        case .updated(let columns?):
            var parts: Set<DocumentPart> = []
            if columns.contains("metadata") { parts.insert(.metadata) }
            if columns.contains("object") || columns.contains("version") { parts.insert(.object) }
            self = .updated(parts)
        }
    }

    /// The change of two keys that Swift regards as equal.
    func joined(_ other: DocumentChange) -> DocumentChange { self == other ? self : .updated([.object, .metadata]) }
}

/// The documents of a store that commits have changed.
///
/// ```swift
/// for await commit in dbPool.commits(keys: true) {
///     let changes = store.changes(in: commit)
///     changes.containsChange(in: "books")                               // a document has come, gone or changed
///     changes.containsChange(of: .metadata, in: "books", key: "emma")
///     changes.changedKeys(in: "books")                                  // ["emma": .updated([.metadata])]
/// }
/// ```
///
/// If the changed keys aren't known, each question is answered by yes: see `didClear`.
public struct DocumentChanges: Sendable {
    /// The changes by collection and key; nil if they aren't known.
    private let changes: [RowKey: RowChange]?

    init(_ changes: DatabaseChanges, store: DocumentStore) {
        // With the schema, so that a dot in the name isn't taken for its end.
        self.changes = changes.changedKeys(in: "main.\(store.name)")
    }

    /// Whether no document has changed.
    public var isEmpty: Bool { changes?.isEmpty ?? false }

    /// Whether a document of a collection may have come, gone or changed.
    ///
    /// ```swift
    /// if changes.containsChange(in: "books") { reload() }
    /// ```
    ///
    /// - parameter part: the part that has changed; nil for either.
    public func containsChange(of part: DocumentPart? = nil, in collection: String) -> Bool {
        guard let changes else { return true }
        let name = collection.databaseValue
        return changes.contains { $0.key.values.first == name && Self.concerns($0.value, part) }
    }

    /// Whether a document may have come, gone or changed.
    ///
    /// ```swift
    /// if changes.containsChange(of: .object, in: "books", key: "emma") { reload() }
    /// ```
    public func containsChange(of part: DocumentPart? = nil, in collection: String, key: String) -> Bool {
        guard let changes else { return true }
        return changes[RowKey([collection.databaseValue, key.databaseValue])].map { Self.concerns($0, part) } ?? false
    }

    /// Whether one of several documents may have come, gone or changed; false for no keys.
    ///
    /// ```swift
    /// if changes.containsChange(in: "books", anyOf: shownKeys) { reload() }
    /// ```
    public func containsChange(
        of part: DocumentPart? = nil, in collection: String, anyOf keys: some Sequence<String>
    ) -> Bool {
        keys.contains { containsChange(of: part, in: collection, key: $0) }
    }

    /// Whether the changed keys of a collection can't be listed: read the collection again.
    ///
    /// This is so if the commits were read without keys (`commits` instead of `commits(keys: true)`), if more than
    /// 10,000 documents of the store have changed, if the table was altered, if another process has written, and if the
    /// reader of the commits has missed some. Removing all documents lists their keys.
    public func didClear(_ collection: String) -> Bool { changes == nil }

    /// Whether the changed keys of the store can't be listed: see `didClear(_:)`.
    public var didClearAll: Bool { changes == nil }

    /// The changed documents of a collection.
    ///
    /// ```swift
    /// changes.changedKeys(in: "books")?["emma"]  // .updated([.object])
    /// ```
    ///
    /// - returns: nil if they can't be listed: see `didClear(_:)`.
    public func changedKeys(in collection: String) -> [String: DocumentChange]? {
        guard let changes else { return nil }
        let name = collection.databaseValue
        var result: [String: DocumentChange] = [:]
        for (key, change) in changes where key.values.first == name {
            if let text = key.text(at: 1) { result.join(text, DocumentChange(change)) }
        }
        return result
    }

    /// The changed documents of all collections, by collection and key.
    ///
    /// ```swift
    /// changes.changedKeys()?["books"]?["emma"]  // .updated([.object])
    /// ```
    ///
    /// - returns: nil if they can't be listed: see `didClear(_:)`.
    public func changedKeys() -> [String: [String: DocumentChange]]? {
        guard let changes else { return nil }
        var result: [String: [String: DocumentChange]] = [:]
        for (key, change) in changes {
            guard let collection = key.text(at: 0), let text = key.text(at: 1) else { continue }
            result[collection, default: [:]].join(text, DocumentChange(change))
        }
        return result
    }

    private static func concerns(_ change: RowChange, _ part: DocumentPart?) -> Bool {
        part.map { DocumentChange(change).concerns($0) } ?? true
    }
}

extension RowKey {
    fileprivate func text(at index: Int) -> String? {
        let values = values
        return index < values.count ? String.fromDatabaseValue(values[index]) : nil
    }
}

extension [String: DocumentChange] {
    /// Swift regards a composed and a decomposed letter as equal, so two keys may be one.
    fileprivate mutating func join(_ key: String, _ change: DocumentChange) {
        self[key] = self[key].map { $0.joined(change) } ?? change
    }
}

extension DocumentStore {
    /// The documents that a commit has changed.
    ///
    /// ```swift
    /// for await commit in dbPool.commits(keys: true) {
    ///     if store.changes(in: commit).containsChange(in: "books") { … }
    /// }
    /// ```
    public func changes(in commit: DatabaseCommit) -> DocumentChanges { changes(in: commit.changes) }

    /// The documents that commits have changed together: `StableReader.advance()` returns such commits.
    public func changes(in commits: some Sequence<DatabaseCommit>) -> DocumentChanges { changes(in: commits.changes) }

    /// The documents among changes.
    public func changes(in changes: DatabaseChanges) -> DocumentChanges { DocumentChanges(changes, store: self) }
}

extension DocumentCollection {
    /// The documents of the collection that a commit has changed, by their keys.
    ///
    /// ```swift
    /// for await commit in dbPool.commits(keys: true) {
    ///     guard let changes = books.changes(in: commit) else { return try await reload() }
    ///     for (key, change) in changes { … }
    /// }
    /// ```
    ///
    /// - returns: nil if they can't be listed: see `DocumentChanges.didClear(_:)`.
    public func changes(in commit: DatabaseCommit) -> [String: DocumentChange]? {
        store.changes(in: commit).changedKeys(in: name)
    }

    /// The documents of the collection that commits have changed together, by their keys.
    ///
    /// - returns: nil if they can't be listed: see `DocumentChanges.didClear(_:)`.
    public func changes(in commits: some Sequence<DatabaseCommit>) -> [String: DocumentChange]? {
        store.changes(in: commits).changedKeys(in: name)
    }
}

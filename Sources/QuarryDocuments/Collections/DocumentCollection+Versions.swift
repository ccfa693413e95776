public import Quarry
import QuarryCore
public import QuarryIncrementalWrites

extension DocumentCollection {
    /// The collection with a version of its objects' type: documents are stored with it.
    ///
    /// ```swift
    /// let books = store.collection("books", of: Book.self)
    ///     .version(2)
    ///     .upgrading(1, from: OldBook.self) { old in Book(title: old.name, author: "", year: old.year) }
    /// ```
    ///
    /// A document of an older version is converted whenever it is read; it is stored in the current version when it is
    /// written next, and by `upgradeAll`. Filters, orders and indexes see the JSON as it is stored: run `upgradeAll`
    /// after a path has changed. Reading a document of an unknown version throws.
    ///
    /// - parameter version: a number that grows; documents are of version 1 if nothing else is said.
    public func version(_ version: Int) -> Self {
        var collection = self
        collection.version = version
        return collection
    }

    /// The collection with a conversion of an older version's objects.
    ///
    /// - parameter version: the older version.
    /// - parameter type: the type of its objects.
    /// - parameter upgrade: converts an object. Its error becomes a `DocumentError`, which names the document.
    public func upgrading<Old: Decodable & SendableMetatype>(
        _ version: Int, from type: Old.Type, _ upgrade: @escaping @Sendable (Old) throws -> Object
    ) -> Self {
        var collection = self
        collection.upgrades[version] = { row, index, coding in
            try coding.decode(Old.self, from: row, atIndex: index).map(upgrade)
        }
        return collection
    }

    /// Stores all documents of older versions in the current version, in steps between which others write.
    ///
    /// ```swift
    /// try await books.upgradeAll(in: dbPool)
    /// ```
    /// ```sql
    /// BEGIN IMMEDIATE TRANSACTION
    /// SELECT key, version, CASE WHEN version < 2 THEN object END FROM main."document"
    ///     WHERE collection = 'books' AND key > '…' ORDER BY key LIMIT 100
    /// UPDATE main."document" SET version = 2, object = '…' WHERE collection = 'books' AND key = '…'
    /// COMMIT TRANSACTION
    /// ```
    ///
    /// Run again, it goes on with the documents that are left. Documents that others add or change meanwhile in an
    /// older version are converted if their keys are still to come. Metadata is kept.
    ///
    /// - parameter batch: the number of documents in a step, at least 1.
    /// - parameter pace: how long the connection is kept.
    /// - returns: the number of converted documents.
    /// - throws: `DocumentError` of the first document that can't be converted: earlier steps may be committed; the
    ///   errors of `writeIncrementally`.
    @discardableResult
    public func upgradeAll(
        in writer: some DatabaseWriter, batch: Int = 100, pace: IncrementalWritePace = IncrementalWritePace()
    ) throws -> Int {
        var bulk = try BulkUpgrade(batch)
        try writer.writeIncrementally(pace) { step in try bulk.run(self, step) }
        return bulk.count
    }

    /// As the synchronous `upgradeAll`; waiting suspends the task.
    ///
    /// If the task is cancelled, the open transaction is rolled back, and earlier ones stay.
    ///
    /// - throws: the errors of the synchronous `upgradeAll`; `CancellationError`.
    @discardableResult
    public func upgradeAll(
        in writer: some DatabaseWriter, batch: Int = 100, pace: IncrementalWritePace = IncrementalWritePace()
    ) async throws -> Int {
        // The steps run one after the other, on threads of their own.
        let progress = Lock(try BulkUpgrade(batch))
        try await writer.writeIncrementally(pace) { step in
            var bulk = progress.withLock { $0 }
            defer { progress.withLock { $0 = bulk } }
            return try bulk.run(self, step)
        }
        return progress.withLock { $0.count }
    }
}

/// The progress of an upgrade of all documents.
struct BulkUpgrade: Sendable {
    private let batch: Int
    private var lastKey: String?
    private(set) var count = 0

    init(_ batch: Int) throws {
        guard batch > 0 else {
            throw DatabaseError.misuse("a batch has at least one document: \(batch)")
        }
        self.batch = batch
    }

    /// Converts the next documents.
    mutating func run<Object, Metadata>(
        _ collection: DocumentCollection<Object, Metadata>, _ step: IncrementalWriteStep
    ) throws -> IncrementalWriteStep.Completion {
        let (db, sql) = (step.db, collection.sql)
        var readCount = 0
        var upgraded: [(key: String, json: String)] = []
        let rows =
            if let lastKey {
                try Row.fetchCursor(
                    db.cachedStatement(sql: sql.nextOutdated),
                    arguments: [collection.version, collection.name, lastKey, batch])
            } else {
                try Row.fetchCursor(
                    db.cachedStatement(sql: sql.firstOutdated), arguments: [collection.version, collection.name, batch])
            }
        while let row = try rows.next() {
            readCount += 1
            let key: String = try row.decode(atIndex: 0)
            lastKey = key
            guard try row.decode(Int.self, atIndex: 1) < collection.version else { continue }
            let object = try collection.object(row, versionIndex: 1, index: 2, key: key)
            upgraded.append((key, try collection.json(ofObject: object, key: key)))
        }
        let update = try db.cachedStatement(sql: sql.replaceObject)
        for (key, json) in upgraded {
            try update.execute(arguments: [collection.version, json, collection.name, key])
        }
        count += upgraded.count
        return readCount < batch ? .done : .next
    }
}

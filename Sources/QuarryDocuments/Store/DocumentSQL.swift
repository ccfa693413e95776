import Quarry

/// The SQL of a store, written once, so that cached statements are found by it.
final class DocumentSQL: Sendable {
    /// The quoted name of the table, with its schema: a table of that name in `temp` would hide it otherwise, and
    /// without the table one in an attached database would take its place.
    let table: String
    let create: String

    let object: String
    let metadata: String
    let document: String
    let exists: String
    let set: String
    let replaceObject: String
    let replaceMetadata: String
    let touchObject: String
    let touchMetadata: String
    let touch: String
    let remove: String

    let countAll: String
    let removeAll: String
    let collectionNames: String
    let allKeys: String

    let firstOutdated: String
    let nextOutdated: String

    /// The columns of the table. `version` and `metadata` precede `object`, so that SQLite reads them without a large
    /// object's overflow pages: <https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages>.
    static let columns = ["collection", "key", "version", "metadata", "object"]

    init(table name: String) {
        table = "main.\(name.quotedDatabaseIdentifier)"
        create = """
            CREATE TABLE IF NOT EXISTS \(table) (
                collection TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, metadata TEXT,
                object TEXT NOT NULL, PRIMARY KEY (collection, key)) STRICT
            """
        let one = "WHERE collection = ? AND key = ?"
        object = "SELECT version, object FROM \(table) \(one)"
        metadata = "SELECT metadata FROM \(table) \(one)"
        document = "SELECT key, version, metadata, object FROM \(table) \(one)"
        exists = "SELECT EXISTS (SELECT 1 FROM \(table) \(one))"
        // An update, not REPLACE: triggers and observers learn that the row has changed, and which columns were set.
        set = """
            INSERT INTO \(table) (collection, key, version, metadata, object) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT (collection, key) DO UPDATE SET \
            version = excluded.version, metadata = excluded.metadata, object = excluded.object
            """
        replaceObject = "UPDATE \(table) SET version = ?, object = ? \(one)"
        replaceMetadata = "UPDATE \(table) SET metadata = ? \(one)"
        touchObject = "UPDATE \(table) SET object = object \(one)"
        touchMetadata = "UPDATE \(table) SET metadata = metadata \(one)"
        touch = "UPDATE \(table) SET metadata = metadata, object = object \(one)"
        remove = "DELETE FROM \(table) \(one)"

        countAll = "SELECT COUNT(*) FROM \(table)"
        removeAll = "DELETE FROM \(table)"
        collectionNames = "SELECT DISTINCT collection FROM \(table) ORDER BY collection"
        allKeys = "SELECT collection, key FROM \(table) ORDER BY collection, key"

        // The object of a document that has the current version isn't read.
        let outdated = "SELECT key, version, CASE WHEN version < ? THEN object END FROM \(table) WHERE collection = ?"
        firstOutdated = "\(outdated) ORDER BY key LIMIT ?"
        nextOutdated = "\(outdated) AND key > ? ORDER BY key LIMIT ?"
    }
}

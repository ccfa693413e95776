import Quarry
import QuarryCore

/// The decisions of a cached table, as a value: which records are kept, and which a commit removes.
struct RecordCache {
    /// The row of a key, as it was read.
    struct Found {
        /// The table's key column.
        var column: String
        /// The key as it was asked for, and as the row has it; nil if the row doesn't show it.
        var askedKey: RowKey
        var storedKey: RowKey?
        /// The record; nil if there is no row.
        var record: AnyObject?
        /// All that the query reads; nil if the ticket says that it is known.
        var region: DatabaseRegion?
    }

    /// The state of the cache when a read begins: what it reads is kept if no commit has changed anything since.
    struct Ticket: Sendable, Equatable {
        fileprivate let generation: Int
        /// Whether the tables are known that the query reads.
        let knowsRegion: Bool
    }

    private let table: String
    private(set) var records: LeastRecentlyUsed

    /// The column of the key; nil as long as it isn't known. The record type converts a key for a column.
    private(set) var keyColumn: String?

    /// The other tables that the query reads; nil if there are none.
    private var otherRegion: DatabaseRegion?

    /// Grows with each commit that may have changed records.
    private var generation = 0

    init(table: String, capacity: Int) {
        self.table = table
        records = LeastRecentlyUsed(capacity: capacity)
    }

    /// The largest number of records.
    var capacity: Int {
        get { records.capacity }
        set { records.capacity = newValue }
    }

    var ticket: Ticket { Ticket(generation: generation, knowsRegion: keyColumn != nil) }

    mutating func record(_ key: RowKey) -> AnyObject? { records.use(key) }

    /// The records that were removed since the last call.
    mutating func takeRemoved() -> [AnyObject] { records.takeRemoved() }

    /// A row was read.
    ///
    /// - parameter ticket: that of the time before the read.
    mutating func didRead(_ found: Found, _ ticket: Ticket) {
        guard ticket.generation == generation else { return }
        if keyColumn == nil {
            guard let region = found.region else { return }
            // Commits don't tell which tables a name leads to next: a temporary table may go, and another file may be
            // attached, or written by its owner.
            guard region.tableNames?.allSatisfy({ $0.schema == "main" }) ?? true else { return }
            keyColumn = found.column
            otherRegion = region.tableNames == [TableName(schema: "main", name: table)] ? nil : region
        }
        // A collation or an affinity may let another key find the row: a commit names the key that the row has. A row
        // that doesn't exist isn't kept for the same reason.
        guard let record = found.record, found.storedKey == found.askedKey else { return }
        records.insert(record, for: found.askedKey)
    }

    /// A commit has happened.
    mutating func commitDidHappen(_ changes: DatabaseChanges) {
        if changes.containsChange(in: "sqlite_master") { return reset() }
        if let otherRegion, changes.containsChange(in: otherRegion) { return removeAll() }
        guard changes.containsChange(in: table) else { return }
        guard let keys = changes.changedKeys(in: table) else { return removeAll() }
        generation += 1
        for key in keys.keys { records.remove(key) }
    }

    mutating func removeAll() {
        generation += 1
        records.removeAll()
    }

    /// Forgets all, also what it knows of the schema.
    mutating func reset() {
        removeAll()
        keyColumn = nil
        otherRegion = nil
    }
}

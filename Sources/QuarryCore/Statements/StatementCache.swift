/// The statements a connection keeps, by their SQL; the least recently used goes first.
///
/// A statement that somebody holds isn't lent again: two users of one SQL have a statement each.
struct StatementCache {
    private struct Entry {
        let sql: SQLKey
        var statement: Statement
        var lastUse: Int
    }

    private var entries: [Entry] = []
    private var indexes: [SQLKey: Int] = [:]
    private var latest = 0
    private var clock = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The statement of that SQL, unless there is none, or somebody uses it.
    mutating func statement(for sql: String) -> Statement? {
        let sql = SQLKey(sql)
        // One statement in a loop needs no search.
        if latest >= entries.count || entries[latest].sql != sql {
            guard let index = indexes[sql] else { return nil }
            latest = index
        }
        guard isKnownUniquelyReferenced(&entries[latest].statement) else { return nil }
        clock += 1
        entries[latest].lastUse = clock
        return entries[latest].statement
    }

    /// Keeps a statement, unless one with that SQL is there.
    mutating func insert(_ statement: Statement, for sql: String) {
        let sql = SQLKey(sql)
        guard capacity > 0, indexes[sql] == nil else { return }
        clock += 1
        let entry = Entry(sql: sql, statement: statement, lastUse: clock)
        if entries.count < capacity {
            indexes[sql] = entries.count
            entries.append(entry)
        } else if let oldest = entries.indices.min(by: { entries[$0].lastUse < entries[$1].lastUse }) {
            indexes[entries[oldest].sql] = nil
            indexes[sql] = oldest
            entries[oldest] = entry
        }
    }

    /// Forgets a statement that has failed.
    mutating func remove(_ statement: Statement) {
        guard let index = entries.firstIndex(where: { $0.statement === statement }) else { return }
        indexes[entries[index].sql] = nil
        let last = entries.removeLast()
        if index < entries.count {
            entries[index] = last
            indexes[last.sql] = index
        }
    }

    mutating func removeAll() {
        entries.removeAll()
        indexes.removeAll()
    }
}

/// The statements that a connection keeps, by their SQL. The least recently used statement is dropped first.
///
/// A statement that a caller holds isn't lent again: two users of the same SQL have one statement each.
struct StatementCache {
    private struct Entry {
        let sql: SQLKey
        var statement: Statement
        /// The neighbours in the order of use.
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private var entries: [Entry] = []
    private var indexes: [SQLKey: Int] = [:]
    private var newest = none
    private var oldest = none

    /// The hashes of texts that came when the cache was full, each at the index given by its lowest bits. Empty until
    /// the cache is full.
    private var passedBy: [Int] = []

    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    // MARK: - Finding

    /// The most recently used statement, if it has that SQL and no caller holds it: a statement in a loop needs no
    /// search.
    @inline(__always)
    mutating func newestStatement(for sql: String) -> Statement? {
        guard newest != Self.none, SQLKey.isSameText(entries[newest].sql.text, sql) else { return nil }
        return lend(newest)
    }

    /// The statement with that SQL; nil if there is none, or if a caller holds it.
    mutating func statement(for sql: SQLKey) -> Statement? {
        guard let index = indexes[sql] else { return nil }
        if index != newest {
            unlink(index)
            link(index)
        }
        return lend(index)
    }

    @inline(__always)
    private mutating func lend(_ index: Int) -> Statement? {
        isKnownUniquelyReferenced(&entries[index].statement) ? entries[index].statement : nil
    }

    // MARK: - Keeping

    /// Whether to keep the statement of a text that wasn't found, when the caller hasn't asked for it.
    ///
    /// While there is room, every statement is kept. After that, a text must come twice: texts that never come again
    /// neither displace recurring ones nor cost the time of keeping a statement.
    mutating func admits(_ sql: SQLKey) -> Bool {
        if entries.count < capacity { return true }
        guard capacity > 0 else { return false }
        if passedBy.isEmpty { passedBy = Array(repeating: 0, count: 256) }
        let place = sql.hash & 255
        if passedBy[place] == sql.hash { return true }
        passedBy[place] = sql.hash
        return false
    }

    /// Keeps a statement, unless the cache already has one with that SQL.
    ///
    /// - returns: the statement that was dropped. The caller releases it when the cache is no longer being changed: a
    ///   statement may hold a row adapter, whose release may run any code.
    @discardableResult
    mutating func insert(_ statement: Statement, for sql: SQLKey) -> Statement? {
        guard capacity > 0, indexes[sql] == nil else { return nil }
        let entry = Entry(sql: sql, statement: statement, newer: Self.none, older: Self.none)
        var dropped: Statement?
        let index: Int
        if entries.count < capacity {
            index = entries.count
            entries.append(entry)
        } else {
            index = oldest
            unlink(index)
            indexes[entries[index].sql] = nil
            dropped = entries[index].statement
            entries[index] = entry
        }
        indexes[sql] = index
        link(index)
        return dropped
    }

    /// Drops a statement that has failed.
    mutating func remove(_ statement: Statement) {
        guard let index = entries.firstIndex(where: { $0.statement === statement }) else { return }
        unlink(index)
        indexes[entries[index].sql] = nil
        let last = entries.count - 1
        if index < last {
            // The last entry takes its index.
            let (newer, older) = (entries[last].newer, entries[last].older)
            entries[index] = entries[last]
            indexes[entries[index].sql] = index
            if newer == Self.none { newest = index } else { entries[newer].older = index }
            if older == Self.none { oldest = index } else { entries[older].newer = index }
        }
        entries.removeLast()
    }

    /// Drops all statements.
    ///
    /// - returns: the cache as it was, with its statements. The caller releases it when the cache is no longer being
    ///   changed.
    mutating func removeAll() -> StatementCache {
        let dropped = self
        self = StatementCache(capacity: capacity)
        return dropped
    }

    // MARK: - The order of use

    /// Makes an entry the most recently used one.
    private mutating func link(_ index: Int) {
        entries[index].newer = Self.none
        entries[index].older = newest
        if newest == Self.none { oldest = index } else { entries[newest].newer = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (entries[index].newer, entries[index].older)
        if newer == Self.none { newest = older } else { entries[newer].older = older }
        if older == Self.none { oldest = newer } else { entries[older].newer = newer }
    }
}

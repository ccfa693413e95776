import Quarry
import QuarryCore

/// The cached tables of a database, as long as they exist.
final class CachedTables: DatabasePart {
    /// Each removes the records of a table from memory, and returns their number.
    private let members = Lock<[ObjectIdentifier: @Sendable () -> Int]>([:])

    /// Adds a cached table.
    func add<Record>(_ table: CachedTable<Record>) {
        members.withLock { members in
            members[ObjectIdentifier(table)] = { [weak table] in table?.releaseRecords() ?? 0 }
        }
    }

    /// Removes a cached table that ends.
    func remove<Record>(_ table: CachedTable<Record>) {
        _ = members.withLock { $0.removeValue(forKey: ObjectIdentifier(table)) }
    }

    /// Removes the records of all tables from memory.
    ///
    /// - returns: their number.
    func releaseRecords() -> Int {
        // A record's end may run code of the program: without the lock.
        let releases = members.withLock { Array($0.values) }
        return releases.reduce(0) { $0 + $1() }
    }
}

extension DatabaseCore {
    /// The cached tables of the database.
    var cachedTables: CachedTables { part(CachedTables.self) { CachedTables() } }

    /// The cached tables of the database; nil if there has been none.
    var cachedTablesIfMade: CachedTables? { part(CachedTables.self) }
}

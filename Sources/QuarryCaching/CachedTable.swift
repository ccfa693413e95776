public import Quarry
public import QuarryCore
public import QuarrySQL

/// The records of a table by their primary key, of which those that were used last are kept in memory.
///
/// ```swift
/// let countries = CachedTable<Country>(dbPool, capacity: 1_000)
/// let france = try countries.fetchOne(key: "FR")        // a read of the database
/// let again = try await countries.fetchOne(key: "FR")   // from memory
/// ```
///
/// `fetchOne` returns the state of the last commit, as a read that begins at that moment would: commits of this
/// database remove the changed records before any lookup can return them, and while a commit is becoming visible,
/// lookups read the database. Commits of other processes, and of other queues and pools on the file, remove all records
/// as soon as they are noticed: see `Configuration.otherProcesses`. A lookup in memory waits for no access, and costs a
/// tenth of a read.
///
/// Records are kept if their rows have the key exactly as it was asked for: not `"fr"` for `"FR"` with a collation that
/// ignores case, nor the text `"1"` for the integer 1. If the query reads other tables, or the table is a view, each
/// change of one of them removes all records. A row that doesn't exist is looked for each time. Nothing is kept if the
/// query reads temporary tables or those of attached databases. Lookups read a shared database that is closed, which
/// opens it.
///
/// **The price**: as long as the cached table exists, SQLite calls back for each row that is changed in the database,
/// as for `commits(keys: true)`, and a lookup that isn't answered from memory is slower. A cached table keeps the
/// database open. On a cluster nothing is kept, and each lookup reads. Use it for tables that are read often and
/// changed seldom.
public final class CachedTable<Record: FetchableRecord & TableRecord & Sendable>: Sendable {
    /// The counts of a cached table.
    ///
    /// ```swift
    /// let statistics = countries.statistics
    /// print(statistics.hitCount, statistics.missCount)
    /// ```
    public struct Statistics: Hashable, Sendable {
        /// The number of records in memory.
        public var count = 0
        /// The number of lookups that were answered from memory.
        public var hitCount = 0
        /// The number of lookups that have read the database.
        public var missCount = 0
        /// The number of records that were removed to make room for others.
        public var evictionCount = 0
    }

    /// Whether the commits of the database reach the cache.
    private enum Listening {
        case no
        /// A write may be running that began before, whose commits are told at its end.
        case starting(CommitReader?)
        case yes(CommitReader)
    }

    private struct State {
        var listening = Listening.no
        var cache: RecordCache
        /// The number of the commit up to which all are known.
        var number = -1
        var hitCount = 0
        var missCount = 0
    }

    /// A record on the heap, so that the cache is compiled for one type.
    private final class Box: Sendable {
        let record: Record

        init(_ record: Record) { self.record = record }
    }

    private enum Lookup {
        case hit(Record)
        /// The ticket is nil if the record can't be kept.
        case miss(RecordCache.Ticket?, startsListening: Bool = false)
    }

    private let writer: any DatabaseWriter
    private let state: Lock<State>

    /// A cached table. Nothing is read.
    ///
    /// ```swift
    /// let countries = CachedTable<Country>(dbPool, capacity: 1_000)
    /// ```
    ///
    /// - parameter writer: the queue or pool.
    /// - parameter capacity: the largest number of records in memory; 0 keeps none, `Int.max` keeps all.
    public init(_ writer: any DatabaseWriter, of type: Record.Type = Record.self, capacity: Int = 10_000) {
        self.writer = writer
        state = Lock(State(cache: RecordCache(table: type.databaseTableName, capacity: capacity)))
        writer.groupReader?.core.cachedTables.add(self)
    }

    deinit { writer.groupReader?.core.cachedTablesIfMade?.remove(self) }

    /// The largest number of records in memory: 0 keeps none, `Int.max` keeps all. It may be changed at any time, from
    /// any thread. Lowering it removes the records that were used the longest time ago at once.
    ///
    /// ```swift
    /// countries.capacity = 100
    /// ```
    public var capacity: Int {
        get { state.withLock { $0.cache.capacity } }
        set { withCache { $0.cache.capacity = newValue } }
    }

    /// The record with the given primary key, from memory if it has it; nil if it doesn't exist.
    ///
    /// ```swift
    /// let france = try countries.fetchOne(key: "FR")
    /// ```
    /// ```sql
    /// SELECT * FROM "country" WHERE "code" = 'FR'
    /// ```
    ///
    /// - parameter key: a value of the primary key, which must be one column.
    /// - throws: the errors of `read`, of decoding a record, and of `Record.fetchOne(db, key:)`. A closed database
    ///   throws also for records that were in memory.
    public func fetchOne(key: some DatabaseValueConvertible) throws -> Record? {
        switch look(for: key) {
        case .hit(let record): return record
        case .miss(let ticket, let startsListening):
            if startsListening { listen() }
            return keep(try writer.read { db in try Self.find(key, ticket, db) }, ticket)
        }
    }

    /// The record with the given primary key, from memory if it has it; nil if it doesn't exist. Waiting for a read
    /// suspends the task.
    ///
    /// - parameter key: a value of the primary key, which must be one column.
    /// - throws: the errors of the synchronous `fetchOne`; `CancellationError` if the database has to be read.
    public func fetchOne(key: some DatabaseValueConvertible & Sendable) async throws -> Record? {
        switch look(for: key) {
        case .hit(let record): return record
        case .miss(let ticket, let startsListening):
            if startsListening { listen() }
            return keep(try await writer.read { db in Unchecked(found: try Self.find(key, ticket, db)) }.found, ticket)
        }
    }

    /// Removes all records from memory.
    ///
    /// ```swift
    /// countries.removeAll()
    /// ```
    public func removeAll() { withCache { $0.cache.removeAll() } }

    /// The counts.
    public var statistics: Statistics {
        state.withLock { state in
            Statistics(
                count: state.cache.records.count, hitCount: state.hitCount, missCount: state.missCount,
                evictionCount: state.cache.records.evictionCount)
        }
    }

    // MARK: - Lookups

    private func look(for key: some DatabaseValueConvertible) -> Lookup {
        // Converting the key runs code of the program: without the lock, as the end of a record.
        let column = state.withLock { $0.cache.keyColumn }
        let rowKey = column.map { RowKey(value: Record.databaseValue(ofKey: key, column: $0)) }
        return withCache { state in
            let lookup = look(for: rowKey, column, &state)
            if case .hit = lookup { state.hitCount += 1 } else { state.missCount += 1 }
            return lookup
        }
    }

    private func look(for key: RowKey?, _ column: String?, _ state: inout State) -> Lookup {
        switch state.listening {
        case .no:
            state.listening = .starting(nil)
            return .miss(nil, startsListening: true)
        case .starting(let reader):
            if let reader, case .ended = reader.journal.nextIfSettled(reader.id, after: -1) { state.listening = .no }
            return .miss(nil)
        case .yes(let reader):
            guard catchUp(&state, reader) else { return .miss(nil) }
            if let key, state.cache.keyColumn == column, let object = state.cache.record(key) {
                return .hit(unsafeDowncast(object, to: Box.self).record)
            }
            return .miss(state.cache.ticket)
        }
    }

    /// Changes the state, and releases the records that were removed when the lock is free.
    private func withCache<T>(_ body: (inout State) -> T) -> T {
        let (result, removed) = state.withLock { state in
            let result = body(&state)
            return (result, state.cache.takeRemoved())
        }
        return withExtendedLifetime(removed) { result }
    }

    /// Removes the records that commits have changed.
    ///
    /// - returns: false if a commit is becoming visible, or the database is closed, for good or until the next access.
    private func catchUp(_ state: inout State, _ reader: CommitReader) -> Bool {
        while true {
            switch reader.journal.nextIfSettled(reader.id, after: state.number) {
            case .unsettled: return false
            case .none(let number):
                state.number = number
                return true
            case .ended:
                state.listening = .no
                state.number = -1
                state.cache.reset()
                return false
            case .commits(let commits):
                for commit in commits { state.cache.commitDidHappen(commit.changes) }
            }
        }
    }

    private func keep(_ found: RecordCache.Found, _ ticket: RecordCache.Ticket?) -> Record? {
        if let ticket {
            withCache { state in
                guard case .yes(let reader) = state.listening, catchUp(&state, reader) else { return }
                state.cache.didRead(found, ticket)
            }
        }
        return found.record.map { unsafeDowncast($0, to: Box.self).record }
    }

    private static func find(
        _ key: some DatabaseValueConvertible, _ ticket: RecordCache.Ticket?, _ db: Database
    ) throws -> RecordCache.Found {
        let plan = try RecordPlans.plan(Record.self, nil, db)
        let column = try plan.keyColumn(db, sure: false)
        let value = Record.databaseValue(ofKey: key, column: column)
        let record: Record? = value.isNull ? nil : try plan.find(value, db)
        let isKept = ticket != nil && record != nil
        let needsRegion = ticket.map { !$0.knowsRegion } ?? false
        return RecordCache.Found(
            column: column, askedKey: RowKey(value: value),
            storedKey: isKept ? try storedKey(value, column, plan.shape(db, sure: false), db) : nil,
            record: record.map(Box.init), region: needsRegion ? try Record.all().databaseRegion(db) : nil)
    }

    /// The key that the row of a key has; nil for a row without a declared key: VACUUM may number such rows anew.
    private static func storedKey(
        _ value: DatabaseValue, _ column: String, _ shape: TableShape, _ db: Database
    ) throws -> RowKey? {
        guard shape.column(column) != nil else { return nil }
        // An integer finds the row of a rowid that is equal to it.
        if shape.rowIDColumn == column, case .int64 = value.rawStorage { return RowKey(value: value) }
        let (name, table) = (column.quotedDatabaseIdentifier, shape.name.quotedDatabaseIdentifier)
        let statement = try db.cachedStatement(sql: "SELECT \(name) FROM \(table) WHERE \(name) = ?")
        return try DatabaseValue.fetchOne(statement, arguments: [value]).map { RowKey(value: $0) }
    }

    // MARK: - Listening

    /// Asks for the commits of the database. Nothing is kept until a write access has begun afterwards: a write that is
    /// running may have committed changes that it tells at its end.
    private func listen() {
        // The nodes of a cluster tell neither of rows nor, in time, of the commits of other clients: nothing is kept.
        guard let database = writer.groupReader as? any GroupWriter, database.isLocal else { return }
        let reader = CommitReader(database, keys: true, limit: 256)
        state.withLock { $0.listening = .starting(reader) }
        // An access of the library: it isn't refused because many accesses wait, or wait for long.
        database.writer.enqueue(AccessRequest(.bare, origin: .library)) { [weak self] _ in
            self?.state.withLock { state in
                guard case .starting(let current?) = state.listening, current === reader else { return }
                state.listening = .yes(reader)
            }
        } whenReleased: { [weak self] result in
            // The next lookup asks again.
            guard case .failure = result else { return }
            self?.state.withLock { state in
                guard case .starting(let current?) = state.listening, current === reader else { return }
                state.listening = .no
            }
        }
    }

    /// Removes all records from memory.
    ///
    /// - returns: their number.
    func releaseRecords() -> Int {
        withCache { state in
            defer { state.cache.removeAll() }
            return state.cache.records.count
        }
    }

    /// Unchecked: `found` is handed from the access to the task that waits for it, and its record is a `Box`.
    private struct Unchecked: @unchecked Sendable {
        let found: RecordCache.Found
    }
}

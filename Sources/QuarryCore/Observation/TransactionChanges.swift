/// The changes of the open transaction, by savepoint, so that a rollback takes back what it undoes.
///
/// ```
/// INSERT a          level 0: a
/// SAVEPOINT x
/// INSERT b          level 0: a    level 1: b
/// ROLLBACK TO x     level 0: a    level 1:
/// INSERT c          level 0: a    level 1: c
/// RELEASE x         level 0: a, c
/// ```
struct TransactionChanges {
    /// The changes since the beginning of a savepoint.
    fileprivate struct Level {
        /// The accesses of the statements that have changed something. Most transactions repeat few statements.
        var accesses: [StatementAccesses] = []
        /// Other changes.
        var region = DatabaseRegion()
        /// The changed rows of tables; nil for a table of which not all rows are known.
        var rows: [TableName: Set<Int64>?] = [:]
        /// The changed keys of tables, while they are asked for.
        var keys: [TableName: KeyChanges] = [:]
        var events: [RowEvent] = []

        mutating func add(_ other: Level) {
            for accesses in other.accesses { add(accesses) }
            region.formUnion(other.region)
            rows.merge(other.rows) { RowChanges.union($0, $1) }
            for (table, changes) in other.keys { keys[table, default: KeyChanges()].add(changes) }
            events += other.events
        }

        mutating func add(_ new: StatementAccesses) {
            guard !accesses.contains(where: { $0 === new }) else { return }
            // A long transaction with many different statements needs no list of them.
            guard accesses.count < 16 else { return region.formUnion(new.changes) }
            accesses.append(new)
        }
    }

    private var levels: [Level]

    /// Whether changed keys are asked for.
    private(set) var tracksKeys = false

    var tables = TableNumbers()

    /// The statements whose changes aren't needed. As long as there is one level, it has a mark for each of them that
    /// has changed something, and `levels` has none of them.
    private var unneeded = UnneededChanges()

    /// - parameter depth: the number of savepoints that are open already.
    init(depth: Int) { levels = Array(repeating: Level(), count: depth + 1) }

    /// The number of open savepoints.
    var depth: Int { levels.count - 1 }

    // MARK: - Changes

    /// Adds the changes of a statement.
    ///
    /// - parameter rows: the rows that it has changed; nil if none was told.
    mutating func add(_ accesses: StatementAccesses, rows: RowChanges?) {
        if rows == nil, levels.count == 1, unneeded.mark(accesses) { return }
        let last = levels.count - 1
        levels[last].add(accesses)
        if let rows, !rows.events.isEmpty { levels[last].events += rows.events }
    }

    /// Adds the changed rows of a statement, for each table whose rows are asked for.
    mutating func addRows(of accesses: StatementAccesses, _ rows: RowChanges?, rowTables: Set<TableName>) {
        let last = levels.count - 1
        for table in accesses.changes.tableNames ?? [] where rowTables.contains(table) {
            let areHidden = rows?.areHidden ?? false
            levels[last].noteRows(areHidden ? nil : rows?.rows[table] ?? .some([]), of: table)
        }
    }

    /// Adds the changed keys of a statement, for each table that it may have changed.
    ///
    /// - parameter keyColumns: the columns of a table's key; nil if its changed rows aren't told.
    mutating func addKeys(
        of accesses: StatementAccesses, _ rows: RowChanges?, keyColumns: (TableName) -> KeyColumns?
    ) {
        let last = levels.count - 1
        let areHidden = rows?.areHidden ?? false
        for table in accesses.changes.tableNames ?? [] {
            let number = tables.number(of: table)
            let changed =
                areHidden || keyColumns(table) == nil ? .unknown : rows?.keys(ofTable: number) ?? KeyChanges()
            levels[last].keys[table, default: KeyChanges()].add(changed)
        }
    }

    /// Adds the change of one row.
    mutating func noteKey(_ change: RowChange, of key: RowKey, _ table: TableName) {
        levels[levels.count - 1].keys[table, default: KeyChanges()].note(change, of: key)
    }

    /// The keys are asked for from now on: those of the earlier changes in the transaction aren't known.
    mutating func startKeys() {
        settle()
        tracksKeys = true
        for index in levels.indices {
            for accesses in levels[index].accesses { forgetKeys(of: accesses.changes, index) }
            forgetKeys(of: levels[index].region, index)
        }
    }

    mutating func stopKeys() {
        tracksKeys = false
        for index in levels.indices { levels[index].keys = [:] }
    }

    private mutating func forgetKeys(of region: DatabaseRegion, _ level: Int) {
        for table in region.tableNames ?? [] { levels[level].keys[table] = .unknown }
    }

    /// The rows of tables are asked for from now on: the earlier changes of these tables count as changes of all rows.
    mutating func forgetRows(of tables: Set<TableName>) {
        guard !tables.isEmpty else { return }
        settle()
        for index in levels.indices where !levels[index].accesses.isEmpty {
            for table in tables { levels[index].rows[table] = .some(nil) }
        }
    }

    /// Adds other changes.
    ///
    /// - parameter forgetsKeys: whether the changed keys of the region aren't known.
    mutating func add(_ region: DatabaseRegion, forgetsKeys: Bool = true) {
        let last = levels.count - 1
        levels[last].region.formUnion(region)
        if tracksKeys, forgetsKeys { forgetKeys(of: region, last) }
    }

    mutating func append(_ event: RowEvent) { levels[levels.count - 1].events.append(event) }

    /// Moves the events of a statement that is still running here.
    mutating func appendEvents(_ rows: inout RowChanges) { levels[levels.count - 1].events += rows.takeEvents() }

    /// Removes and returns the events.
    mutating func takeEvents() -> [RowEvent] {
        if levels.count == 1 { return levels[0].takeEvents() }
        var events: [RowEvent] = []
        for index in levels.indices { events += levels[index].takeEvents() }
        return events
    }

    /// Removes and returns what has changed, at the end of a transaction.
    mutating func take() -> (region: DatabaseRegion, keys: [TableName: KeyChanges]) {
        settle()
        releaseAll()
        defer { removeAll() }
        return (levels[0].changedRegion, levels[0].keys)
    }

    /// Whether nothing is known to have changed.
    var isEmpty: Bool {
        !unneeded.hasMarks && levels.count == 1 && levels[0].accesses.isEmpty && levels[0].hasStatementsOnly
            && levels[0].keys.isEmpty
    }

    /// Whether a statement has changed something.
    var hasStatements: Bool { unneeded.hasMarks || levels.contains { !$0.accesses.isEmpty || !$0.region.isEmpty } }

    /// The only change, if it is that of a statement, and no row of it is known.
    mutating func findOnlyStatement() -> StatementAccesses? {
        settle()
        guard levels.count == 1, levels[0].accesses.count == 1, levels[0].hasStatementsOnly else { return nil }
        return levels[0].accesses[0]
    }

    // MARK: - Changes that aren't needed

    /// Removes the changes, if they are those of statements whose changes aren't needed, and no row of them is known.
    ///
    /// - parameter version: the version of the needs.
    /// - returns: whether it has removed them.
    mutating func removeUnneeded(version: Int) -> Bool {
        guard unneeded.version == version, levels.count == 1, levels[0].hasStatementsOnly else { return false }
        if levels[0].accesses.isEmpty {
            guard unneeded.hasMarks else { return false }
        } else {
            for index in levels[0].accesses.indices {
                guard unneeded.contains(levels[0].accesses[index]) else { return false }
            }
        }
        if levels[0].accesses.isEmpty, levels[0].keys.isEmpty, tables.isEmpty {
            unneeded.removeMarks()
        } else {
            removeAll()
        }
        return true
    }

    /// The changes of a statement aren't needed.
    mutating func noteUnneeded(_ accesses: StatementAccesses, version: Int) {
        settle()
        unneeded.insert(accesses, version: version)
    }

    /// The needs may have changed.
    mutating func forgetUnneeded() {
        settle()
        unneeded = UnneededChanges()
    }

    /// Moves the changes that are marked to the first level.
    private mutating func settle() {
        while let accesses = unneeded.takeMarked() { levels[0].add(accesses) }
    }

    // MARK: - Savepoints

    mutating func savepointDidBegin() {
        settle()
        levels.append(Level())
    }

    mutating func release(toDepth depth: Int) {
        while levels.count - 1 > depth {
            let level = levels.removeLast()
            levels[levels.count - 1].add(level)
        }
    }

    /// - parameter depth: the number of savepoints that are open afterwards; the newest of them begins anew.
    mutating func rollBack(toDepth depth: Int) {
        guard levels.count > depth, depth > 0 else { return }
        levels.removeSubrange(depth...)
        levels.append(Level())
    }

    mutating func releaseAll() { release(toDepth: 0) }

    mutating func removeAll() {
        // Most transactions have no savepoint, and change little: nothing is allocated anew.
        if levels.count > 1 { levels.removeSubrange(1...) }
        unneeded.removeMarks()
        levels[0].removeAll()
        if !tables.isEmpty { tables.forget() }
    }
}

extension TransactionChanges.Level {
    fileprivate mutating func removeAll() {
        // Keeps the memory, and is shorter than `removeAll(keepingCapacity:)` for one or two elements.
        while !accesses.isEmpty { accesses.removeLast() }
        if !region.isEmpty { region = DatabaseRegion() }
        if !rows.isEmpty { rows = [:] }
        if !keys.isEmpty { keys = [:] }
        if !events.isEmpty { events = [] }
    }

    fileprivate mutating func takeEvents() -> [RowEvent] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    fileprivate mutating func noteRows(_ new: Set<Int64>?, of table: TableName) {
        guard let known = rows[table] else { return rows[table] = .some(new) }
        rows[table] = .some(RowChanges.union(known, new))
    }

    fileprivate var hasStatementsOnly: Bool { rows.isEmpty && region.isEmpty && events.isEmpty }

    fileprivate var changedRegion: DatabaseRegion {
        if accesses.count == 1, rows.isEmpty, region.isEmpty { return accesses[0].changes }
        var changed = DatabaseRegion()
        for accesses in accesses { changed.formUnion(accesses.changes) }
        for case (let table, let rowIDs?) in rows { changed = changed.restricted(toRows: rowIDs, of: table) }
        return changed.union(region)
    }
}

/// A change of a row that waits to be delivered: 24 bytes, because a statement may change many rows.
struct RowEvent {
    let kind: DatabaseEvent.Kind
    let rowID: Int64
    /// The number of its table in `TableNumbers`.
    let table: Int32
    /// The number of its list of observers in `ChangeObservers`.
    let recipients: Int32
}

/// Numbers for the tables of a transaction, found by SQLite's C strings without making Swift strings.
struct TableNumbers {
    private var names: [TableName] = []
    private var texts: [(schema: [CChar], table: [CChar])] = []
    private var last = 0

    var isEmpty: Bool { names.isEmpty }

    subscript(number: Int32) -> TableName { names[Int(number)] }

    mutating func number(schema: UnsafePointer<CChar>, table: UnsafePointer<CChar>) -> Int32 {
        if last < names.count, isSame(last, schema, table) { return Int32(last) }
        if let index = names.indices.first(where: { isSame($0, schema, table) }) {
            last = index
            return Int32(index)
        }
        return add(TableName(schema: String(cString: schema), name: String(cString: table)))
    }

    mutating func number(of name: TableName) -> Int32 {
        names.firstIndex(of: name).map { Int32($0) } ?? add(name)
    }

    private mutating func add(_ name: TableName) -> Int32 {
        last = names.count
        names.append(name)
        texts.append((Array(name.schema.utf8CString), Array(name.name.utf8CString)))
        return Int32(last)
    }

    private func isSame(_ index: Int, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Bool {
        Self.isSame(texts[index].table, table) && Self.isSame(texts[index].schema, schema)
    }

    private static func isSame(_ text: [CChar], _ other: UnsafePointer<CChar>) -> Bool {
        // The text ends with a NUL, so the comparison stops at the end of the shorter one.
        for index in text.indices where text[index] != other[index] { return false }
        return true
    }

    mutating func forget() { self = TableNumbers() }
}

/// The changes of rows by one statement, which count once the statement has succeeded.
struct RowChanges {
    /// The rows; nil for a table with more changed rows than are kept.
    private(set) var rows: [TableName: Set<Int64>?] = [:]

    private(set) var events: [RowEvent] = []

    /// Whether changed rows weren't told: all rows of the changed tables count as changed.
    var areHidden = false

    /// The changed keys, while they are asked for.
    private var keys: [TableKeys] = []

    init(areHidden: Bool = false) { self.areHidden = areHidden }

    init(rows: [TableName: Set<Int64>?], events: [RowEvent]) {
        self.rows = rows
        self.events = events
    }

    private struct TableKeys {
        /// The number of the table in `TableNumbers`.
        let table: Int32
        /// The columns of the key; nil if they aren't known.
        let columns: KeyColumns?
        /// The columns that the statement sets; nil if they aren't known.
        let updated: Set<String>?
        var changes: KeyChanges
    }

    /// The changed keys of a table; nil if none has changed.
    func keys(ofTable number: Int32) -> KeyChanges? { keys.first { $0.table == number }?.changes }

    /// Notes the key of an event, before and after the change.
    ///
    /// - parameter columns: the columns of the table's key, and those that the statement sets.
    mutating func noteKey(
        _ event: PreupdateEvent, ofTable number: Int32, _ columns: () -> (key: KeyColumns?, updated: Set<String>?)
    ) {
        let index: Int
        if let known = keys.firstIndex(where: { $0.table == number }) {
            index = known
        } else {
            let (key, updated) = columns()
            keys.append(
                TableKeys(
                    table: number, columns: key, updated: updated, changes: key == nil ? .unknown : KeyChanges()))
            index = keys.count - 1
        }
        guard let columns = keys[index].columns else { return }
        let old = event.kind == .insert ? nil : event.key(columns, isOld: true)
        let new = event.kind == .delete ? nil : event.key(columns, isOld: false)
        switch event.kind {
        case .insert: note(.inserted, of: new, index)
        case .delete: note(.deleted, of: old, index)
        case .update where old == new: note(.updated(columns: keys[index].updated), of: new, index)
        case .update:
            note(.deleted, of: old, index)
            note(.inserted, of: new, index)
        }
    }

    private mutating func note(_ change: RowChange, of key: RowKey?, _ index: Int) {
        // Several rows may have the key NULL: https://www.sqlite.org/lang_createtable.html#the_primary_key
        guard let key else { return keys[index].changes = .unknown }
        keys[index].changes.note(change, of: key)
    }
    /// The number of rows of a table above which all rows count as changed.
    static let maximumRowCount = 1000

    /// Notes the row of an event, before and after the change.
    mutating func note(_ event: PreupdateEvent, _ table: TableName) {
        var rowIDs: Set<Int64> = []
        if event.kind != .insert { rowIDs.insert(event.oldRowID) }
        if event.kind != .delete { rowIDs.insert(event.newRowID) }
        rows[table] = .some(Self.union(rows[table] ?? [], rowIDs))
    }

    mutating func append(_ event: RowEvent) { events.append(event) }

    mutating func takeEvents() -> [RowEvent] {
        defer { events = [] }
        return events
    }

    static func union(_ rows: Set<Int64>?, _ others: Set<Int64>?) -> Set<Int64>? {
        guard let rows, let others else { return nil }
        let union = rows.union(others)
        return union.count > maximumRowCount ? nil : union
    }
}

extension PreupdateEvent {
    /// The key of the row before or after the change; nil if a value of it is NULL, or isn't known.
    fileprivate func key(_ columns: KeyColumns, isOld: Bool) -> RowKey? {
        guard let numbers = columns.numbers else { return RowKey(rowID: isOld ? oldRowID : newRowID) }
        var values: [DatabaseValue] = []
        for number in numbers {
            guard let value = isOld ? oldValue(number) : newValue(number), !value.isNull else { return nil }
            values.append(columns.reals.contains(number) ? value.readFromREAL : value)
        }
        return RowKey(values)
    }
}

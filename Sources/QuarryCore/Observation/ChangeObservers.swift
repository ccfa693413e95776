/// The transaction observers of a connection, found by what they observe.
///
/// An observer is asked once in a transaction for each kind of changes. Its answers, and the lists of observers of an
/// event, are kept until the transaction ends or the observers change.
final class ChangeObservers {
    private(set) var entries: [ObserverEntry] = []

    /// The observers that have accepted a kind.
    private var answers: [DatabaseEventKind: [ObserverEntry]] = [:]

    /// The lists of observers that events refer to. The first is empty.
    private var lists: [[ObserverEntry]] = [[]]

    private struct ListKey: Hashable {
        /// What the statement may change.
        let accesses: ObjectIdentifier
        let table: Int32
        let kind: DatabaseEvent.Kind
    }

    private var listNumbers: [ListKey: Int32] = [:]
    private var lastList: (key: ListKey, number: Int32)?

    var isEmpty: Bool { entries.isEmpty }

    // MARK: - Adding and removing

    func add(_ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent) {
        entries.append(ObserverEntry(observer, extent))
        forgetAnswers()
    }

    func remove(_ observer: any TransactionObserver) {
        for entry in entries where entry.observer === observer { entry.state = .removed }
        entries.removeAll { $0.state == .removed }
        forgetAnswers()
    }

    private func forgetAnswers() {
        answers = [:]
        listNumbers = [:]
        lastList = nil
    }

    // MARK: - Finding

    /// The observers of a kind of changes.
    func interested(in kind: DatabaseEventKind, _ db: Database) -> [ObserverEntry] {
        if let known = answers[kind] { return known }
        let entries = entries
        let interested = db.lifetime.lend {
            entries.filter { $0.observer?.observes(eventsOfKind: kind) ?? false }
        }
        answers[kind] = interested
        return interested
    }

    /// The observers of any change of a region.
    func interested(in region: DatabaseRegion, _ db: Database) -> [ObserverEntry] {
        guard let kinds = region.eventKinds else { return entries }
        var result: [ObserverEntry] = []
        for kind in kinds {
            for entry in interested(in: kind, db) where !result.contains(where: { $0 === entry }) {
                result.append(entry)
            }
        }
        return result
    }

    /// The observers of a list.
    func list(_ number: Int32) -> [ObserverEntry] { lists[Int(number)] }

    /// The number of the list of observers to tell of a change of a row; 0 if there are none.
    ///
    /// - parameter number: the number of the table.
    /// - parameter accesses: what the statement may change.
    func list(
        for kind: DatabaseEvent.Kind, of table: TableName, _ number: Int32, by accesses: StatementAccesses,
        _ db: Database
    ) -> Int32 {
        let key = ListKey(accesses: ObjectIdentifier(accesses), table: number, kind: kind)
        if let lastList, lastList.key == key { return lastList.number }
        let list = listNumbers[key] ?? add(observers(of: kind, in: table, by: accesses, db))
        listNumbers[key] = list
        lastList = (key, list)
        return list
    }

    /// The number of a new list; 0 if it is empty.
    func add(_ list: [ObserverEntry]) -> Int32 {
        guard !list.isEmpty else { return 0 }
        lists.append(list)
        return Int32(lists.count - 1)
    }

    private func observers(
        of kind: DatabaseEvent.Kind, in table: TableName, by accesses: StatementAccesses, _ db: Database
    ) -> [ObserverEntry] {
        let ofTable = accesses.kinds.filter { $0.tableName.isSameName(as: table.name) }
        if let announced = ofTable.first(where: { $0.isOf(kind) }) { return interested(in: announced, db) }
        // A conflict resolution REPLACE deletes rows, which SQLite doesn't announce.
        if !ofTable.isEmpty { return interested(in: .delete(tableName: table.name), db) }
        // A table that the statement doesn't name: the shadow table of a virtual table.
        let all = accesses.kinds.map { interested(in: $0, db) }
        return entries.filter { entry in all.contains { $0.contains { $0 === entry } } }
    }

    // MARK: - Transactions

    /// Tells the observers of the end of a transaction.
    func tellEnd(committed: Bool, _ db: Database) {
        let told = entries
        transactionDidEnd()
        // Before the callbacks, whose transactions are others.
        entries.removeAll { $0.extent == .nextTransaction || $0.observer == nil }
        for entry in told {
            guard let observer = entry.observer else { continue }
            if committed { observer.databaseDidCommit(db) } else { observer.databaseDidRollback(db) }
        }
    }

    /// A transaction has ended: answers are asked for again, and observers that have stopped observe again.
    func transactionDidEnd() {
        guard !entries.isEmpty else { return }
        for entry in entries where entry.state == .stopped { entry.state = .active }
        forgetAnswers()
        lists = [[]]
    }
}

extension DatabaseEventKind {
    fileprivate func isOf(_ kind: DatabaseEvent.Kind) -> Bool {
        switch (self, kind) {
        case (.insert, .insert), (.delete, .delete), (.update, .update): true
        default: false
        }
    }
}

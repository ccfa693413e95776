/// The transaction observers of a connection, found by what they observe.
///
/// An observer is asked once in a transaction for each kind of changes. Its answers, and the lists of observers of an
/// event, are kept until the transaction ends or the observers change.
final class ChangeObservers {
    @exclusivity(unchecked)
    private(set) var entries: [ObserverEntry] = []

    /// The observers that have accepted a kind.
    private var answers: [DatabaseEventKind: [ObserverEntry]] = [:]

    /// The lists of observers that events refer to. The first is empty.
    private var lists: [[ObserverEntry]] = [[]]

    /// The numbers of the lists of observers that have accepted a kind.
    private var listNumbers: [DatabaseEventKind: Int32] = [:]

    /// A list that was found for an event.
    private struct FoundList {
        /// The changes that the statement may make.
        let accesses: StatementAccesses
        let table: Int32
        let kind: DatabaseEvent.Kind
        let number: Int32
    }

    /// The lists that were found last, the newest at `lastFound`.
    private var found: [FoundList] = []
    private var lastFound = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Whether an observer is alive.
    var hasObserver: Bool { entries.contains { $0.observer != nil } }

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
        found = []
        lastFound = 0
    }

    // MARK: - Finding

    /// The observers of a kind of changes.
    func interested(in kind: DatabaseEventKind, _ db: Database) -> [ObserverEntry] {
        if let known = answers[kind] { return known }
        let entries = entries
        let interested = db.lifetime.lend(to: .observer) {
            entries.filter { $0.observer?.observes(eventsOfKind: kind) ?? false }
        }
        answers[kind] = interested
        return interested
    }

    /// The observers of any of some kinds of changes, in their order.
    func interested(inAnyOf kinds: [DatabaseEventKind], _ db: Database) -> [ObserverEntry] {
        let interested = kinds.map { self.interested(in: $0, db) }
        return entries.filter { entry in interested.contains { $0.contains { $0 === entry } } }
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
        func isFound(_ list: FoundList) -> Bool {
            list.accesses === accesses && list.table == number && list.kind == kind
        }
        if found.indices.contains(lastFound), isFound(found[lastFound]) { return found[lastFound].number }
        if let index = found.firstIndex(where: isFound) {
            lastFound = index
            return found[index].number
        }
        let list = findList(of: kind, in: table, by: accesses, db)
        lastFound = found.count < Self.maximumFound ? found.count : (lastFound + 1) % Self.maximumFound
        let new = FoundList(accesses: accesses, table: number, kind: kind, number: list)
        if lastFound == found.count { found.append(new) } else { found[lastFound] = new }
        return list
    }

    /// A statement and its triggers change few tables.
    private static let maximumFound = 8

    /// The number of the list of observers of a kind of changes; 0 if there are none.
    func list(of kind: DatabaseEventKind, _ db: Database) -> Int32 {
        if let known = listNumbers[kind] { return known }
        let list = add(interested(in: kind, db))
        listNumbers[kind] = list
        return list
    }

    /// The number of a new list; 0 if it is empty.
    private func add(_ list: [ObserverEntry]) -> Int32 {
        guard !list.isEmpty else { return 0 }
        if list.count == lists.last?.count, zip(list, lists[lists.count - 1]).allSatisfy({ $0 === $1 }) {
            return Int32(lists.count - 1)
        }
        lists.append(list)
        return Int32(lists.count - 1)
    }

    private func findList(
        of kind: DatabaseEvent.Kind, in table: TableName, by accesses: StatementAccesses, _ db: Database
    ) -> Int32 {
        let ofTable = accesses.kinds.filter { $0.tableName.isSameName(as: table.name) }
        if let announced = ofTable.first(where: { $0.isOf(kind) }) { return list(of: announced, db) }
        // A conflict resolution REPLACE deletes rows, which SQLite doesn't announce.
        if !ofTable.isEmpty { return list(of: .delete(tableName: table.name), db) }
        // A table that the statement doesn't name: the shadow table of a virtual table.
        return add(interested(inAnyOf: accesses.kinds, db))
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

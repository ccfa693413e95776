/// Changes that no statement makes.
extension ChangeMonitor {
    func operationWillStart(_ accesses: StatementAccesses, _ db: Database) {
        if phase != .none || db.hasUntoldEnd { db.noteUntoldEnd() }
        if !observers.isEmpty { for kind in accesses.kinds { _ = observers.interested(in: kind, db) } }
        if needsValues { db.findKeyColumns(of: accesses) }
        running.begin(
            nil, accesses, totalChanges: db.currentTotalChanges,
            ownReportCount: db.watchers.accessRecorder?.ownReportCount ?? 0, hidesRows: db.hooks.hasSessions)
    }

    func operationDidEnd(succeeded: Bool, _ db: Database) {
        let ended = running.end(nil, totalChanges: db.currentTotalChanges)
        hasRunChange = true
        guard let change = ended, change.hasChanged, succeeded else { return }
        add(change.accesses, change.toldRows, db)
        if changes.depth == 0 { deliverEvents(db) }
    }

    func blobDidChange(_ table: TableName, column: String, rowID: Int64, _ db: Database) {
        let column = column.lowercasedASCII
        let isKnown = changes.tracksKeys && db.keyColumns(of: table)?.numbers == .some(nil)
        changes.add(DatabaseRegion(table, columns: [column], rowIDs: [rowID]), forgetsKeys: !isKnown)
        if isKnown { changes.noteKey(.updated(columns: [column]), of: RowKey(rowID: rowID), table) }
        hasRunChange = true
        let list = observers.list(of: .update(tableName: table.name, columnNames: [column]), db)
        guard list != 0 else { return }
        changes.append(
            RowEvent(kind: .update, rowID: rowID, table: changes.tables.number(of: table), recipients: list))
        if changes.depth == 0 { deliverEvents(db) }
    }

    /// Counts a region as changed, and tells the observers that ask for it.
    func notifyChanges(in region: DatabaseRegion, _ db: Database) throws {
        let kinds = observers.isEmpty ? [] : try db.eventKinds(of: region)
        // Rows may have come or gone, which changes all columns.
        changes.add(region.withWholeTables)
        let entries = observers.interested(inAnyOf: kinds, db)
        db.lifetime.lend(to: .observer) {
            ChangeDelivery.run { delivery in
                for entry in entries { delivery.notify(entry) { $0.databaseDidChange() } }
            }
        }
        // Outside a transaction no commit follows, unless a statement that writes hasn't ended.
        if !db.isInsideTransaction, !ConnectionCalls.hasOpenWrite(db.pointer) { publish(db) }
    }

    func attachmentsDidChange(_ db: Database) {
        // A name may mean another table, or none.
        changes.add(.fullDatabase)
        // Otherwise a commit follows.
        if !db.isInsideTransaction, !ConnectionCalls.hasOpenWrite(db.pointer) { publish(db) }
    }

    func contentWasReplaced(_ db: Database) {
        changes.add(.fullDatabase)
        publish(db)
        tellEnd(committed: true, db)
    }
}

/// Watches the changes and transactions of a connection, for transaction observers and for the listener of the layer
/// above.
///
/// It works in two tiers. *Tables and columns* come from what a statement may change, which SQLite reports at its
/// preparation; they count as changed when SQLite's count of changed rows has moved. That costs nothing per row. *Rows*
/// come from the preupdate hook, which is installed only while rows are asked for.
///
/// Its fields are used by the thread that has the connection, and by no callback in the middle of a change of theirs:
/// the checks of overlapping accesses would cost a tenth of a short write.
final class ChangeMonitor: ConnectionMonitor {
    @exclusivity(unchecked)
    private(set) var listener: (any CommitListener)?

    /// The version of the listener's needs.
    @exclusivity(unchecked)
    private var needs: NeedsVersion?

    /// Notices the commits of other connections, while the listener asks for them.
    @exclusivity(unchecked)
    var others: OtherCommits?

    @exclusivity(unchecked)
    private var regionObservers: [RegionObserver] = []

    /// The tables whose changed rows the listener asks for.
    private var listenedRowTables: Set<TableName> = []

    /// The tables whose changed rows the listener or an observer of a region asks for.
    @exclusivity(unchecked)
    private var rowTables: Set<TableName> = []

    /// The tables whose changed keys the listener asks for.
    @exclusivity(unchecked)
    var keyNeeds = KeyNeeds.none

    let observers = ChangeObservers()
    @exclusivity(unchecked)
    var running = RunningChanges()
    @exclusivity(unchecked)
    var changes: TransactionChanges
    @exclusivity(unchecked)
    var phase = CommitPhase.none

    /// The error with which an observer has refused the commit.
    @exclusivity(unchecked)
    private var refusal: (any Error)?

    /// Whether SQLite has rolled back while a change was running, and the observers aren't told yet.
    @exclusivity(unchecked)
    private var hasRolledBack = false

    /// Whether the write-ahead log has grown: a commit that has changed something.
    @exclusivity(unchecked)
    private var logHasGrown = false

    /// Whether a statement of this connection that may write has run in the transaction. SQLite also writes pages that
    /// a rollback to a savepoint has restored.
    @exclusivity(unchecked)
    var hasRunChange = false

    private var clients: [HookSlots.Client] = []
    private var commitClient: HookSlots.Client?
    @exclusivity(unchecked)
    private var preupdateClient: HookSlots.Client?

    init(_ db: Database) {
        changes = TransactionChanges(depth: db.openTransaction.savepoints.depth)
        db.startRecordingAccesses()
        clients = [
            db.hooks.onRollback { [unowned self, unowned db] in didRollBack(db) },
            db.hooks.onWAL { [unowned self] schema, _ in
                (logHasGrown, _) = (true, others?.logDidGrow(schema))
            },
        ]
    }

    // MARK: - What is watched

    /// Whether anybody needs the monitor.
    var isNeeded: Bool { listener != nil || !observers.isEmpty || !regionObservers.isEmpty }

    /// Whether values of changed rows are told, so that the columns of the tables have to be known.
    var needsValues: Bool { keyNeeds != .none || !observers.isEmpty }

    func setListener(
        _ listener: (any CommitListener)?, rowTables: Set<TableName>, keys: KeyNeeds, _ db: Database
    ) throws {
        self.listener = listener
        needs = listener?.needs
        changes.forgetUnneeded()
        listenedRowTables = rowTables
        let previous = keyNeeds
        keyNeeds = keys
        do {
            try updateRowTables(db)
        } catch {
            listenedRowTables = []
            keyNeeds = .none
            throw error
        }
        if keys == .none { changes.stopKeys() } else if previous == .none { changes.startKeys() }
    }

    func add(_ observer: RegionObserver, _ db: Database) throws {
        regionObservers.append(observer)
        do {
            try updateRowTables(db)
        } catch {
            regionObservers.removeLast()
            throw error
        }
    }

    private func updateRowTables(_ db: Database) throws {
        let asked = regionObservers.reduce(into: listenedRowTables) { $0.formUnion($1.region.tablesWithRows) }
        let known = rowTables
        rowTables = asked.filter { db.tellsRows(of: $0) }
        try updateHooks(db)
        // The rows of earlier changes in the transaction aren't known.
        changes.forgetRows(of: rowTables.subtracting(known))
    }

    /// Tells the observers of regions of a commit.
    private func tellRegionObservers(of changes: DatabaseRegion, _ db: Database) {
        guard !regionObservers.isEmpty else { return }
        if regionObservers.contains(where: \.isCancelled) {
            regionObservers.removeAll(where: \.isCancelled)
            // Removing the preupdate hook can't fail.
            try? updateRowTables(db)
        }
        for observer in regionObservers { observer.databaseDidCommit(db, changes: changes) }
    }

    /// Installs or removes the hooks that not everybody needs.
    func updateHooks(_ db: Database) throws {
        let needsCommitHook = !observers.isEmpty || listener?.needsWillCommit ?? false
        if needsCommitHook, commitClient == nil {
            commitClient = db.hooks.onCommit { [unowned self, unowned db] in mayCommit(db) }
        } else if !needsCommitHook, let client = commitClient.take() {
            db.hooks.remove(client)
        }
        let isNeeded = !observers.isEmpty || !rowTables.isEmpty || keyNeeds != .none
        if isNeeded, preupdateClient == nil {
            preupdateClient = try db.hooks.onPreupdate { [unowned self, unowned db] in rowWillChange($0, db) }
        } else if !isNeeded, let client = preupdateClient.take() {
            db.hooks.remove(client)
        }
    }

    /// Removes the hooks. The monitor is of no use afterwards.
    func end(_ db: Database) {
        for client in clients { db.hooks.remove(client) }
        if let client = commitClient.take() { db.hooks.remove(client) }
        if let client = preupdateClient.take() { db.hooks.remove(client) }
    }

    // MARK: - Statements

    func statementWillStart(_ statement: Statement, _ db: Database) {
        // SQLite's C functions have ended a transaction.
        if phase != .none || db.hasUntoldEnd { db.noteUntoldEnd() }
        if others?.isNew ?? false { noteOthersBeforeCommit(db) }
        let accesses = db.accesses(of: statement)
        if !observers.isEmpty { for kind in accesses.kinds { _ = observers.interested(in: kind, db) } }
        if needsValues { db.findKeyColumns(of: accesses) }
        if accesses.mayTruncate, statement.expiryAtPreparation == db.hooks.expiryCount, asksForDeletions(accesses, db) {
            db.hooks.expireStatements()
        }
        running.begin(
            statement, accesses, totalChanges: db.currentTotalChanges,
            ownReportCount: db.watchers.accessRecorder?.ownReportCount ?? 0, hidesRows: db.hooks.hasSessions,
            tellsRows: preupdateClient != nil)
    }

    func asksForDeletions(_ accesses: StatementAccesses, _ db: Database) -> Bool {
        guard preupdateClient != nil else { return false }
        if keyNeeds != .none { return true }
        if let tables = accesses.changes.tableNames, tables.contains(where: rowTables.contains) { return true }
        return accesses.kinds.contains { kind in
            if case .delete = kind { !observers.interested(in: kind, db).isEmpty } else { false }
        }
    }

    func statementDidEnd(_ statement: Statement, succeeded: Bool, hasStepped: Bool, _ db: Database) {
        let totalChanges = db.currentTotalChanges
        if let hasChanged = running.endLone(statement, totalChanges: totalChanges) {
            hasRunChange = hasRunChange || hasStepped
            if hasStepped, hasChanged { loneStatementDidChange(statement, succeeded: succeeded, db) }
            return
        }
        let ended = running.end(statement, totalChanges: totalChanges)
        guard hasStepped else { return }
        hasRunChange = true
        guard let change = ended else {
            // It began before the monitor.
            return changes.add(db.accesses(of: statement).changes)
        }
        let accesses = change.accesses
        guard change.hasChanged || succeeded && accesses.isDefinition else { return }
        guard succeeded || keepsChanges(statement, accesses, db) else { return }
        if accesses.isDefinition {
            // Afterwards, its SQL may not be valid any more.
            changes.add(accesses.changes)
        } else {
            // SQLite has prepared the statement again if a trigger was added.
            let isSame = statement.handle.repreparationCount == change.repreparations
            add(isSame ? accesses : db.accesses(of: statement), change.toldRows, db)
        }
        if !observers.isEmpty, changes.depth == 0 { deliverEvents(db) }
    }

    /// A statement that has run alone, and is no definition, has changed something.
    @inline(__always)
    private func loneStatementDidChange(_ statement: Statement, succeeded: Bool, _ db: Database) {
        // SQLite has prepared the statement again if a trigger was added.
        let isSame = statement.accesses?.repreparations == statement.handle.repreparationCount
        let accesses = isSame ? statement.accesses?.value ?? .unknown : db.accesses(of: statement)
        guard succeeded || keepsChanges(statement, accesses, db) else { return }
        add(accesses, nil, db)
        if !observers.isEmpty, changes.depth == 0 { deliverEvents(db) }
    }

    /// Adds the changes of a statement, or of another operation, that has ended.
    func add(_ accesses: StatementAccesses, _ rows: RowChanges?, _ db: Database) {
        changes.add(accesses, rows: rows)
        if !rowTables.isEmpty { changes.addRows(of: accesses, rows, rowTables: rowTables) }
        if changes.tracksKeys { changes.addKeys(of: accesses, rows) { db.keyColumns(of: $0) } }
    }

    /// Session objects take the preupdate hook: the rows that running statements change aren't told any more.
    func sessionsWillBegin() { running.hideRows() }

    /// Whether a statement that has failed keeps the changes that it has made before: `ON CONFLICT FAIL`.
    private func keepsChanges(_ statement: Statement, _ accesses: StatementAccesses, _ db: Database) -> Bool {
        // SQLite counts the changes by triggers even if they are taken back. It doesn't count the others then.
        db.currentChanges > 0 || db.mayKeepChangesOfFailure(accesses, sql: statement.sql)
    }

    // MARK: - Rows

    private func rowWillChange(_ event: PreupdateEvent, _ db: Database) {
        let number = changes.tables.number(schema: event.schema, table: event.table)
        let table = changes.tables[number]
        if event.blobColumn != nil {
            if let column = db.watchers.writtenBlobColumn {
                let kind = DatabaseEventKind.update(tableName: table.name, columnNames: [column])
                tell(observers.interested(in: kind, db), of: event, table, db)
            }
            return
        }
        // The writes of SQLite's own, such as those of a full text's index at a commit, belong to no statement.
        guard let index = running.findStepping() else { return }
        if rowTables.contains(table) { running[index].rows.note(event, table) }
        if keyNeeds != .none {
            running[index].rows.noteKey(event, ofTable: number) { [accesses = running[index].accesses] in
                (db.knownKeyColumns(of: table), accesses.changes.columns(of: table))
            }
        }
        guard !observers.isEmpty else { return }
        if let recorder = db.watchers.accessRecorder, recorder.ownReportCount != running[index].ownReportCount {
            noteOwnReport(recorder, index)
        }
        let kind = DatabaseEvent.Kind(event.kind)
        let list = observers.list(for: kind, of: table, number, by: running[index].accesses, db)
        guard list != 0 else { return }
        tell(observers.list(list), of: event, table, db)
        let rowID = event.kind == .delete ? event.oldRowID : event.newRowID
        running[index].rows.append(RowEvent(kind: kind, rowID: rowID, table: number, recipients: list))
    }

    /// SQLite has prepared a running statement again, because another connection has changed the schema: the statement
    /// may make other changes than were known at its beginning.
    private func noteOwnReport(_ recorder: AccessRecorder, _ index: Int) {
        let accesses = running[index].accesses
        let kinds = accesses.kinds + recorder.takeOwnReport().kinds
        running[index].accesses = StatementAccesses(
            reads: accesses.reads, changes: accesses.changes, kinds: kinds, isDefinition: accesses.isDefinition,
            triggers: accesses.triggers)
        running[index].ownReportCount = recorder.ownReportCount
    }

    /// Tells observers of a row that will change.
    private func tell(_ entries: [ObserverEntry], of event: PreupdateEvent, _ table: TableName, _ db: Database) {
        guard !entries.isEmpty else { return }
        db.lifetime.lend(to: .observer) {
            let reals = db.knownKeyColumns(of: table)?.reals ?? []
            DatabasePreUpdateEvent.lend(event, table, reals: reals) { event in
                for entry in entries { entry.changeObserver?.databaseWillChange(with: event) }
            }
        }
    }

    /// Tells observers of all changes that no savepoint can take back any more.
    func deliverEvents(_ db: Database) {
        let events = changes.takeEvents()
        guard !events.isEmpty else { return }
        db.lifetime.lend(to: .observer) {
            ChangeDelivery.run { delivery in
                for event in events {
                    let table = changes.tables[event.table]
                    let change = DatabaseEvent(
                        kind: event.kind, databaseName: table.schema, tableName: table.name, rowID: event.rowID)
                    for entry in observers.list(event.recipients) {
                        delivery.notify(entry) { $0.databaseDidChange(with: change) }
                    }
                }
            }
        }
    }

    // MARK: - Savepoints

    func savepointsDidChange(_ kind: StatementKind, depth: Int, _ db: Database) {
        switch kind {
        case .savepoint: changes.savepointDidBegin()
        case .rollbackToSavepoint:
            changes.rollBack(toDepth: depth)
            // SQLite begins no savepoint while a statement that writes runs: what runs has begun inside.
            running.rollBack(totalChanges: db.currentTotalChanges)
        default: changes.release(toDepth: depth)
        }
        if changes.depth == 0 { deliverEvents(db) }
    }

    // MARK: - Transactions

    /// Called before a commit: returns whether it may proceed.
    private func mayCommit(_ db: Database) -> Bool {
        phase = .refused
        logHasGrown = false
        refusal = nil
        // The changes of a statement outside a transaction are committed before the statement has ended.
        for index in running.indices where running[index].toldRows != nil { changes.appendEvents(&running[index].rows) }
        deliverEvents(db)
        guard askObservers(db) else { return false }
        phase = .willCommit
        listener?.databaseWillCommit()
        return true
    }

    /// Called after a rollback by SQLite.
    private func didRollBack(_ db: Database) {
        if phase == .willCommit { phase = .rolledBack }
        if running.hasAny || db.running.blobs.contains(where: \.hasWritten) { hasRolledBack = true }
        running.rollBack(totalChanges: db.currentTotalChanges)
    }

    private func askObservers(_ db: Database) -> Bool {
        guard !observers.isEmpty else { return true }
        return db.lifetime.lend(to: .observer) {
            for entry in observers.entries {
                do {
                    try entry.observer?.databaseWillCommit()
                } catch {
                    refusal = error
                    return false
                }
            }
            return true
        }
    }

    func takeRefusal() -> (any Error)? { refusal.take() }

    func forgetUnneededCommit(_ db: Database) -> Bool {
        guard observers.isEmpty, regionObservers.isEmpty, commitClient == nil, let needs,
            changes.removeUnneeded(version: needs.current)
        else { return false }
        noteOthersBeforeCommit(db)
        (logHasGrown, hasRunChange, hasRolledBack) = (false, false, false)
        return true
    }

    func transactionDidEnd(committed: Bool, _ kind: StatementKind?, _ db: Database) -> Bool {
        let phase = phase
        self.phase = .none
        hasRolledBack = false
        guard committed else {
            rolledBack(phase, tells: !db.isReadOnly, db)
            return false
        }
        var isNotified = phase == .willCommit
        if !observers.isEmpty, !isNotified, !db.isReadOnly, kind?.controlsTransactions ?? false {
            // SQLite doesn't call the commit hook for a transaction that has written nothing.
            changes.releaseAll()
            deliverEvents(db)
            guard askObservers(db) else {
                rolledBack(.none, tells: true, db)
                return false
            }
            isNotified = true
        }
        publish(db)
        if isNotified { tellEnd(committed: true, db) } else { observers.transactionDidEnd() }
        return true
    }

    private func rolledBack(_ phase: CommitPhase, tells: Bool, _ db: Database) {
        changes.removeAll()
        hasRunChange = false
        didNotCommit(db)
        tellNotCommitted(phase)
        if tells { tellEnd(committed: false, db) } else { observers.transactionDidEnd() }
    }

    func takeUntoldEnd(_ db: Database) -> TransactionStateMachine.Event {
        // The error that has refused the commit was thrown by now.
        if refusal != nil { refusal = nil }
        others?.forgetComparison()
        if db.isInsideTransaction {
            endCommitInside(db)
            return .none
        }
        switch phase {
        case .none:
            guard !changes.isEmpty || hasRolledBack else { return .none }
            // The changes of other statements may still be committed.
            guard !ConnectionCalls.hasOpenWrite(db.pointer) else { return .none }
            // Without the commit hook, what a failing statement keeps counts as committed.
            if commitClient == nil, changes.hasStatements { return .didCommit }
            if hasRolledBack { return .didRollback }
            changes.removeAll()
            return .none
        // ON CONFLICT FAIL outside a transaction keeps the rows before the one that fails.
        case .willCommit: return .didCommit
        case .refused, .rolledBack: return .didRollback
        }
    }

    /// A commit has failed, and SQLite says that the transaction is open.
    private func endCommitInside(_ db: Database) {
        switch phase {
        case .none: break
        case .willCommit:
            // COMMIT has found the database locked.
            phase = .none
            listener?.databaseDidNotCommit()
        case .refused, .rolledBack:
            // RELEASE of the outermost savepoint leaves SQLite in a transaction after the rollback.
            try? db.rollback()
        }
    }

    private func tellNotCommitted(_ phase: CommitPhase) {
        if phase == .willCommit || phase == .rolledBack { listener?.databaseDidNotCommit() }
    }

    /// Tells the observers of the end of a transaction.
    func tellEnd(committed: Bool, _ db: Database) {
        guard !observers.isEmpty else { return }
        observers.tellEnd(committed: committed, db)
    }

    /// Tells the listener and the observers of regions of a commit.
    func publish(_ db: Database) {
        noteOthersBeforeCommit(db)
        let statement = changes.findOnlyStatement()
        var (region, keys) = changes.take()
        if region.isEmpty, logHasGrown, !hasRunChange {
            // Something has written that no statement of this connection accounts for.
            region = .fullDatabase
            keys = [:]
        }
        logHasGrown = false
        hasRunChange = false
        if let version = listener?.databaseDidCommit(db, changes: region, keys: keys), let statement {
            changes.noteUnneeded(statement, version: version)
        }
        tellRegionObservers(of: region, db)
    }
}

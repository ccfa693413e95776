extension Database {
    // MARK: - Transaction observers

    /// Adds an observer of this connection's changes and transactions.
    ///
    /// ```swift
    /// try dbQueue.write { db in db.add(transactionObserver: observer) }
    /// ```
    ///
    /// An observer that is added in a transaction is told of its end. While a changeset is made, none can be added:
    /// the end of the access throws `SQLITE_MISUSE`.
    ///
    /// - parameter extent: how long it observes. By default, as long as others keep it.
    public func add(
        transactionObserver: some TransactionObserver, extent: TransactionObservationExtent = .observerLifetime
    ) {
        failingAccess {
            try checkAccess()
            try checkIsLocal("a TransactionObserver, which is told of rows")
            guard !hooks.hasSessions else {
                throw DatabaseError.misuse("a transaction observer can't be added while a changeset is made")
            }
            let monitor = makeMonitor()
            monitor.observers.add(transactionObserver, extent)
            do {
                try monitor.updateHooks(self)
            } catch {
                monitor.observers.remove(transactionObserver)
                endMonitorIfUnneeded()
                throw error
            }
        }
    }

    /// Removes an observer, which is told of nothing any more.
    ///
    /// ```swift
    /// try dbQueue.write { db in db.remove(transactionObserver: observer) }
    /// ```
    public func remove(transactionObserver: some TransactionObserver) {
        failingAccess {
            try checkAccess()
            guard let monitor = changeMonitor else { return }
            monitor.observers.remove(transactionObserver)
            try monitor.updateHooks(self)
            endMonitorIfUnneeded()
        }
    }

    // MARK: - Regions

    /// Says that a region has changed in a way that this connection can't see: through another connection, or through
    /// SQLite's C functions.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try applyChangeset(db.sqliteConnection)
    ///     try db.notifyChanges(in: Player.all())
    /// }
    /// ```
    ///
    /// `TransactionObserver.databaseDidChange()` is called at once, if the observer observes insertions, deletions, or
    /// updates of the region's columns, in a table of the region. Observations of values and regions are told when
    /// the transaction is committed, or at once outside a transaction. Rows may have come or gone: for observations,
    /// the change counts as one of all rows and columns of the region's tables. On a connection that can't write, it
    /// has no effect.
    ///
    /// - throws: the error of the region; `DatabaseError` if the columns of its tables can't be read; `SQLITE_MISUSE`
    ///   outside an access.
    public func notifyChanges(in region: some DatabaseRegionConvertible) throws {
        try checkAccess()
        guard !isReadOnly else { return }
        let region = try region.databaseRegion(self)
        try changeMonitor?.notifyChanges(in: region, self)
    }

    /// The kinds of changes that a region may have had: rows that came or went, and updates of its columns.
    func eventKinds(of region: DatabaseRegion) throws -> [DatabaseEventKind] {
        do {
            return try (region.tableNames ?? allTables()).flatMap { table -> [DatabaseEventKind] in
                let columns = region.columns(of: table)
                let names = try columnNames(of: table).filter { columns?.contains($0.lowercasedASCII) ?? true }
                let update = DatabaseEventKind.update(tableName: table.name, columnNames: Set(names))
                return [.insert(tableName: table.name), .delete(tableName: table.name)]
                    + (names.isEmpty ? [] : [update])
            }
        } catch let failure as LookupFailure {
            throw error(failure.code, operation: "could not read the columns of the region's tables")
        }
    }

    // MARK: - The layer above

    /// The listener that learns of this connection's commits and their changes; nil if there is none.
    package var commitListener: (any CommitListener)? { changeMonitor?.listener }

    /// Sets the listener of commits.
    ///
    /// - parameter rowTables: the tables whose changed rows have to be told one by one.
    /// - parameter keys: the tables whose changed keys have to be told.
    /// - parameter seesOthers: whether the commits of other connections are told.
    /// - throws: `DatabaseError` if rows or keys are asked for and this build of SQLite can't tell them.
    package func listenToCommits(
        _ listener: (any CommitListener)?, rowTables: Set<TableName> = [], keys: KeyNeeds = .none,
        seesOthers: Bool = false
    ) throws {
        try checkAccess()
        guard listener != nil || changeMonitor != nil else { return }
        // SQLite's hooks see the shadow, where nothing changes: no keys would mean that no row has changed.
        if keys != .none || !rowTables.isEmpty { try checkIsLocal("the keys of changed rows") }
        let monitor = makeMonitor()
        defer { endMonitorIfUnneeded() }
        monitor.seeOthers(listener != nil && seesOthers, self)
        try monitor.setListener(listener, rowTables: rowTables, keys: keys, self)
    }

    /// Tells the listener if other connections have committed since the last look, or since this connection's last
    /// write. Outside a transaction, sees the last commit.
    ///
    /// ```sql
    /// PRAGMA main.data_version
    /// ```
    ///
    /// - returns: whether they have; nil if it can't be known now, because one of them has the file locked.
    @discardableResult
    package func noteOtherCommits() -> Bool? {
        guard lifetime.isOwned, let changeMonitor, let others = changeMonitor.others else { return nil }
        let haveCommitted = others.lookCloser(self)
        if haveCommitted ?? false { changeMonitor.tellOthersOfState(self) }
        return haveCommitted
    }

    /// The comparison with the commits of other connections; nil while it isn't asked for.
    package var otherCommits: OtherCommits? { changeMonitor?.others }

    var changeMonitor: ChangeMonitor? { watchers.monitor as? ChangeMonitor }

    func makeMonitor() -> ChangeMonitor {
        if let changeMonitor { return changeMonitor }
        let newMonitor = ChangeMonitor(self)
        watchers.monitor = newMonitor
        return newMonitor
    }

    func endMonitorIfUnneeded() {
        guard let changeMonitor, !changeMonitor.isNeeded else { return }
        changeMonitor.end(self)
        watchers.monitor = nil
    }
}

extension Database {
    /// How long a transaction observer observes.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer exists. The connection doesn't keep it alive.
        case observerLifetime
        /// Until the end of the next transaction. The connection keeps the observer until then.
        case nextTransaction
        /// As long as the connection exists, which keeps the observer.
        case databaseLifetime
    }
}

extension Database {
    /// Adds an observer of a region.
    ///
    /// - throws: `SQLITE_MISUSE` outside an access; `DatabaseError` if the region has rows and this build of SQLite
    ///   can't tell rows.
    package func add(regionObserver: RegionObserver) throws {
        try checkAccess()
        let monitor = makeMonitor()
        defer { endMonitorIfUnneeded() }
        try monitor.add(regionObserver, self)
    }
}

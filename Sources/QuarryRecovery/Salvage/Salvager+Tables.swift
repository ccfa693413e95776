import Quarry
import QuarryCore

extension Salvager {
    // MARK: - Objects

    /// Creates the tables, the virtual ones first: they make the tables that belong to them.
    func createTables(_ target: SalvageTarget) throws {
        let tables = objects.filter { $0.kind == .table && !$0.isInternal }
        for table in tables.filter(\.isVirtual) + tables.filter({ !$0.isVirtual }) {
            if try target.table(table.name) == nil { try create(table, target) }
        }
    }

    /// Creates an object.
    func create(_ object: SchemaObject, _ target: SalvageTarget) throws {
        guard let sql = object.creation else {
            // An index without a text belongs to a constraint of its table.
            if object.sql != nil || object.kind != .index {
                note(object, DatabaseError(message: "the text of the schema is damaged"))
            }
            return
        }
        do {
            try target.db.inSavepoint {
                try target.db.makeStatement(sql: sql).execute()
                return .commit
            }
        } catch let error as DatabaseError where SalvageTarget.concernsObject(error) {
            note(object, error)
        }
    }

    private func note(_ object: SchemaObject, _ error: DatabaseError) {
        // The tree of a table that couldn't be created is walked all the same, if it is known.
        if object.kind == .table, !object.isVirtual, object.root == 0 { mayHaveUnknownTables = true }
        report.lostObjects.append(
            SalvageReport.LostObject(
                type: object.kind.rawValue, name: object.name, sql: object.sql ?? "", error: error))
    }

    /// Creates everything else, once all rows are written.
    func createOtherObjects(_ target: SalvageTarget) throws {
        try begin(.objects)
        try createAll(.index, target)
        try createAll(.view, target)
        // The text of a full-text index may be in a view.
        for table in objects where table.isVirtual { try rebuild(table, target) }
        // Triggers last: those of views need the views.
        try createAll(.trigger, target)
        try writeSequences(target)
        if hasStatistics {
            try target.db.execute(sql: "PRAGMA analysis_limit = 1000")
            try target.db.execute(sql: "ANALYZE main")
        }
        try target.db.execute(sql: "PRAGMA main.user_version = \(source.header.userVersion)")
        try target.db.execute(sql: "PRAGMA main.application_id = \(source.header.applicationID)")
    }

    private func createAll(_ kind: SchemaObject.Kind, _ target: SalvageTarget) throws {
        for object in objects where object.kind == kind && !object.isInternal {
            try mayGoOn(always: true)
            try create(object, target)
        }
    }

    /// Rebuilds the index of a full-text table: <https://www.sqlite.org/fts5.html#the_rebuild_command>.
    private func rebuild(_ table: SchemaObject, _ target: SalvageTarget) throws {
        let text = VirtualTableText(table.sql ?? "")
        guard ["fts3", "fts4", "fts5"].contains(text.module), !text.isContentless,
            !report.lostObjects.contains(where: { $0.type == "table" && $0.name == table.name })
        else { return }
        try mayGoOn(always: true)
        let name = table.name.quotedDatabaseIdentifier
        if text.hasExternalContent, try takesTooLong(name, target) {
            // The check of the new file would read it, too.
            try target.db.execute(sql: "DROP TABLE main.\(name)")
            return note(
                table, DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "reading the text takes too long"))
        }
        do {
            try target.db.inSavepoint {
                try target.db.execute(sql: "INSERT INTO main.\(name) (\(name)) VALUES ('rebuild')")
                return .commit
            }
        } catch let error as DatabaseError where SalvageTarget.concernsObject(error) {
            note(table, error)
        }
    }

    /// Whether the text of a full-text table, which a view may make, takes much longer than the file is large: the
    /// query of a view may never end. A query is interrupted here, because interrupted writes end the transaction:
    /// <https://www.sqlite.org/c3ref/interrupt.html>.
    private func takesTooLong(_ name: String, _ target: SalvageTarget) throws -> Bool {
        var callsLeft = 10_000 + source.pageCount * source.header.pageSize / 10
        let hooks = target.db.hooks
        // Each call comes after a thousand steps.
        let client = hooks.onProgress {
            callsLeft -= 1
            return callsLeft > 0
        }
        defer { hooks.remove(client) }
        do {
            _ = try Int.fetchOne(target.db, sql: "SELECT count(*) FROM main.\(name)")
            return false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && callsLeft <= 0 {
            return true
        } catch let error as DatabaseError where SalvageTarget.concernsObject(error) {
            // The rebuilding fails, too.
            return false
        }
    }

    // MARK: - Rows

    /// Copies the rows of all tables, and walks the trees of the indexes, so that their pages are known.
    func salvageTables(_ target: SalvageTarget) throws {
        try begin(.tables)
        let trees = try trees(target)
        try survey(trees)
        for tree in trees {
            switch tree.content {
            case .rows(let table, let isOwned): try salvageRows(tree, table, isOwned: isOwned, target)
            case .sequences(let table): try salvageSequences(tree, table, target)
            case .remade:
                _ = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { _ in try mayGoOn() }
            case .unknown: try salvageUnknown(tree, target)
            case .index(let count):
                let holes = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { _ in
                    try mayGoOn()
                }
                if !holes.isEmpty { damagedIndexes.append(count) }
            }
        }
    }

    private func salvageRows(
        _ tree: Tree, _ table: SalvageTarget.Table, isOwned: Bool, _ target: SalvageTarget
    ) throws {
        if isOwned { try target.db.execute(sql: "DELETE FROM main.\(table.name.quotedDatabaseIdentifier)") }
        note(SalvageReport.Table(name: table.name))
        let index = report.tables.count - 1
        let holes = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { content in
            try self.mayGoOn()
            report.tables[index].brokenRowCount += content.page.brokenCellCount
            for cell in content.page.cells {
                try self.salvage(cell, content, table, target)
            }
        }
        note(holes, index)
        if !holes.isEmpty { damagedTables.append(DamagedTable(table: table, keys: HoleKeys(holes))) }
    }

    private func note(_ table: SalvageReport.Table) { report.tables.append(table) }

    private func note(_ holes: [TreeHole], _ index: Int) {
        report.tables[index].lostPageCount = holes.count
        report.tables[index].lostPages = holes.prefix(1000).map { hole in
            SalvageReport.LostPage(
                page: Int(hole.page), lowerBound: hole.keys.low, upperBound: hole.keys.high,
                reason: hole.reason.rawValue)
        }
    }

    private func salvage(
        _ cell: BTreePage.Cell, _ content: TreeWalk.Content, _ table: SalvageTarget.Table, _ target: SalvageTarget
    ) throws {
        let rowID = table.isWithoutRowID ? nil : cell.rowID
        guard let record = record(content, cell) else {
            return changeTable(table.name) { $0.brokenRowCount += 1 }
        }
        let row = SalvageTarget.Row(page: content.number, rowID: rowID, record: record)
        if let rowID, !content.keys.contains(rowID) {
            changeTable(table.name) { $0.refusedRowCount += 1 }
            return try target.keep(row, table: table.name, reason: "its rowid isn't in the range of its page")
        }
        try salvage(row, table, target, isOrphan: false)
    }

    /// Inserts a row into its table, or keeps it in the table of lost rows.
    func salvage(
        _ row: SalvageTarget.Row, _ table: SalvageTarget.Table, _ target: SalvageTarget, isOrphan: Bool
    ) throws {
        switch try target.insert(row, into: table) {
        case .inserted:
            changeTable(table.name) { table in
                table.savedRowCount += 1
                if isOrphan { table.orphanedRowCount += 1 }
            }
        case .duplicate: changeTable(table.name) { $0.duplicateRowCount += 1 }
        case .refused(let reason):
            changeTable(table.name) { table in
                let isProven = row.record.isComplete && row.record.doubt == nil
                if isProven { table.refusedRowCount += 1 } else { table.brokenRowCount += 1 }
            }
            try target.keep(row, table: table.name, reason: reason)
        }
    }

    private func changeTable(_ name: String, _ change: (inout SalvageReport.Table) -> Void) {
        // The last one is the one whose rows are being copied, except for orphans.
        if let index = report.tables.lastIndex(where: { $0.name == name }) { change(&report.tables[index]) }
    }

    /// Keeps the rows of a table that couldn't be created.
    private func salvageUnknown(_ tree: Tree, _ target: SalvageTarget) throws {
        let holes = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { content in
            try self.mayGoOn()
            for cell in content.page.cells {
                guard let record = self.record(content, cell) else { continue }
                try target.keep(
                    SalvageTarget.Row(
                        page: content.number, rowID: tree.kind == .table ? cell.rowID : nil, record: record),
                    table: tree.object.name, reason: "the table couldn't be created")
            }
        }
        if !holes.isEmpty { mayHaveUnknownTables = true }
    }

    // MARK: - Sequences

    private func salvageSequences(_ tree: Tree, _ table: SalvageTarget.Table, _ target: SalvageTarget) throws {
        let holes = try walk.walk(tree.kind, root: tree.object.root, accepts: tree.accepts) { content in
            try self.mayGoOn()
            for cell in content.page.cells {
                if let record = self.record(content, cell) { self.noteSequence(record, target.encoding) }
            }
        }
        if !holes.isEmpty { damagedTables.append(DamagedTable(table: table, keys: HoleKeys(holes))) }
    }

    func noteSequence(_ record: SalvagedRecord, _ encoding: FileHeader.Encoding) {
        guard record.doubt == nil, record.values.count == 2, let name = record.values[0].string(encoding),
            case .integer(let number) = record.values[1]
        else { return }
        sequences[name] = max(sequences[name] ?? number, number)
    }

    /// Lets AUTOINCREMENT go on where it was. Rows have set the numbers that they need.
    private func writeSequences(_ target: SalvageTarget) throws {
        guard try target.db.hasSequences() else { return }
        for (name, number) in sequences.sorted(by: { $0.key < $1.key }) {
            guard try target.table(name) != nil else { continue }
            try target.db.execute(
                sql: "UPDATE main.sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
                arguments: [name, number])
            if target.db.changesCount == 0 {
                try target.db.execute(
                    sql: "INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [name, number])
            }
        }
    }
}

extension Database {
    fileprivate func hasSequences() throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence')") ?? false
    }
}

extension SalvageTarget {
    /// Whether an error concerns an object of the schema, and not the target or the task.
    static func concernsObject(_ error: DatabaseError) -> Bool {
        // A virtual table may report that its own tables contradict each other.
        error.concernsRow || error.extendedResultCode == .SQLITE_CORRUPT_VTAB || error.resultCode == .SQLITE_MISUSE
    }
}

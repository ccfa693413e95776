/// Notes what statements read and change while SQLite prepares them: a client of the authorizer.
///
/// See <https://www.sqlite.org/c3ref/set_authorizer.html>.
final class AccessRecorder {
    /// The tables that one preparation has reported.
    struct Report {
        /// A read of the presence of rows, as in `SELECT COUNT(*)`.
        struct PresenceRead: Hashable {
            /// As written.
            let table: String
            /// Whether a view or a common table expression reads: then its schema may be meant.
            let isNested: Bool
        }

        /// An update of a table by the statement itself or by triggers.
        struct Update {
            let table: TableName
            /// The columns, as written.
            fileprivate(set) var columns: Set<String>
            fileprivate(set) var triggers: Set<TableName>
        }

        fileprivate(set) var reads: [TableName: Set<String>] = [:]
        /// The tables of which no column is read. SQLite doesn't say in which schema they are, unless the SQL does.
        fileprivate(set) var readsOfPresence: Set<PresenceRead> = []
        /// The names of the views, common table expressions and triggers that have a query. If no column of a view is
        /// read, nothing else names it.
        fileprivate(set) var nestedQueries: Set<String> = []
        /// The tables in which rows may come or go.
        fileprivate(set) var insertions: [TableName] = []
        fileprivate(set) var deletions: [TableName] = []
        fileprivate(set) var updates: [Update] = []
        /// The tables and views that are created, changed or dropped.
        fileprivate(set) var definitions: [TableName] = []
        /// The triggers that write, named with the schema of the table they write.
        fileprivate(set) var triggers: Set<TableName> = []

        var isEmpty: Bool {
            reads.isEmpty && readsOfPresence.isEmpty && insertions.isEmpty && deletions.isEmpty && updates.isEmpty
                && definitions.isEmpty && nestedQueries.isEmpty
        }

        fileprivate mutating func noteUpdate(of table: TableName, _ column: String, _ trigger: TableName?) {
            let triggers = trigger.map { Set([$0]) } ?? []
            if let index = updates.firstIndex(where: { $0.table == table }) {
                updates[index].columns.insert(column)
                updates[index].triggers.formUnion(triggers)
            } else {
                updates.append(Update(table: table, columns: [column], triggers: triggers))
            }
        }
    }

    private var report: Report?

    /// Whether the reports are of no interest.
    private var isPaused = false

    /// The reports of statements that SQLite has prepared again on its own, because the schema had changed.
    private var ownReport = Report()

    /// Counts these reports.
    private(set) var ownReportCount = 0

    /// The last pair of C strings that named a table, and its name: most reports name the same table again.
    private var lastTable: (schema: UnsafePointer<CChar>, name: UnsafePointer<CChar>, table: TableName)?

    /// Runs `body`, which prepares a statement.
    func recording<T>(_ body: () throws -> T) rethrows -> (value: T, report: Report) {
        let outer = report
        report = Report()
        defer {
            report = outer
            lastTable = nil
        }
        let value = try body()
        return (value, report ?? Report())
    }

    /// Runs `body`, whose preparations are of no interest.
    func pausing<T>(_ body: () throws -> T) rethrows -> T {
        let wasPaused = isPaused
        isPaused = true
        defer { isPaused = wasPaused }
        return try body()
    }

    /// Whether SQLite has prepared statements on its own.
    var hasOwnReport: Bool { !ownReport.isEmpty }

    /// Removes and returns what SQLite has reported when it prepared statements on its own.
    func takeOwnReport() -> Report {
        defer {
            ownReport = Report()
            lastTable = nil
        }
        return ownReport
    }

    func note(_ authorization: HookSlots.Authorization) {
        guard !isPaused, let operation = authorization.operation else { return }
        if report != nil {
            note(operation, authorization, in: &report!)
        } else {
            ownReportCount &+= 1
            // The strings of an earlier preparation may be gone.
            lastTable = nil
            note(operation, authorization, in: &ownReport)
        }
    }

    private func note(
        _ operation: HookSlots.Authorization.Operation, _ authorization: HookSlots.Authorization,
        in report: inout Report
    ) {
        switch operation {
        case .read(let name, let column):
            let columns: Set<String> = column[0] == 0 ? [] : [String(cString: column).lowercasedASCII]
            if let table = table(name, authorization.schema) {
                report.reads[table, default: []].formUnion(columns)
            } else {
                report.readsOfPresence.insert(
                    Report.PresenceRead(table: String(cString: name), isNested: authorization.trigger != nil))
            }
        case .nestedQuery(let name): report.nestedQueries.insert(String(cString: name))
        case .insert(let name):
            guard let table = table(name, authorization.schema) else { return }
            if !report.insertions.contains(table) { report.insertions.append(table) }
            noteTrigger(authorization.trigger, of: table, in: &report)
        case .delete(let name):
            guard let table = table(name, authorization.schema) else { return }
            if !report.deletions.contains(table) { report.deletions.append(table) }
            noteTrigger(authorization.trigger, of: table, in: &report)
        case .update(let name, let column):
            guard let table = table(name, authorization.schema) else { return }
            noteTrigger(authorization.trigger, of: table, in: &report)
            let trigger = authorization.trigger.map { TableName(schema: table.schema, name: String(cString: $0)) }
            report.noteUpdate(of: table, String(cString: column), trigger)
        case .definition(let name, let schema):
            guard let table = table(name, schema ?? authorization.schema) else { return }
            report.definitions.append(table)
        }
    }

    private func noteTrigger(_ trigger: UnsafePointer<CChar>?, of table: TableName, in report: inout Report) {
        guard let trigger else { return }
        report.triggers.insert(TableName(schema: table.schema, name: String(cString: trigger)))
    }

    private func table(_ name: UnsafePointer<CChar>, _ schema: UnsafePointer<CChar>?) -> TableName? {
        guard let schema else { return nil }
        // SQLite doesn't move its schema during a preparation.
        if let lastTable, lastTable.schema == schema, lastTable.name == name { return lastTable.table }
        let table = TableName(schema: String(cString: schema), name: String(cString: name))
        lastTable = (schema, name, table)
        return table
    }
}

extension AccessRecorder.Report {
    /// The report without what SQLite reports when a statement is the first to use a table-valued function such as
    /// `json_each`, and SQLite declares its columns.
    func withoutDeclarations(sql: String) -> Self {
        let declares =
            updates.contains { $0.table.isSchemaTable } && insertions.allSatisfy { !$0.isSchemaTable }
            && deletions.allSatisfy { !$0.isSchemaTable } && definitions.isEmpty
        guard declares, !sql.lowercasedASCII.contains("sqlite_") else { return self }
        var result = self
        result.updates.removeAll { $0.table.isSchemaTable }
        for (table, columns) in reads where table.isSchemaTable && columns == ["rowid"] { result.reads[table] = nil }
        return result
    }

    /// The kinds of changes.
    var kinds: [DatabaseEventKind] {
        insertions.map { .insert(tableName: $0.name) } + deletions.map { .delete(tableName: $0.name) }
            + updates.map { .update(tableName: $0.table.name, columnNames: $0.columns) }
    }
}

/// Records what statements read and change while SQLite prepares them: a client of the authorizer.
///
/// See <https://www.sqlite.org/c3ref/set_authorizer.html>.
final class AccessRecorder {
    /// What one preparation has reported.
    struct Report {
        /// An update of a table by the statement itself or by triggers.
        struct Update {
            let table: TableName
            /// The columns, as written.
            fileprivate(set) var columns: Set<String>
            fileprivate(set) var triggers: Set<TableName>
        }

        fileprivate(set) var reads: [TableName: Set<String>] = [:]
        /// The tables in which rows may come or go.
        fileprivate(set) var insertions: [TableName] = []
        fileprivate(set) var deletions: [TableName] = []
        fileprivate(set) var updates: [Update] = []
        /// The tables and views that are created, changed or dropped.
        fileprivate(set) var definitions: [TableName] = []
    }

    private var report: Report?

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
        let outer = report.take()
        defer { report = outer }
        return try body()
    }

    func record(_ authorization: HookSlots.Authorization) {
        guard report != nil, let operation = authorization.operation else { return }
        switch operation {
        case .read(let name, let column):
            guard let table = table(name, authorization.schema) else { return }
            report?.reads[table, default: []].formUnion(column[0] == 0 ? [] : [String(cString: column).lowercasedASCII])
        case .insert(let name):
            guard let table = table(name, authorization.schema) else { return }
            if report?.insertions.contains(table) == false { report?.insertions.append(table) }
        case .delete(let name):
            guard let table = table(name, authorization.schema) else { return }
            if report?.deletions.contains(table) == false { report?.deletions.append(table) }
        case .update(let name, let column):
            guard let table = table(name, authorization.schema) else { return }
            let trigger = authorization.trigger.map { TableName(schema: table.schema, name: String(cString: $0)) }
            noteUpdate(of: table, String(cString: column), trigger)
        case .definition(let name, let schema):
            guard let table = table(name, schema ?? authorization.schema) else { return }
            report?.definitions.append(table)
        }
    }

    private func noteUpdate(of table: TableName, _ column: String, _ trigger: TableName?) {
        let triggers = trigger.map { Set([$0]) } ?? []
        if let index = report?.updates.firstIndex(where: { $0.table == table }) {
            report?.updates[index].columns.insert(column)
            report?.updates[index].triggers.formUnion(triggers)
        } else {
            report?.updates.append(Report.Update(table: table, columns: [column], triggers: triggers))
        }
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

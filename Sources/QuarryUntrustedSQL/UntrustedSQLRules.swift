import Quarry
import QuarryCore

/// Decides what SQL may do under a policy, as a value.
struct UntrustedSQLRules {
    let policy: UntrustedSQLPolicy
    let catalog: SchemaCatalog

    /// The reason why an operation isn't allowed, in words; nil if it is allowed.
    ///
    /// - parameter source: the view or common table expression that has the operation; nil if it is the statement.
    func refusal(of request: HookSlots.Authorization.Request, in source: String? = nil) -> String? {
        // SQLite doesn't report a read of a view of which no column is used.
        if let source, let refusal = refusalOfView(source) { return refusal }
        return refusal(ofOperation: request)
    }

    private func refusalOfView(_ name: String) -> String? {
        for table in catalog.tablesByName[name.lowercasedASCII] ?? [] {
            if let kind = catalog.tables[table], case .view = kind, !mayRead(table, kind, "") {
                return "reading \(table) isn't allowed"
            }
        }
        return nil
    }

    private func refusal(ofOperation request: HookSlots.Authorization.Request) -> String? {
        switch request {
        case .select: nil
        case .recursion: policy.allowsRecursion ? nil : "a recursive common table expression isn't allowed"
        case .function(let name): mayCall(name) ? nil : "calling \(name) isn't allowed"
        case .read(let schema?, let table, let column): refusal(schema: schema, table, column)
        case .read(nil, let table, _): refusalOfPresence(table)
        // FTS5 asks for it in the middle of a query.
        case .pragma("data_version", false): nil
        case .pragma(let name, _): "PRAGMA \(name) isn't allowed"
        case .other(let text): "\(text) isn't allowed"
        }
    }

    private func mayCall(_ function: String) -> Bool { policy.functions.contains(function.lowercasedASCII) }

    /// - parameter column: empty for the presence of rows.
    private func refusal(schema: String, _ name: String, _ column: String) -> String? {
        let table = TableName(schema: schema, name: UntrustedSQLPolicy.canonical(name))
        guard let kind = catalog.tables[table] else {
            // A table-valued function, such as json_each: SQLite says that it is in main.
            return mayCall(name) ? nil : "reading \(table) isn't allowed"
        }
        if mayRead(table, kind, column) { return nil }
        return column.isEmpty || !mayRead(table, kind, "")
            ? "reading \(table) isn't allowed" : "reading \(table).\(column) isn't allowed"
    }

    /// SQLite reports the name of a table of which no column is read, as the statement has it.
    private func refusalOfPresence(_ name: String) -> String? {
        let name = UntrustedSQLPolicy.canonical(name)
        let lowercased = name.lowercasedASCII
        let tables = catalog.tables(named: name)
        for table in tables {
            if let kind = catalog.tables[table], !mayRead(table, kind, "") { return "reading \(table) isn't allowed" }
        }
        if !tables.isEmpty { return nil }
        if catalog.modules.contains(lowercased) || lowercased.hasPrefix("pragma_") {
            return mayCall(name) ? nil : "reading \(name) isn't allowed"
        }
        // A common table expression, whose own reads are reported.
        return nil
    }

    private func mayRead(_ table: TableName, _ kind: SchemaCatalog.Kind, _ column: String) -> Bool {
        let allowed = policy.allowedTables[table]
        switch policy.deniedTables[table] {
        case .all: return false
        case .some(let columns) where columns.contains(column.lowercasedASCII): return false
        case .some, nil: break
        }
        switch kind {
        case .table, .virtual:
            guard let allowed else { return policy.allowsOtherTables && !isOfSQLite(table) }
            return column.isEmpty || allowed.contains(column)
        case .view(let isReported):
            guard let allowed else { return isReported }
            return column.isEmpty || allowed.contains(column)
        case .shadow:
            if let allowed { return column.isEmpty || allowed.contains(column) }
            // The virtual table reads it, and its columns aren't those of the virtual table.
            guard let owner = catalog.owner(of: table), policy.deniedTables[owner] == nil else { return false }
            return policy.allowedTables[owner].map { $0 == .all } ?? policy.allowsOtherTables
        }
    }

    private func isOfSQLite(_ table: TableName) -> Bool { table.name.lowercasedASCII.hasPrefix("sqlite_") }

    /// The virtual tables that may be used.
    var virtualTables: [TableName] {
        catalog.tables.filter { $0.value == .virtual && mayRead($0.key, .virtual, "") }.map(\.key)
    }

    /// The table-valued functions that may be used.
    var tableFunctions: [String] { catalog.modules.intersection(policy.functions).sorted() }
}

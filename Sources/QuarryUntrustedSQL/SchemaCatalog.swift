import Quarry
import QuarryCore

/// The tables of all databases of a connection, as far as a policy needs them.
struct SchemaCatalog {
    /// The kind of a table.
    enum Kind: Equatable {
        case table
        /// - parameter isReported: whether SQLite tells of each column that the view reads. It doesn't for NATURAL
        ///   joins and USING.
        case view(isReported: Bool)
        case virtual
        /// A table of a virtual table's content: <https://www.sqlite.org/vtab.html#xshadowname>.
        case shadow
    }

    private(set) var tables: [TableName: Kind] = [:]

    /// The tables with a name in lower case, of all schemas.
    private(set) var tablesByName: [String: [TableName]] = [:]

    /// The schemas that have views, in lower case.
    private(set) var schemasWithViews: Set<String> = []

    /// The names of the modules of virtual tables, in lower case.
    var modules: Set<String> = []

    mutating func add(_ table: TableName, _ kind: Kind) {
        guard tables.updateValue(kind, forKey: table) == nil else { return }
        tablesByName[table.name.lowercasedASCII, default: []].append(table)
        if case .view = kind { schemasWithViews.insert(table.schema.lowercasedASCII) }
    }

    /// The tables that a name without a schema may mean: <https://www.sqlite.org/lang_naming.html>.
    ///
    /// A table of `temp` or `main` hides those of attached databases, except in the views of these.
    func tables(named name: String) -> [TableName] {
        let tables = tablesByName[name.lowercasedASCII] ?? []
        func isAttached(_ table: TableName) -> Bool { !["main", "temp"].contains(table.schema.lowercasedASCII) }
        guard !tables.allSatisfy(isAttached) else { return tables }
        return tables.filter { !isAttached($0) || schemasWithViews.contains($0.schema.lowercasedASCII) }
    }

    /// The virtual table that a shadow table belongs to: `player_ft` for `player_ft_content`.
    func owner(of shadow: TableName) -> TableName? {
        var name = Substring(shadow.name)
        while let index = name.lastIndex(of: "_") {
            name = name[..<index]
            let owner = TableName(schema: shadow.schema, name: String(name))
            if tables[owner] == .virtual { return owner }
        }
        return nil
    }
}

extension Database {
    /// Reads the tables. SQLite reads the schemas for it, and connects to the virtual tables.
    func readSchemaCatalog() throws -> SchemaCatalog {
        var catalog = SchemaCatalog()
        var schemas: Set<String> = []
        for row in try Row.fetchAll(self, sql: "PRAGMA table_list") {
            let (schema, name): (String, String) = (row["schema"], row["name"])
            schemas.insert(schema)
            let kind: SchemaCatalog.Kind =
                switch row["type"] as String {
                case "view": .view(isReported: true)
                case "virtual": .virtual
                case "shadow": .shadow
                default: .table
                }
            guard kind != .view(isReported: true) else { continue }
            catalog.add(TableName(schema: schema, name: UntrustedSQLPolicy.canonical(name)), kind)
        }
        for schema in schemas {
            let views = try Row.fetchAll(
                self,
                sql: "SELECT name, sql FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'view'")
            for view in views {
                let sql: String = view["sql"] ?? ""
                let hidden = Substring(sql).utf8.firstUnreportedJoin
                catalog.add(TableName(schema: schema, name: view["name"]), .view(isReported: hidden == nil))
            }
        }
        catalog.modules = Set(
            try String.fetchAll(self, sql: "SELECT name FROM pragma_module_list").map(\.lowercasedASCII)
                // SQLite 3.54 lists these when they have been used.
                + ["json_each", "json_tree", "jsonb_each", "jsonb_tree"])
        return catalog
    }
}

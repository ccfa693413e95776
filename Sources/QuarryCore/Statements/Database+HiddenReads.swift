extension Database {
    /// The tables and views that a statement reads and SQLite doesn't report.
    ///
    /// The tables are those of `NATURAL` joins and of `USING`, in the statement or in a view.
    /// SQLite doesn't tell the authorizer which columns such a join compares, nor, if it compares several, that it
    /// reads the tables. The statement's program names them: <https://www.sqlite.org/opcode.html#OpenRead>.
    ///
    /// SQLite 3.54 counts the rows of a `UNION ALL` view in each part, and doesn't name the view. So each view that the
    /// SQL may name belongs to the region: one too many costs a fetch when it is defined anew.
    func hiddenReads(ofSQL sql: String) throws(LookupFailure) -> DatabaseRegion {
        let views = try views
        var region = DatabaseRegion()
        for view in views.mayBeNamed(in: sql) { region.formUnion(DatabaseRegion(view, columns: [])) }
        if Substring(sql).utf8.firstUnreportedJoin != nil || views.hidingMayBeNamed(in: sql) {
            region.formUnion(try openedTables(ofSQL: sql) ?? .fullDatabase)
        }
        return region
    }

    /// The views of all schemas.
    var views: KnownViews {
        get throws(LookupFailure) {
            let schemas = try schemas.values.sorted()
            var state = KnownViews.State(stamp: schemaStamp, versions: [])
            for schema in schemas { state.versions += try version(ofSchema: schema) }
            if let known = schemaMemory.knownViews, known.state == state { return known }
            var views: [KnownViews.View] = []
            for schema in schemas {
                let sql = "SELECT name, sql FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'view'"
                views += try lookUp(sql) { view in
                    KnownViews.View(
                        name: TableName(schema: schema, name: StatementColumns.string(view, 0) ?? ""),
                        sql: StatementColumns.string(view, 1) ?? "")
                }
            }
            let found = KnownViews(views, state)
            schemaMemory.knownViews = found
            return found
        }
    }

    /// <https://www.sqlite.org/pragma.html#pragma_schema_version>
    private func version(ofSchema schema: String) throws(LookupFailure) -> [Int64] {
        try lookUp("PRAGMA \(schema.quotedDatabaseIdentifier).schema_version") { StatementColumns.int64($0, 0) }
    }

    /// The tables that the statement's program opens; nil if they can't be known.
    private func openedTables(ofSQL sql: String) throws(LookupFailure) -> DatabaseRegion? {
        var opened: Set<OpenedTree> = []
        var readsVirtualTable = false
        _ = try lookUp("EXPLAIN \(sql)") { operation in
            switch StatementColumns.string(operation, 1) {
            case "OpenRead", "ReopenIdx":
                opened.insert(
                    OpenedTree(
                        schema: Int(StatementColumns.int64(operation, 4)),
                        rootPage: StatementColumns.int64(operation, 3)))
            // A virtual table reads what it wants.
            case "VOpen": readsVirtualTable = true
            default: break
            }
        }
        guard !readsVirtualTable else { return nil }
        let schemas = try schemas
        var region = DatabaseRegion()
        for tree in opened {
            guard let schema = schemas[tree.schema], let table = try table(ofRootPage: tree.rootPage, in: schema) else {
                return nil
            }
            region.formUnion(DatabaseRegion(table))
        }
        return region
    }

    /// A tree of a table or an index.
    private struct OpenedTree: Hashable {
        /// The number of the schema: <https://www.sqlite.org/pragma.html#pragma_database_list>.
        let schema: Int
        let rootPage: Int64
    }

    private func table(ofRootPage page: Int64, in schema: String) throws(LookupFailure) -> TableName? {
        if page == 1 { return TableName(schema: schema, name: "sqlite_master") }
        let sql = "SELECT tbl_name FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE rootpage = \(page)"
        let names = try lookUp(sql) { StatementColumns.string($0, 0) }
        return (names.first ?? nil).map { TableName(schema: schema, name: $0) }
    }
}

/// The views in a state of the schemas, and which of them have joins that SQLite doesn't report.
struct KnownViews {
    /// Other connections change the versions. This one may roll back a change, and make another with the same version.
    struct State: Equatable {
        let stamp: Int
        var versions: [Int64]
    }

    struct View {
        let name: TableName
        let sql: String

        var hasUnreportedJoin: Bool { Substring(sql).utf8.firstUnreportedJoin != nil }
    }

    let state: State

    private let views: [View]

    /// The words of the names of the views.
    private let wordsOfNames: [[String]]

    /// The words of the names of the views with such joins, and of those that read them; nil if any SQL may name one.
    private let words: [String]?

    /// - parameter views: all views.
    init(_ views: [View], _ state: State) {
        self.state = state
        self.views = views
        wordsOfNames = views.map { Self.words(ofName: $0.name) }
        words = Self.words(ofHiding: views)
    }

    private static func words(ofHiding views: [View]) -> [String]? {
        var words: [String] = []
        var others = views
        while let index = others.firstIndex(where: { $0.hasUnreportedJoin || $0.sql.utf8.hasWord(in: words) }) {
            let wordsOfName = Self.words(ofName: others.remove(at: index).name)
            guard !wordsOfName.isEmpty else { return nil }
            words += wordsOfName
        }
        return words
    }

    private static func words(ofName name: TableName) -> [String] {
        name.name.utf8.words.map { String(decoding: $0.map { $0 & 0xDF }, as: UTF8.self) }
    }

    /// The views with one of some names, in all schemas.
    func named(_ names: Set<String>) -> [TableName] {
        views.map(\.name).filter { view in names.contains { $0.isSameName(as: view.name) } }
    }

    /// The views of whose names some SQL has a word, and those that such views have a word of.
    func mayBeNamed(in sql: String) -> [TableName] {
        if views.isEmpty { return [] }
        var found: [TableName] = []
        var texts = [sql]
        var others = Array(views.indices)
        while let text = texts.popLast() {
            others.removeAll { index in
                let words = wordsOfNames[index]
                guard words.isEmpty || text.utf8.hasWord(in: words) else { return false }
                found.append(views[index].name)
                texts.append(views[index].sql)
                return true
            }
        }
        return found
    }

    /// Whether some SQL has a word of the name of a view with such a join.
    func hidingMayBeNamed(in sql: String) -> Bool { words.map { sql.utf8.hasWord(in: $0) } ?? true }
}

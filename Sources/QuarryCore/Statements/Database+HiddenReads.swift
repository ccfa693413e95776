extension Database {
    /// The tables that a statement reads and SQLite doesn't report: those of `NATURAL` joins and of `USING`, in the
    /// statement or in a view.
    ///
    /// SQLite doesn't tell the authorizer which columns such a join compares, nor, if it compares several, that it
    /// reads the tables. The statement's program names them: <https://www.sqlite.org/opcode.html#OpenRead>.
    func hiddenReads(ofSQL sql: String) -> DatabaseRegion {
        guard sql.utf8.hasWord(in: HidingViews.joins) || hidingViews.mayBeNamed(in: sql) else {
            return DatabaseRegion()
        }
        return openedTables(ofSQL: sql) ?? .fullDatabase
    }

    /// The views that have such a join, or that read one which has.
    private var hidingViews: HidingViews {
        let schemas = schemas.values.sorted()
        let state = HidingViews.State(stamp: schemaStamp, versions: schemas.map { version(ofSchema: $0) })
        if let known = knownHidingViews, known.state == state { return known }
        let views: [HidingViews.View]? = schemas.reduce([]) { views, schema in
            let sql = "SELECT name, sql FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'view'"
            return withUnnotedStatement(sql) { view in
                var views = views
                while true {
                    switch view.step() {
                    case StatementHandle.row: break
                    case StatementHandle.done: return views
                    default: return nil
                    }
                    views?.append(
                        HidingViews.View(
                            name: StatementColumns.string(view.pointer, 0) ?? "",
                            sql: StatementColumns.string(view.pointer, 1) ?? ""))
                }
            }
        }
        let hidingViews = HidingViews(of: views, state)
        knownHidingViews = hidingViews
        return hidingViews
    }

    /// <https://www.sqlite.org/pragma.html#pragma_schema_version>
    private func version(ofSchema schema: String) -> Int64? {
        withUnnotedStatement("PRAGMA \(schema.quotedDatabaseIdentifier).schema_version") { row in
            row.step() == StatementHandle.row ? StatementColumns.int64(row.pointer, 0) : nil
        }
    }

    /// The tables that the statement's program opens; nil if they can't be found.
    private func openedTables(ofSQL sql: String) -> DatabaseRegion? {
        let opened: Set<OpenedTree>? = withUnnotedStatement("EXPLAIN \(sql)") { program in
            var opened: Set<OpenedTree> = []
            while true {
                switch program.step() {
                case StatementHandle.row: break
                case StatementHandle.done: return opened
                default: return nil
                }
                switch StatementColumns.string(program.pointer, 1) {
                case "OpenRead", "ReopenIdx":
                    opened.insert(
                        OpenedTree(
                            schema: Int(StatementColumns.int64(program.pointer, 4)),
                            rootPage: StatementColumns.int64(program.pointer, 3)))
                // A virtual table reads what it wants.
                case "VOpen": return nil
                default: break
                }
            }
        }
        guard let opened else { return nil }
        let schemas = schemas
        var region = DatabaseRegion()
        for tree in opened {
            guard let schema = schemas[tree.schema], let table = table(ofRootPage: tree.rootPage, in: schema) else {
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

    private func table(ofRootPage page: Int64, in schema: String) -> TableName? {
        if page == 1 { return TableName(schema: schema, name: "sqlite_master") }
        let sql = "SELECT tbl_name FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE rootpage = \(page)"
        return withUnnotedStatement(sql) { row in
            guard row.step() == StatementHandle.row else { return nil }
            return StatementColumns.string(row.pointer, 0).map { TableName(schema: schema, name: $0) }
        }
    }
}

/// The views, in a state of the schemas, whose joins SQLite doesn't report.
struct HidingViews {
    /// Other connections change the versions. This one may roll back a change, and make another with the same version.
    struct State: Equatable {
        let stamp: Int
        let versions: [Int64?]
    }

    struct View {
        let name: String
        let sql: String
    }

    /// The words of joins whose columns SQLite doesn't report.
    static let joins = ["NATURAL", "USING"]

    let state: State

    /// The words of the names of the views; nil if any SQL may name one.
    private let words: [String]?

    /// - parameter views: all views; nil if they are unknown.
    init(of views: [View]?, _ state: State) {
        self.state = state
        words = views.flatMap { Self.words(ofHiding: $0) }
    }

    private static func words(ofHiding views: [View]) -> [String]? {
        var words: [String] = []
        var others = views
        while let index = others.firstIndex(where: { $0.sql.utf8.hasWord(in: joins + words) }) {
            let wordsOfName = others.remove(at: index).name.utf8.words
            guard !wordsOfName.isEmpty else { return nil }
            words += wordsOfName.map { String(decoding: $0.map { $0 & 0xDF }, as: UTF8.self) }
        }
        return words
    }

    /// Whether some SQL has a word of the name of such a view.
    func mayBeNamed(in sql: String) -> Bool { words.map { sql.utf8.hasWord(in: $0) } ?? true }
}

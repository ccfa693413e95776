import QuarryCore

/// The tables whose changes a session notes, found out when SQLite first asks for a table.
final class SessionTables {
    /// The reason why a session can't note the changes of a table.
    enum Obstacle {
        case missing
        case view
        case virtualTable
        case noPrimaryKey
        case generatedColumns
        /// SQLite's preupdate hook tells a number without a fraction as an integer when a row is inserted, and as a
        /// real afterwards. A session takes them for the keys of two rows.
        case realKey

        /// The reason, as the end of a sentence.
        var description: String {
            switch self {
            case .missing: "there is no such table"
            case .view: "it is a view"
            case .virtualTable: "it is a virtual table"
            case .noPrimaryKey: "it has no primary key"
            case .generatedColumns: "it has generated columns, which this version of SQLite can't note"
            case .realKey: "its primary key has a column of type REAL, whose values SQLite doesn't recognize again"
            }
        }
    }

    /// The names in lower case; nil for all tables.
    private let names: Set<String>?
    private var answers: [String: Bool] = [:]

    /// The changed tables that the session doesn't note, as SQLite names them, in the order of their first changes.
    private(set) var omitted: [String] = []

    init(_ names: [String]?) { self.names = names.map { Set($0.map(\.lowercasedASCII)) } }

    /// Whether the session notes the changes of a table, which is about to change.
    func accepts(_ table: String, schema: String, _ db: Database) -> Bool {
        if let answer = answers[table] { return answer }
        do {
            let answer = try decide(table, schema, db)
            answers[table] = answer
            return answer
        } catch {
            // Not kept: the statement that changes the table is interrupted, too.
            omit(table)
            return false
        }
    }

    private func decide(_ table: String, _ schema: String, _ db: Database) throws(LookupFailure) -> Bool {
        if let names { return names.contains(table.lowercasedASCII) }
        // SQLite's own statistics, which ANALYZE makes anew.
        if table.lowercasedASCII.hasPrefix("sqlite_") { return false }
        let facts = try db.sessionFacts(ofTable: table, schema: schema, forRecording: true)
        guard facts.obstacle == nil, !facts.isShadow else {
            omit(table)
            return false
        }
        return true
    }

    private func omit(_ table: String) {
        if !omitted.contains(table) { omitted.append(table) }
    }
}

extension Database {
    /// Whether a session can note the changes of a table, and whether the table is the storage of a virtual table:
    /// <https://www.sqlite.org/vtab.html#xshadowname>.
    ///
    /// - parameter forRecording: whether changes are noted as they happen. A comparison reads the rows of tables.
    func sessionFacts(
        ofTable table: String, schema: String, forRecording: Bool
    ) throws(LookupFailure) -> (obstacle: SessionTables.Obstacle?, isShadow: Bool) {
        let (name, schemaName) = (table.quotedSQLText, schema.quotedSQLText)
        let sql = """
            SELECT type = 'view', type = 'virtual', type = 'shadow',
                EXISTS (SELECT 1 FROM pragma_table_xinfo(\(name), \(schemaName)) WHERE pk > 0),
                EXISTS (SELECT 1 FROM pragma_table_xinfo(\(name), \(schemaName)) WHERE hidden IN (2, 3))
            FROM pragma_table_list WHERE name = \(name) COLLATE NOCASE AND schema = \(schemaName) COLLATE NOCASE
            """
        let rows = try lookUp(sql) { row in (0..<5).map { StatementColumns.int64(row, $0) } }
        guard let facts = rows.first else { return (.missing, false) }
        let obstacle: SessionTables.Obstacle? =
            if facts[0] != 0 {
                .view
            } else if facts[1] != 0 {
                .virtualTable
            } else if facts[3] == 0 {
                .noPrimaryKey
            } else if facts[4] != 0, !SessionHandle.notesGeneratedColumns {
                .generatedColumns
            } else if forRecording, !SessionHandle.notesRealKeys,
                try keyTypes(ofTable: name, schema: schemaName).contains(where: { $0 == .real })
            {
                .realKey
            } else {
                nil
            }
        return (obstacle, facts[2] != 0)
    }

    /// The affinities of the columns of a primary key.
    private func keyTypes(ofTable name: String, schema: String) throws(LookupFailure) -> [ColumnAffinity] {
        try lookUp("SELECT type FROM pragma_table_xinfo(\(name), \(schema)) WHERE pk > 0") { row in
            ColumnAffinity(declaredType: StatementColumns.string(row, 0) ?? "")
        }
    }
}

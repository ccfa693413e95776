import Quarry

/// The tables and triggers of a full-text index of a collection.
///
/// `document:books:text` has the texts, `document:books:text:keys` the keys of its rows. The rowids of the store's
/// table may change (<https://www.sqlite.org/lang_vacuum.html>), so the full-text table has rowids of its own.
struct TextIndex {
    let name: IndexName

    private var table: String { name.text.quotedDatabaseIdentifier }
    private var keys: String { "\(name.text):keys".quotedDatabaseIdentifier }
    /// The table in triggers, which name no schema: all of their tables are in their own.
    private var store: String { name.store.quotedDatabaseIdentifier }

    private func triggerName(_ event: String) -> String { "\(name.text):\(event)" }

    /// The SQL that creates the index.
    struct Definition {
        /// A table or a trigger. SQLite stores its SQL without the name of the schema.
        struct Object {
            var name: String
            /// `CREATE TRIGGER`
            var start: String
            /// From the name on.
            var rest: String

            init(_ name: String, _ start: String, _ rest: String) {
                self.name = name
                self.start = start
                self.rest = "\(name.quotedDatabaseIdentifier) \(rest)"
            }

            var sql: String { "\(start) main.\(rest)" }
            var storedSQL: String { "\(start) \(rest)" }
        }

        var objects: [Object]
        var fill: [String]
    }

    func definition(_ terms: [UntypedDocumentPath], _ tokenizer: FTS5TokenizerDescriptor?) throws -> Definition {
        let fts = FTS5TableDefinition(
            configuration: VirtualTableConfiguration(tableName: name.text, schemaName: nil, options: []))
        fts.tokenizer = tokenizer
        for term in terms { _ = fts.column(term.name) }
        let paths = try terms.map { try $0.sql.get() }
        let columns = terms.map { $0.name.quotedDatabaseIdentifier }.joined(separator: ", ")
        let collection = name.collection.sqlText

        /// The paths in a row of a trigger or a join.
        func values(_ row: String) -> String { paths.map { "\(row).\($0)" }.joined(separator: ", ") }
        func remove(_ row: String, _ condition: String = "") -> String {
            let key = "documentKey = \(row).key\(condition)"
            return """
                DELETE FROM \(table) WHERE rowid = (SELECT id FROM \(keys) WHERE \(key));
                DELETE FROM \(keys) WHERE \(key);
                """
        }
        let isNew = "new.collection = \(collection)"
        let isOld = "old.collection = \(collection)"
        // INSERT OR REPLACE replaces a row without calling the trigger of its deletion, unless recursive triggers are
        // on.
        let insert = """
            \(remove("new", " AND \(isNew)"))
            INSERT INTO \(keys) (documentKey) SELECT new.key WHERE \(isNew);
            INSERT INTO \(table) (rowid, \(columns)) SELECT id, \(values("new")) FROM \(keys)
                WHERE documentKey = new.key AND \(isNew);
            """
        let used = Set(terms.map(\.column)).sorted()
        let changed = (["collection", "key"] + used).map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")

        return Definition(
            objects: [
                .init(
                    name.text, "CREATE VIRTUAL TABLE",
                    "USING fts5(\(try fts.arguments().joined(separator: ", ")))"),
                .init(
                    "\(name.text):keys", "CREATE TABLE",
                    "(id INTEGER PRIMARY KEY, documentKey TEXT NOT NULL UNIQUE)"),
                .init(
                    triggerName("insert"), "CREATE TRIGGER",
                    """
                    AFTER INSERT ON \(store) WHEN \(isNew) BEGIN
                    \(insert)
                    END
                    """),
                .init(
                    triggerName("update"), "CREATE TRIGGER",
                    """
                    AFTER UPDATE OF collection, key, \(used.joined(separator: ", ")) ON \(store) \
                    WHEN (\(isOld) OR \(isNew)) AND (\(changed)) BEGIN
                    \(remove("old", " AND \(isOld)"))
                    \(insert)
                    END
                    """),
                .init(
                    triggerName("delete"), "CREATE TRIGGER",
                    """
                    AFTER DELETE ON \(store) WHEN \(isOld) BEGIN
                    \(remove("old"))
                    END
                    """),
            ],
            fill: [
                """
                INSERT INTO main.\(keys) (documentKey)
                SELECT key FROM main.\(store) WHERE collection = \(collection) ORDER BY key
                """,
                """
                INSERT INTO main.\(table) (rowid, \(columns)) SELECT k.id, \(values("d"))
                FROM main.\(keys) AS k JOIN main.\(store) AS d ON d.collection = \(collection) AND d.key = k.documentKey
                """,
            ])
    }

    /// Creates the index, unless it exists with the same definition.
    ///
    /// - returns: whether it was created.
    func create(_ definition: Definition, _ db: Database) throws -> Bool {
        if try definition.objects.allSatisfy({ try db.storedSQL(ofSchemaObject: $0.name) == $0.storedSQL }) {
            return false
        }
        try db.inSavepoint {
            try drop(db)
            for statement in definition.objects.map(\.sql) + definition.fill { try db.execute(sql: statement) }
            return .commit
        }
        return true
    }

    func drop(_ db: Database) throws {
        for event in ["insert", "update", "delete"] {
            try db.execute(sql: "DROP TRIGGER IF EXISTS main.\(triggerName(event).quotedDatabaseIdentifier)")
        }
        try db.execute(sql: "DROP TABLE IF EXISTS main.\(keys); DROP TABLE IF EXISTS main.\(table)")
    }

    /// The keys of the documents that match, and their ranks.
    func matches(_ pattern: FTS5Pattern, ranked: Bool) -> SQL {
        SQL(
            sql: """
                SELECT k.documentKey\(ranked ? ", t.rank AS documentRank" : "") FROM main.\(table) AS t \
                JOIN main.\(keys) AS k ON k.id = t.rowid WHERE t.\(table) MATCH ?
                """, arguments: [pattern.rawPattern])
    }
}

extension DocumentStore {
    /// The full-text indexes of all collections.
    func textIndexes(_ db: Database) throws -> [TextIndex] {
        try String.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
        ).compactMap { IndexName($0, store: name).map(TextIndex.init) }
    }
}

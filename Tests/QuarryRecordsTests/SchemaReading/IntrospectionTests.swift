import Quarry
import QuarryTestSupport
import Testing

@Suite("Reading the schema")
struct IntrospectionTests {
    private static let setUp = """
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, "team Id" INTEGER NOT NULL, name TEXT DEFAULT 'x''y' COLLATE NOCASE, score,
            twice INTEGER AS (score * 2), thrice INTEGER AS (score * 3) STORED);
        CREATE VIEW best AS SELECT name, score FROM player;
        CREATE TRIGGER tr AFTER INSERT ON player BEGIN SELECT 1; END;
        CREATE UNIQUE INDEX i1 ON player(name, score DESC);
        CREATE UNIQUE INDEX i2 ON player("team Id") WHERE score > 1;
        CREATE INDEX i3 ON player(lower(name));
        ATTACH ':memory:' AS Aux;
        CREATE TABLE aux.city (name TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE aux.player (other);
        CREATE TEMP TABLE draft (a);
        CREATE VIRTUAL TABLE document USING fts5(title, body);
        """

    private func withSchema(_ body: (Database) throws -> Void) throws {
        try withConnection { (db) throws in
            try db.execute(sql: Self.setUp)
            try body(db)
        }
    }

    @Test func whatThereIs() throws {
        try withSchema { (db) throws in
            #expect(
                try [db.tableExists("PLAYER"), db.viewExists("Best"), db.triggerExists("TR")] == [true, true, true])
            #expect(
                try [!db.tableExists("best"), !db.viewExists("player"), !db.triggerExists("player")] == [
                    true, true, true,
                ])
            #expect(
                try [db.tableExists("city"), db.tableExists("city", in: "AUX"), !db.tableExists("city", in: "main")]
                    == [true, true, true])
            #expect(try [db.tableExists("draft"), db.tableExists("draft", in: "temp")] == [true, true])
            #expect(try [!db.tableExists("draft", in: "main"), !db.triggerExists("tr", in: "aux")] == [true, true])
            #expect(try [db.tableExists("document"), db.tableExists("document_data")] == [true, true])
            for call in [
                { (db) throws in try db.tableExists("a", in: "nope") }, { db in try db.viewExists("a", in: "nope") },
                { db in try db.triggerExists("a", in: "nope") },
                { db in try db.columns(in: "a", in: "nope").isEmpty },
            ] as [(Database) throws -> Bool] {
                expectError(.SQLITE_ERROR, "no such schema: nope") { try call(db) }
            }
        }
        #expect(Database.isSQLiteInternalTable("sqlite_sequence") && Database.isSQLiteInternalTable("PRAGMA_x"))
        #expect(!Database.isSQLiteInternalTable("sqlite"))
        #expect(Database.isGRDBInternalTable("grdb_migrations") && !Database.isGRDBInternalTable("player"))
    }

    @Test func columns() throws {
        try withSchema { (db) throws in
            let columns = try db.columns(in: "Player")
            #expect(columns.map(\.name) == ["id", "team Id", "name", "score", "twice", "thrice"])
            #expect(columns.map(\.type) == ["INTEGER", "INTEGER", "TEXT", "", "INTEGER", "INTEGER"])
            #expect(columns.map(\.isNotNull) == [false, true, false, false, false, false])
            #expect(columns.map(\.defaultValueSQL) == [nil, nil, "'x''y'", nil, nil, nil])
            #expect(columns.map(\.primaryKeyIndex) == [1, 0, 0, 0, 0, 0])
            #expect(columns.map(\.generation) == [nil, nil, nil, nil, .virtual, .stored])
            #expect(try db.columns(in: "best").map(\.name) == ["name", "score"])
            #expect(try db.columns(in: "document").map(\.name) == ["title", "body"])
            #expect(try db.columns(in: "player", in: "aux").map(\.name) == ["other"])
            #expect(try db.columns(in: "sqlite_master").map(\.name) == ["type", "name", "tbl_name", "rootpage", "sql"])
            #expect(try db.columns(in: "json_each").first?.name == "key")
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.columns(in: "nowhere") }
            // From SQL, as any record.
            #expect(try ColumnInfo.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo('player')") == columns)
            #expect(try ColumnInfo.fetchAll(db, sql: "PRAGMA table_info(player)") == Array(columns.prefix(4)))
            let error = #expect(throws: RowDecodingError.self) {
                try ColumnInfo.fetchOne(db, sql: "SELECT 'a' AS name")
            }
            #expect(error?.description.hasPrefix("column not found: \"type\"") == true)
            expectError(.SQLITE_ERROR, "no such table: main.city") { try db.columns(in: "city", in: "main") }
        }
    }

    @Test(
        arguments: [
            ("CREATE TABLE t (id INTEGER PRIMARY KEY, a)", ["id"], true, "id", true),
            ("CREATE TABLE t (a, Id integer, PRIMARY KEY (id))", ["Id"], true, "Id", true),
            ("CREATE TABLE t (id INT PRIMARY KEY)", ["id"], false, nil, true),
            ("CREATE TABLE t (id INTEGER PRIMARY KEY DESC)", ["id"], false, nil, true),
            ("CREATE TABLE t (id INTEGER PRIMARY KEY) WITHOUT ROWID", ["id"], false, nil, false),
            ("CREATE TABLE t (a TEXT PRIMARY KEY)", ["a"], false, nil, true),
            ("CREATE TABLE t (a, b, PRIMARY KEY (b, a))", ["b", "a"], false, nil, true),
            ("CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID", ["b", "a"], false, nil, false),
            ("CREATE TABLE t (a)", ["rowid"], true, nil, true),
            ("CREATE TABLE t (a, ROWID)", ["_rowid_"], true, nil, true),
            ("CREATE TABLE t (a, rowid, _rowid_)", ["oid"], true, nil, true),
            ("CREATE TEMP TABLE t (id INTEGER PRIMARY KEY)", ["id"], true, "id", true),
            ("CREATE VIRTUAL TABLE t USING fts5(a)", ["rowid"], true, nil, true),
        ] as [(String, [String], Bool, String?, Bool)])
    func primaryKeys(sql: String, columns: [String], isRowID: Bool, rowIDColumn: String?, tableHasRowID: Bool) throws {
        try withConnection { (db) throws in
            try db.execute(sql: sql)
            let key = try db.primaryKey("T")
            #expect(key.columns == columns)
            #expect(key.isRowID == isRowID)
            #expect(key.rowIDColumn == rowIDColumn)
            #expect(key.tableHasRowID == tableHasRowID)
        }
    }

    @Test func tablesWithoutAKey() throws {
        try withSchema { (db) throws in
            try db.execute(sql: "CREATE TABLE hidden (rowid, _rowid_, oid)")
            expectError(.SQLITE_ERROR, "table hidden has no primary key, and its columns hide its rowid") {
                try db.primaryKey("hidden")
            }
            expectError(.SQLITE_ERROR, "database view best has no primary key") { try db.primaryKey("best") }
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.primaryKey("nowhere") }
            expectError(.SQLITE_ERROR, "no such table: aux.nowhere") { try db.primaryKey("nowhere", in: "aux") }
        }
    }

    @Test func indexes() throws {
        try withSchema { (db) throws in
            let indexes = try db.indexes(on: "PLAYER").sorted { $0.name < $1.name }
            #expect(indexes.map(\.name) == ["i1", "i2"])
            #expect(indexes.map(\.columns) == [["name", "score"], ["team Id"]])
            #expect(indexes.map(\.isUnique) == [true, true])
            #expect(indexes.map(\.isPartial) == [false, true])
            #expect(indexes.map(\.origin) == [.createIndex, .createIndex])
            #expect(indexes[0].terms.map(\.isDescending) == [false, true])
            #expect(indexes[0].terms.map(\.collation) == ["NOCASE", "BINARY"])
            try db.execute(sql: "CREATE TABLE u (a UNIQUE, b PRIMARY KEY)")
            let origins = try db.indexes(on: "u").map { "\($0.columns) \($0.origin)" }.sorted()
            #expect(origins == [#"["a"] uniqueConstraint"#, #"["b"] primaryKeyConstraint"#])
            #expect(try db.indexes(on: "city").map(\.origin) == [.primaryKeyConstraint])
            expectError(.SQLITE_ERROR, "no such table: best") { try db.indexes(on: "best") }
            expectError(.SQLITE_ERROR, "no such table: main.city") { try db.indexes(on: "city", in: "main") }
        }
    }

    @Test func uniqueKeys() throws {
        try withSchema { (db) throws in
            #expect(try db.table("player", hasUniqueKey: ["ID"]))
            #expect(try db.table("player", hasUniqueKey: ["rowid"]))
            #expect(try db.table("player", hasUniqueKey: ["SCORE", "Name"]))
            #expect(try !db.table("player", hasUniqueKey: ["name"]))
            #expect(try !db.table("player", hasUniqueKey: ["name", "name"]))
            #expect(try !db.table("player", hasUniqueKey: [] as [String]))
            // Columns that contain a key identify rows too.
            #expect(try db.table("player", hasUniqueKey: ["name", "ID"]))
            #expect(try db.table("player", hasUniqueKey: ["team Id", "rowid"]))
            #expect(try db.table("player", hasUniqueKey: ["score", "name", "team Id"]))
            #expect(try !db.table("best", hasUniqueKey: ["id"]))
            // A partial index is about some rows only.
            #expect(try !db.table("player", hasUniqueKey: ["team Id"]))
            #expect(
                try [db.table("city", hasUniqueKey: ["name"]), !db.table("city", hasUniqueKey: ["rowid"])] == [
                    true, true,
                ])
            #expect(try db.table("draft", hasUniqueKey: ["_ROWID_"]))
            try db.execute(sql: "CREATE TABLE r (rowid)")
            #expect(
                try [!db.table("r", hasUniqueKey: ["rowid"]), db.table("r", hasUniqueKey: ["oid"])] == [true, true])
            #expect(try !db.table("player", hasUniqueKey: ["id"], in: "aux"))
            expectError(.SQLITE_ERROR, "no such table: nowhere") { try db.table("nowhere", hasUniqueKey: ["a"]) }
        }
    }

    @Test func namesAreLookedForInTempThenMainThenAttached() throws {
        try withConnection { (db) throws in
            try db.execute(sql: "ATTACH ':memory:' AS a1; ATTACH ':memory:' AS a2")
            for schema in ["a2", "a1", "main", "temp"] {
                try db.execute(sql: "CREATE TABLE \(schema).t (\(schema)_id INTEGER PRIMARY KEY)")
                #expect(try db.primaryKey("t").columns == ["\(schema)_id"])
                #expect(try db.columns(in: "T").map(\.name) == ["\(schema)_id"])
            }
            for schema in ["a2", "a1", "main", "temp"] {
                #expect(try db.primaryKey("t", in: schema.uppercased()).columns == ["\(schema)_id"])
            }
            try db.execute(sql: "DROP TABLE temp.t; DROP TABLE main.t; DETACH a1")
            #expect(try db.primaryKey("t").columns == ["a2_id"])
            expectError(.SQLITE_ERROR, "no such schema: a1") { try db.primaryKey("t", in: "a1") }
        }
    }

    @Test func namesThatOnlyLookAlikeAreOthers() throws {
        try withConnection { (db) throws in
            try db.execute(
                sql: "CREATE TABLE \"\u{e9}\" (a); CREATE TABLE \"e\u{301}\" (b); CREATE TABLE \"\u{c9}\" (c)")
            #expect(try db.columns(in: "\u{e9}").map(\.name) == ["a"])
            #expect(try db.columns(in: "e\u{301}").map(\.name) == ["b"])
            #expect(try db.columns(in: "\u{c9}").map(\.name) == ["c"])
            #expect(try !db.tableExists("E"))
        }
    }

    private struct Keys: DatabaseSchemaSource {
        var keys: [String: [String]]
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            #expect(view.schemaID == .main && view.schemaID.schemaTableName == "sqlite_master")
            return keys[view.name]
        }
    }

    @Test func schemaSources() throws {
        var configuration = Configuration()
        configuration.schemaSource = Keys(keys: ["v": ["a"]]).then(Keys(keys: ["v": ["x"], "w": ["b", "a"]]))
        try DatabaseQueue(configuration: configuration).write { db in
            try db.execute(
                sql: "CREATE VIEW v AS SELECT 1 AS a; CREATE VIEW w AS SELECT 1 AS a, 2 AS b; CREATE VIEW u AS SELECT 1"
            )
            #expect(try db.primaryKey("V").columns == ["a"])
            #expect(try db.primaryKey("w").columns == ["b", "a"])
            let key = try db.primaryKey("w")
            #expect(!key.isRowID)
            #expect(!key.tableHasRowID)
            expectError(.SQLITE_ERROR, "database view u has no primary key") { try db.primaryKey("u") }
            db.withSchemaSource(nil) {
                #expect(db.schemaSource == nil)
                expectError(.SQLITE_ERROR, "database view v has no primary key") { try db.primaryKey("v") }
            }
            try db.withSchemaSource(Keys(keys: ["u": ["q"]])) { () throws in
                #expect(try db.primaryKey("u").columns == ["q"])
            }
            #expect(db.schemaSource != nil)
        }
    }

    @Test func outsideAnAccess() throws {
        let connection = try TestConnection()
        for call in [
            { db in try db.tableExists("a") }, { db in try db.triggerExists("a") },
            { db in try db.columns(in: "a").isEmpty }, { db in try db.primaryKey("a").isRowID },
            { db in try db.foreignKeyViolations().next() == nil },
        ] as [(Database) throws -> Bool] {
            expectError(.SQLITE_MISUSE, "Database was used outside of its access.") {
                try call(connection.database)
            }
        }
    }
}

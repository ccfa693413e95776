import QuarryCodeGeneration
import Testing

/// How the schema is written: by the builder where that makes the same, by the original SQL elsewhere.
@Suite struct SchemaStepTests {
    private func steps(_ sql: String) throws -> [String] {
        let text =
            try code(for: "CREATE TABLE other (id INTEGER PRIMARY KEY, a TEXT, b TEXT, UNIQUE (a, b)); " + sql)
            .files.last?.text ?? ""
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        let start = lines.firstIndex { $0 == "t.uniqueKey([\"a\", \"b\"])" } ?? 0
        return lines[(start + 2)...].dropLast(2).map(String.init)
    }

    @Test func theBuilder() throws {
        #expect(
            try steps(
                """
                CREATE TABLE t (
                    "the id" INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL UNIQUE DEFAULT 'CHECK',
                    o INT REFERENCES other ON DELETE CASCADE ON UPDATE SET NULL, a, b TEXT,
                    UNIQUE (a, b), FOREIGN KEY (a, b) REFERENCES other (a, b) ON DELETE RESTRICT)
                """) == [
                    "try db.create(table: \"t\") { t in",
                    "t.autoIncrementedPrimaryKey(\"the id\")",
                    "t.column(\"name\", Database.ColumnType(rawValue: \"VARCHAR(20)\")).notNull().unique()"
                        + ".defaults(sql: \"'CHECK'\")",
                    "t.column(\"o\", Database.ColumnType(rawValue: \"INT\"))"
                        + ".references(\"other\", column: \"id\", onDelete: .cascade, onUpdate: .setNull)",
                    "t.column(\"a\")",
                    "t.column(\"b\", .text)",
                    "t.uniqueKey([\"a\", \"b\"])",
                    "t.foreignKey([\"a\", \"b\"], references: \"other\", columns: [\"a\", \"b\"], onDelete: .restrict)",
                    "}",
                ])
        #expect(
            try steps("CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID, STRICT") == [
                "try db.create(table: \"t\", options: [.withoutRowID, .strict]) { t in",
                "t.column(\"a\", .text).notNull()",
                "t.column(\"b\", .integer).notNull()",
                "t.primaryKey([\"b\", \"a\"])",
                "}",
            ])
        #expect(
            try steps("CREATE TABLE t (\"where\" TEXT); CREATE UNIQUE INDEX i ON t (\"where\")") == [
                "try db.create(table: \"t\") { t in",
                "t.column(\"where\", .text)",
                "}",
                "try db.create(index: \"i\", on: \"t\", columns: [\"where\"], options: .unique)",
            ])
    }

    @Test(arguments: [
        "CREATE TABLE t (a TEXT CHECK (a <> ''))",
        "CREATE TABLE t (a TEXT COLLATE NOCASE)",
        "CREATE TABLE t (a TEXT, b TEXT AS (a))",
        "CREATE TABLE t (a TEXT UNIQUE ON CONFLICT IGNORE)",
        "CREATE TABLE t (a TEXT CONSTRAINT named NOT NULL)",
        "CREATE TABLE t (a INTEGER REFERENCES other DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TABLE t (a INTEGER PRIMARY KEY DESC)",
        "CREATE TABLE t (a TEXT /* a comment */)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
    ])
    func theOriginalSQL(sql: String) throws {
        #expect(try steps(sql) == ["try db.execute(", "sql: \"\"\"", sql, "\"\"\")"])
    }

    @Test(arguments: [
        "CREATE INDEX i ON other (lower(a))", "CREATE INDEX i ON other (a DESC)",
        "CREATE INDEX i ON other (a) WHERE a IS NOT NULL", "CREATE INDEX i ON other (a COLLATE NOCASE)",
        "CREATE TRIGGER x AFTER INSERT ON other BEGIN SELECT 1; END",
    ])
    func indexesAndTriggers(sql: String) throws {
        #expect(try steps(sql) == ["try db.execute(", "sql: \"\"\"", sql, "\"\"\")"])
    }

    @Test func sqlWithQuotesAndEscapes() throws {
        let steps = try steps("CREATE VIEW v AS SELECT '\"\"\"' AS \"a\\(b)\", '\"\"\"#' AS c")
        #expect(
            steps == [
                "try db.execute(", "sql: ##\"\"\"", "CREATE VIEW v AS SELECT '\"\"\"' AS \"a\\(b)\", '\"\"\"#' AS c",
                "\"\"\"##)",
            ])
        let control = try self.steps("CREATE VIEW v AS SELECT 'a\r\nb\u{7F}' AS c")
        #expect(control == ["try db.execute(sql: \"CREATE VIEW v AS SELECT 'a\\r\\nb\\u{7f}' AS c\")"])
    }
}

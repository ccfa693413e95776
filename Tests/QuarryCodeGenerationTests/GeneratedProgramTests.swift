import Foundation
import Quarry
import QuarryCodeGeneration
import Testing

/// Generated code is compiled with a program that fetches each row, follows each association, and copies all records
/// into a database that the generated schema made. Code that is made of the copy is the same.
@Suite struct GeneratedProgramTests {
    /// - parameter isCopyEqual: whether all values come back as they are stored.
    private func check(
        _ path: String, _ folder: Folder, isCopyEqual: Bool = true,
        _ change: (inout GenerationOptions) -> Void = { _ in }
    ) throws {
        var options = GenerationOptions()
        change(&options)
        let code = try DatabaseQueue(path: path).read { db in try GeneratedCode(db, source: "db", options) }
        let sources = try code.files.map { try folder.write($0.text, to: $0.name) }
        let main = try folder.write(Self.program(code, prefix: options.prefix), to: "main.swift")
        let program = folder.file("program")
        let compiled = try Command.swiftc(
            ["-module-name", "Generated", main] + sources + Command.libraryObjects() + ["-lsqlite3", "-o", program])
        try #require(compiled.status == 0, "\(compiled.output)\(compiled.error)")
        #expect(!compiled.error.contains("warning:"), "\(compiled.error)")
        let copy = folder.file("copy.sqlite")
        let result = try Command.run(URL(fileURLWithPath: program), [path, copy])
        try #require(result.status == 0, "\(result.output)\(result.error)")
        // Each type, and how many rows it has fetched.
        let counts = try DatabaseQueue(path: path).read { db in
            try code.types.map { type in
                let sql = "SELECT COUNT(*) FROM \(type.table.quotedDatabaseIdentifier)"
                return "\(type.name) \(try Int.fetchOne(db, sql: sql) ?? -1)"
            }
        }
        #expect(result.output.split(separator: "\n").map(String.init) == counts)

        let again = try DatabaseQueue(path: copy).read { db in try GeneratedCode(db, source: "db", options) }
        for (file, other) in zip(code.files, again.files) {
            let difference = other.text.split(separator: "\n").difference(from: file.text.split(separator: "\n"))
            #expect(difference.isEmpty, "\(file.name)")
        }
        #expect(code.files.count == again.files.count)
        guard isCopyEqual else { return }
        func dump(_ path: String) throws -> String {
            final class Text: TextOutputStream {
                var text = ""
                func write(_ string: String) { text += string }
            }
            let text = Text()
            try DatabaseQueue(path: path).dumpTables(
                code.types.map(\.table), format: .quote(header: true), stableOrder: true, to: text)
            return text.text
        }
        #expect(try dump(path) == dump(copy + ".rows"))
    }

    private static func program(_ code: GeneratedCode, prefix: String) -> String {
        var lines = [
            """
            import Foundation
            import Quarry

            var readonly = Configuration()
            readonly.readonly = true
            let source = try DatabaseQueue(path: CommandLine.arguments[1], configuration: readonly)
            var unchecked = Configuration()
            unchecked.foreignKeysEnabled = false
            let copy = try DatabaseQueue(path: CommandLine.arguments[2], configuration: unchecked)
            try \(prefix)DatabaseSchema.migrator.migrate(copy)
            // The same rows without the triggers, which would change some of them once more.
            let rows = try DatabaseQueue(path: CommandLine.arguments[2] + ".rows", configuration: unchecked)
            try \(prefix)DatabaseSchema.migrator.migrate(rows)
            try rows.write { db in
                let triggers = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'")
                for trigger in triggers { try db.drop(trigger: trigger) }
            }

            func fetch<T: FetchableRecord & TableRecord & Encodable>(_ type: T.Type, _ name: String) throws -> [T] {
                let records = try source.read { db in try T.fetchAll(db) }
                print(name, records.count)
                return records
            }

            func store<T: MutablePersistableRecord>(_ records: [T]) throws {
                for target in [copy, rows] {
                    try target.write { db in
                        for record in records {
                            var record = record
                            try record.insert(db)
                        }
                    }
                }
            }

            """
        ]
        for type in code.types {
            let fetch = "try fetch(\(type.name).self, \"\(type.name)\")"
            lines.append(type.isView ? "_ = \(fetch)" : "try store(\(fetch))")
            for association in type.associations {
                let verb = association.isToMany ? "all" : "optional"
                lines.append(
                    """
                    try source.read { db in
                        let all = try \(type.name).fetchCount(db)
                        let request = \(type.name).including(\(verb): \(type.name).`\(association.name)`)
                        let rows = try request.asRequest(of: Row.self).fetchAll(db)
                        guard rows.count == all else { throw DatabaseError(message: "\(type.name).\(association.name)") }
                        for row in rows {
                            if let scope = row.scopes["\(association.name)"], scope.containsNonNullValue {
                                _ = try \(association.type)(row: scope)
                            }
                            for inner in row.prefetchedRows["\(association.name)"] ?? [] {
                                _ = try \(association.type)(row: inner)
                            }
                        }
                    }
                    """)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: - Databases

    /// A shop: composite keys, self-joins, several keys to one table, views, reserved words, names that are none.
    static let shop = #"""
        CREATE TABLE "class" (
            id INTEGER PRIMARY KEY, "default" TEXT, "switch" INTEGER NOT NULL DEFAULT 3, "self" TEXT, "Type" TEXT,
            "init" TEXT, "Columns" TEXT, "delete" TEXT, rawValue TEXT, "description" TEXT, hashValue TEXT);
        INSERT INTO "class" VALUES (1, 'a', 2, 's', 't', 'i', 'c', 'd', 'r', 'd', 'h'), (2, NULL, 3, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL);
        CREATE TABLE orders (
            country TEXT NOT NULL, number INTEGER NOT NULL, customer INTEGER NOT NULL REFERENCES customers,
            "placed at" TIMESTAMP, total NUMERIC, PRIMARY KEY (country, number)) WITHOUT ROWID;
        CREATE TABLE customers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL DEFAULT 'it''s "me"' UNIQUE);
        INSERT INTO customers (name) VALUES ('A'), ('B');
        INSERT INTO orders VALUES ('de', 1, 1, '2024-01-02 03:04:05.000', 1), ('de', 2, 1, NULL, 2.5),
            ('fr', 1, 2, NULL, NULL);
        CREATE TABLE order_lines (
            order_country TEXT NOT NULL, order_number INTEGER NOT NULL, position INTEGER NOT NULL,
            amount INTEGER DEFAULT 1, price REAL, sum REAL AS (amount * price),
            stored TEXT NOT NULL AS ('x') STORED, note,
            PRIMARY KEY (order_country, order_number, position),
            FOREIGN KEY (order_country, order_number) REFERENCES orders (country, number) ON DELETE CASCADE);
        INSERT INTO order_lines (order_country, order_number, position, amount, price, note)
            VALUES ('de', 1, 1, 2, 1.5, 'text'), ('de', 1, 2, 1, 2, x'00ff'), ('de', 2, 1, 3, 0.1, 7);
        CREATE TABLE people (
            person_id INTEGER PRIMARY KEY, name TEXT, parentId INTEGER REFERENCES people (person_id),
            boss INTEGER REFERENCES people);
        INSERT INTO people VALUES (1, 'A', NULL, NULL), (2, 'B', 1, 1), (3, 'C', 1, 2);
        CREATE TABLE match (
            id INTEGER PRIMARY KEY, home_team_id INTEGER NOT NULL REFERENCES team (id),
            guest_team_id INTEGER NOT NULL REFERENCES team (id), score TEXT CHECK (score <> ''));
        CREATE TABLE team (
            id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL COLLATE NOCASE, captain INTEGER UNIQUE REFERENCES people,
            isActive BOOLEAN NOT NULL DEFAULT 1, UNIQUE (name, captain));
        INSERT INTO team VALUES (1, 'Reds', 1, 1), (2, 'Blues', NULL, 0);
        INSERT INTO match VALUES (1, 1, 2, '1:0'), (2, 2, 1, NULL);
        CREATE TABLE "data" (x, y);
        INSERT INTO "data" VALUES (1, 'a'), ('b', 2.5), (x'01', NULL);
        CREATE TABLE "String" (value TEXT);
        CREATE TABLE strings (value TEXT);
        CREATE TABLE "" (a TEXT);
        INSERT INTO "" VALUES ('nothing');
        CREATE TABLE "%&" ("%" TEXT, "&" TEXT, "" TEXT);
        INSERT INTO "%&" VALUES ('a', 'b', 'c');
        CREATE TABLE "quoted ""name""" ("a ""quoted"" \(column)" TEXT, "line
        end" TEXT);
        INSERT INTO "quoted ""name""" VALUES ('1', '2');
        CREATE VIEW "best teams" AS
            SELECT t.name, p.name, count(*) AS n, 1.5 AS r FROM team t LEFT JOIN people p ON p.person_id = t.captain
            GROUP BY t.id;
        CREATE VIEW broken AS SELECT * FROM nowhere;
        CREATE VIRTUAL TABLE doc USING fts5(title, body);
        CREATE INDEX match_home ON match (home_team_id);
        CREATE UNIQUE INDEX match_both ON match (home_team_id, guest_team_id) WHERE score IS NOT NULL;
        CREATE INDEX person_name ON people (lower(name));
        CREATE TRIGGER doc_match AFTER INSERT ON match
        BEGIN
            INSERT INTO doc VALUES ('match "' || new.id || '"', '\n """ \(x)');
        END;
        """#

    @Test func aShop() throws {
        let folder = try Folder()
        try check(try folder.database("shop.sqlite", Self.shop), folder) { $0.access = .public }
    }

    @Test func namesThatAreNotASCII() throws {
        let folder = try Folder()
        let path = try folder.database(
            "bibliothèque.sqlite",
            """
            CREATE TABLE "Bücher" (
                "Büchernr" INTEGER PRIMARY KEY, "Größe (cm)" REAL, "größe cm" REAL, "Straße" TEXT NOT NULL,
                "erschienen am" DATETIME, "1. Auflage" INTEGER);
            INSERT INTO "Bücher" VALUES
                (1, 1.5, NULL, 'Weg 1', '2024-01-02 03:04:05.678', 1), (2, NULL, 2, '', NULL, 0);
            CREATE TABLE 著者 (番号 INTEGER PRIMARY KEY, 名前 TEXT NOT NULL, "e-mail" TEXT UNIQUE);
            INSERT INTO 著者 VALUES (1, '夏目', 'a@b'), (2, '漱石', NULL);
            CREATE TABLE "Bücher_著者" (
                "Bücher_id" INTEGER NOT NULL REFERENCES "Bücher" ON DELETE CASCADE ON UPDATE SET NULL,
                著者_id INTEGER NOT NULL REFERENCES 著者 (番号), PRIMARY KEY ("Bücher_id", 著者_id)) WITHOUT ROWID, STRICT;
            INSERT INTO "Bücher_著者" VALUES (1, 1), (1, 2), (2, 1);
            CREATE TABLE "🚀" ("🚀" TEXT, "é" TEXT, "à" TEXT, "naïve plan" TEXT);
            INSERT INTO "🚀" VALUES ('1', '2', '3', '4');
            CREATE VIEW "Übersicht" AS SELECT * FROM "Bücher" JOIN "Bücher_著者" ON "Büchernr" = "Bücher_id";
            """)
        try check(path, folder) {
            $0.prefix = "Mein"
            $0.singular = false
        }
    }

    /// Values that the declared types don't say, and dates that wouldn't come back as they are.
    @Test func valuesThatDoNotFitTheirColumns() throws {
        let folder = try Folder()
        let path = try folder.database(
            "untidy.sqlite",
            """
            CREATE TABLE untidy (
                id INT PRIMARY KEY, count INTEGER, price REAL, name VARCHAR(10), flag BOOL, day DATE, at DATETIME,
                stamp TIMESTAMP, blob BLOB, any ANY, json JSON, money DECIMAL(10, 2), str STRING, odd POINT);
            INSERT INTO untidy VALUES
                (1, 'many', 1, 5, 1, '2024-01-02', '2024-01-02 03:04', 1700000000, 'text', 1, '{}', '1.5', 'x', 'p'),
                (NULL, 3, 'cheap', x'ff', 7, 5, 'soon', 1.5, x'00', 'a', '[]', 9007199254740993, '12', NULL),
                (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            CREATE TABLE tidy (
                id INTEGER PRIMARY KEY, big INTEGER NOT NULL, flag BOOLEAN NOT NULL DEFAULT FALSE, at DATETIME NOT NULL,
                text TEXT NOT NULL, empty, many NUMERIC);
            INSERT INTO tidy VALUES
                (1, 9223372036854775807, 1, '2024-01-02', 'a' || char(0) || 'b', NULL, 1),
                (2, -9223372036854775808, 0, '2024-01-02T03:04:05Z', '', NULL, 2.5);
            """)
        try check(path, folder, isCopyEqual: false) { $0.camelCase = true }
        let texts = try Folder()
        try check(path, texts) {
            $0.dates = false
            $0.access = .package
        }
    }

    /// The example's program.
    private static let catalog = ProcessInfo.processInfo.environment["QUARRY_CATALOG"].map {
        URL(fileURLWithPath: $0)
    }

    /// The example's database, made by the example.
    @Test(.enabled(if: catalog != nil, "QUARRY_CATALOG is the path of catalog: `make test` sets it"))
    func theCatalogue() throws {
        let folder = try Folder()
        let catalog = try #require(Self.catalog)
        let packages = (1...50).map { number in
            """
            Package: package\(number)
            Status: install ok installed
            Version: 1.\(number)
            Architecture: amd64
            Section: section\(number % 5)
            Maintainer: Somebody \(number % 7) <somebody@example.org>
            Installed-Size: \(number * 10)
            Depends: package\(number / 2 + 1) (>= 1.0), package\(number / 3 + 1) | package1
            Description: The package \(number)
            """
        }
        let input = try folder.write(packages.joined(separator: "\n\n") + "\n", to: "Packages")
        let path = folder.file("catalog.sqlite")
        let result = try Command.run(catalog, [input, "--database", path])
        try #require(result.status == 0, "\(result.output)\(result.error)")
        try check(path, folder) { $0.camelCase = true }
    }
}

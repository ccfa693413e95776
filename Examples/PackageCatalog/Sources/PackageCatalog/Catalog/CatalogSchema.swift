import Quarry

/// The tables, and how a file says that it holds them.
enum CatalogSchema {
    /// "PCat": written to the file's header, so that no other program's database is taken for a catalogue.
    static let applicationID: Int32 = 0x5043_6174

    /// The content of the file: a catalogue, nothing, or a foreign database that must not be touched.
    enum Content: Equatable {
        case empty, catalog, newerCatalog, foreign
    }

    static func content(of db: Database) throws -> Content {
        if try db.applicationID() == applicationID {
            return try migrator.hasBeenSuperseded(db) ? .newerCatalog : .catalog
        }
        // A cluster's database has tables of the library.
        let objects = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sqlite_master WHERE tbl_name NOT LIKE 'quarry\\_%' ESCAPE '\\'")
        return objects == 0 ? .empty : .foreign
    }

    /// The migrations of this program's files, of any version. A migration never changes: add a new one.
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("packages") { db in
            // The first catalogues didn't note what was done to them.
            if try !db.tableExists("packages") { try createPackages(in: db) }
        }
        migrator.registerMigration("search", migrate: createSearch)
        migrator.registerMigration("progress") { db in
            try db.alter(table: "imports") { t in
                for column in ["packages", "rows", "bytes_read"] {
                    t.add(column: column, .integer).notNull().defaults(to: 0)
                }
                t.add(column: "byte_count", .integer)
            }
        }
        migrator.registerMigration("counts", migrate: createCounts)
        migrator.registerMigration("homepages") { db in
            try db.alter(table: "packages") { t in t.add(column: "homepage", .text) }
        }
        return migrator
    }()

    /// A machine has one version of a package for an architecture; a list offers as many as it likes: hence two
    /// unique indexes. Every foreign key has an index, so that deleting a parent doesn't scan its children.
    private static func createPackages(in db: Database) throws {
        try db.create(table: "imports", options: .strict) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("source", .text).notNull()
        }
        for texts in ["names", "sections", "maintainers"] {
            try db.create(table: texts, options: .strict) { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull().unique()
            }
        }
        try db.create(table: "packages", options: .strict) { t in
            t.primaryKey("id", .integer)
            t.column("name_id", .integer).notNull().indexed().references("names")
            t.column("architecture", .text).notNull()
            t.column("version", .text).notNull()
            t.column("state", .text).notNull()
            t.column("section_id", .integer).indexed().references("sections")
            t.column("maintainer_id", .integer).indexed().references("maintainers")
            t.column("installed_size", .integer).indexed().check(sql: "installed_size >= 0")  // KiB
            t.column("download_size", .integer).check(sql: "download_size >= 0")  // bytes
            t.column("summary", .text)
            t.column("import_id", .integer).notNull().indexed().references("imports")
            t.column("revision", .integer).notNull().defaults(to: 1)
        }
        try db.create(
            index: "packages_on_machine", on: "packages", columns: ["name_id", "architecture"], options: .unique,
            condition: "state <> 'available'")
        try db.create(
            index: "packages_on_offer", on: "packages", columns: ["name_id", "architecture", "version"],
            options: .unique, condition: "state = 'available'")
        try db.create(table: "dependencies", options: [.strict, .withoutRowID]) { t in
            t.primaryKey {
                t.column("package_id", .integer).references("packages", onDelete: .cascade)
                t.column("position", .integer)  // among the entries of the package
                t.column("alternative", .integer)  // among those of the entry
            }
            t.column("kind", .text).notNull()
                .check(sql: "kind IN ('Pre-Depends', 'Depends', 'Recommends', 'Suggests')")
            t.column("target_id", .integer).notNull().indexed().references("names")
            for column in ["qualifier", "relation", "version", "architectures", "profiles"] { t.column(column, .text) }
        }
        try db.setApplicationID(applicationID)
    }

    /// The words of names, summaries and descriptions. The texts stay where they are: `package_texts` is a view, and
    /// triggers keep the index up to date. A package's name never changes.
    private static func createSearch(in db: Database) throws {
        try db.alter(table: "packages") { t in t.add(column: "description", .text) }
        let texts: SQLRequest<Row> = """
            SELECT packages.id, names.name, summary, description FROM packages JOIN names ON names.id = name_id
            """
        try db.create(view: "package_texts", as: texts)
        try db.create(virtualTable: "package_search", using: FTS5()) { t in
            t.content = "package_texts"
            t.contentRowID = "id"
            t.tokenizer = .porter()
            for column in ["name", "summary", "description"] { t.column(column) }
        }
        func insertion(_ row: String) -> SQL {
            """
            INSERT INTO package_search (rowid, name, summary, description) VALUES (\(sql: row).id,
                (SELECT name FROM names WHERE id = \(sql: row).name_id), \(sql: row).summary, \(sql: row).description)
            """
        }
        func deletion(_ row: String) -> SQL {
            """
            INSERT INTO package_search (package_search, rowid, name, summary, description) VALUES ('delete',
                \(sql: row).id, (SELECT name FROM names WHERE id = \(sql: row).name_id), \(sql: row).summary,
                \(sql: row).description)
            """
        }
        try db.create(trigger: "search_insert", on: "packages", .after(.insert), body: insertion("NEW"))
        try db.create(trigger: "search_delete", on: "packages", .after(.delete), body: deletion("OLD"))
        try db.create(
            trigger: "search_update", on: "packages", .after(.update(of: ["summary", "description"])),
            when: "OLD.summary IS NOT NEW.summary OR OLD.description IS NOT NEW.description",
            body: "\(deletion("OLD")); \(insertion("NEW"))")
        try db.execute(sql: "INSERT INTO package_search (package_search) VALUES ('rebuild')")
    }
}

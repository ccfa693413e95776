import Quarry

/// The tables, and how a file says that it holds them.
enum CatalogSchema {
    /// "PCat": written to the file's header, so that no other program's database is taken for a catalogue.
    static let applicationID = 0x5043_6174
    static let version = 1

    /// What is in the file: a catalogue, nothing at all, or something that isn't ours to touch.
    enum Content: Equatable {
        case empty, catalog, foreign
        case otherVersion(Int)
    }

    static func content(of db: Database) throws -> Content {
        if try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID {
            let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            return found == version ? .catalog : .otherVersion(found)
        }
        let objects = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        return objects == 0 ? .empty : .foreign
    }

    /// A machine has one version of a package for an architecture; a list offers as many as it likes: hence two
    /// unique indexes. Every foreign key has an index, so that deleting a parent doesn't scan its children.
    static func create(in db: Database) throws {
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
        try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }
}

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

    static func create(in db: Database) throws {
        try db.execute(sql: tables)
        try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    /// A machine has one version of a package for an architecture; a list offers as many as it likes: hence two
    /// unique indexes. Every foreign key has an index, so that deleting a parent doesn't scan its children.
    private static let tables = """
        CREATE TABLE imports (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            source TEXT NOT NULL
        ) STRICT;
        CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE sections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE maintainers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE packages (
            id INTEGER PRIMARY KEY,
            name_id INTEGER NOT NULL REFERENCES names,
            architecture TEXT NOT NULL,
            version TEXT NOT NULL,
            state TEXT NOT NULL,
            section_id INTEGER REFERENCES sections,
            maintainer_id INTEGER REFERENCES maintainers,
            installed_size INTEGER CHECK (installed_size >= 0), -- KiB
            download_size INTEGER CHECK (download_size >= 0), -- bytes
            summary TEXT,
            import_id INTEGER NOT NULL REFERENCES imports,
            revision INTEGER NOT NULL DEFAULT 1
        ) STRICT;
        CREATE UNIQUE INDEX packages_on_machine ON packages (name_id, architecture) WHERE state <> 'available';
        CREATE UNIQUE INDEX packages_on_offer ON packages (name_id, architecture, version) WHERE state = 'available';
        CREATE INDEX packages_by_name ON packages (name_id);
        CREATE INDEX packages_by_section ON packages (section_id);
        CREATE INDEX packages_by_maintainer ON packages (maintainer_id);
        CREATE INDEX packages_by_size ON packages (installed_size);
        CREATE INDEX packages_by_import ON packages (import_id);
        CREATE TABLE dependencies (
            package_id INTEGER NOT NULL REFERENCES packages ON DELETE CASCADE,
            position INTEGER NOT NULL, -- among the entries of the package
            alternative INTEGER NOT NULL, -- among those of the entry
            kind TEXT NOT NULL CHECK (kind IN ('Pre-Depends', 'Depends', 'Recommends', 'Suggests')),
            target_id INTEGER NOT NULL REFERENCES names,
            qualifier TEXT,
            relation TEXT,
            version TEXT,
            architectures TEXT,
            profiles TEXT,
            PRIMARY KEY (package_id, position, alternative)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX dependencies_by_target ON dependencies (target_id);
        """
}

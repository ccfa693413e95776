/// The schema of `Examples/PackageCatalog`, and the statements of its import: rows 13.
package enum CatalogSQL {
    /// As `sqlite_master` has it after the example's migrations.
    package static let schema = """
        CREATE TABLE "imports" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "source" TEXT NOT NULL, "packages"
            INTEGER NOT NULL DEFAULT 0, "rows" INTEGER NOT NULL DEFAULT 0, "bytes_read" INTEGER NOT NULL
            DEFAULT 0, "byte_count" INTEGER) STRICT;
        CREATE TABLE "names" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL UNIQUE, "needing" INTEGER NOT NULL
            DEFAULT 0, "wishing" INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE "sections" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL UNIQUE, "packages" INTEGER NOT
            NULL DEFAULT 0, "installed_size" INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE "maintainers" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE "packages" ("id" INTEGER PRIMARY KEY, "name_id" INTEGER NOT NULL REFERENCES "names"("id"),
            "architecture" TEXT NOT NULL, "version" TEXT NOT NULL, "state" TEXT NOT NULL, "section_id" INTEGER
            REFERENCES "sections"("id"), "maintainer_id" INTEGER REFERENCES "maintainers"("id"),
            "installed_size" INTEGER CHECK (installed_size >= 0), "download_size" INTEGER CHECK (download_size
            >= 0), "summary" TEXT, "import_id" INTEGER NOT NULL REFERENCES "imports"("id"), "revision" INTEGER
            NOT NULL DEFAULT 1, "description" TEXT) STRICT;
        CREATE INDEX "packages_on_name_id" ON "packages"("name_id");
        CREATE INDEX "packages_on_maintainer_id" ON "packages"("maintainer_id");
        CREATE INDEX "packages_on_installed_size" ON "packages"("installed_size");
        CREATE INDEX "packages_on_import_id" ON "packages"("import_id");
        CREATE UNIQUE INDEX "packages_on_machine" ON "packages"("name_id", "architecture") WHERE state <>
            'available';
        CREATE UNIQUE INDEX "packages_on_offer" ON "packages"("name_id", "architecture", "version") WHERE state
            = 'available';
        CREATE TABLE "dependencies" ("package_id" INTEGER NOT NULL REFERENCES "packages"("id") ON DELETE
            CASCADE, "position" INTEGER NOT NULL, "alternative" INTEGER NOT NULL, "kind" TEXT NOT NULL CHECK
            (kind IN ('Pre-Depends', 'Depends', 'Recommends', 'Suggests')), "target_id" INTEGER NOT NULL
            REFERENCES "names"("id"), "qualifier" TEXT, "relation" TEXT, "version" TEXT, "architectures" TEXT,
            "profiles" TEXT, PRIMARY KEY ("package_id", "position", "alternative")) STRICT, WITHOUT ROWID;
        CREATE VIEW "package_texts" AS SELECT packages.id, names.name, summary, description FROM packages JOIN
            names ON names.id = name_id;
        CREATE VIRTUAL TABLE "package_search" USING fts5(name, summary, description, tokenize='''porter''',
            content='package_texts', content_rowid='id');
        CREATE TRIGGER "search_insert" AFTER INSERT ON "packages" BEGIN
        INSERT INTO package_search (rowid, name, summary, description) VALUES (NEW.id,
            (SELECT name FROM names WHERE id = NEW.name_id), NEW.summary, NEW.description);
        END;
        CREATE TRIGGER "search_delete" AFTER DELETE ON "packages" BEGIN
        INSERT INTO package_search (package_search, rowid, name, summary, description) VALUES ('delete',
            OLD.id, (SELECT name FROM names WHERE id = OLD.name_id), OLD.summary,
            OLD.description);
        END;
        CREATE TRIGGER "search_update" AFTER UPDATE OF "summary", "description" ON "packages" WHEN OLD.summary
            IS NOT NEW.summary OR OLD.description IS NOT NEW.description BEGIN
        INSERT INTO package_search (package_search, rowid, name, summary, description) VALUES ('delete',
            OLD.id, (SELECT name FROM names WHERE id = OLD.name_id), OLD.summary,
            OLD.description); INSERT INTO package_search (rowid, name, summary, description) VALUES (NEW.id,
            (SELECT name FROM names WHERE id = NEW.name_id), NEW.summary, NEW.description);
        END;
        CREATE TABLE "totals" ("id" INTEGER PRIMARY KEY CHECK ("id" = 1), "packages" INTEGER NOT NULL,
            "available" INTEGER NOT NULL, "installed_size" INTEGER NOT NULL, "names" INTEGER NOT NULL,
            "dependencies" INTEGER NOT NULL) STRICT;
        CREATE TRIGGER "totals_names_new" AFTER INSERT ON "names" BEGIN
        UPDATE totals SET names = names + 1;
        END;
        CREATE TRIGGER "totals_dependencies_new" AFTER INSERT ON "dependencies" BEGIN
        UPDATE totals SET dependencies = dependencies + 1;
        END;
        CREATE TRIGGER "totals_packages_new" AFTER INSERT ON "packages" BEGIN
        UPDATE totals SET packages = packages + 1,
            available = available + (NEW.state = 'available'),
            installed_size = installed_size + ifnull(NEW.installed_size, 0);
        END;
        CREATE TRIGGER "totals_names_old" AFTER DELETE ON "names" BEGIN
        UPDATE totals SET names = names - 1;
        END;
        CREATE TRIGGER "totals_dependencies_old" AFTER DELETE ON "dependencies" BEGIN
        UPDATE totals SET dependencies = dependencies - 1;
        END;
        CREATE TRIGGER "totals_packages_old" AFTER DELETE ON "packages" BEGIN
        UPDATE totals SET packages = packages - 1,
            available = available - (OLD.state = 'available'),
            installed_size = installed_size - ifnull(OLD.installed_size, 0);
        END;
        CREATE TRIGGER "totals_packages_update" AFTER UPDATE OF "state", "installed_size" ON "packages" WHEN
            OLD.state <> NEW.state OR OLD.installed_size IS NOT NEW.installed_size BEGIN
        UPDATE totals SET available = available - (OLD.state = 'available') + (NEW.state = 'available'),
            installed_size = installed_size - ifnull(OLD.installed_size, 0) + ifnull(NEW.installed_size, 0);
        END;
        CREATE INDEX "packages_by_size" ON "packages"("section_id", "installed_size");
        CREATE TRIGGER "sections_new" AFTER INSERT ON "packages" BEGIN
        UPDATE sections SET packages = packages + 1,
            installed_size = installed_size + ifnull(NEW.installed_size, 0)
            WHERE id = NEW.section_id;
        END;
        CREATE TRIGGER "sections_old" AFTER DELETE ON "packages" BEGIN
        UPDATE sections SET packages = packages - 1,
            installed_size = installed_size - ifnull(OLD.installed_size, 0)
            WHERE id = OLD.section_id;
        END;
        CREATE TRIGGER "sections_update" AFTER UPDATE OF "section_id", "installed_size" ON "packages" WHEN
            OLD.section_id IS NOT NEW.section_id OR OLD.installed_size IS NOT NEW.installed_size BEGIN
        UPDATE sections SET packages = packages - 1,
            installed_size = installed_size - ifnull(OLD.installed_size, 0)
            WHERE id = OLD.section_id; UPDATE sections SET packages = packages + 1,
            installed_size = installed_size + ifnull(NEW.installed_size, 0)
            WHERE id = NEW.section_id;
        END;
        CREATE INDEX "dependencies_by_target" ON "dependencies"("target_id", "package_id", "kind");
        CREATE INDEX "names_in_demand" ON "names"("needing");
        CREATE TRIGGER "needing_new" AFTER INSERT ON "dependencies" WHEN NEW.kind IN ('Depends', 'Pre-Depends')
            AND NOT EXISTS (
            SELECT 1 FROM dependencies
            WHERE target_id = NEW.target_id AND package_id = NEW.package_id
                AND kind IN ('Depends', 'Pre-Depends')
                AND (position, alternative) <> (NEW.position, NEW.alternative)) BEGIN
        UPDATE names SET needing = needing + 1
            WHERE id = NEW.target_id;
        END;
        CREATE TRIGGER "wishing_new" AFTER INSERT ON "dependencies" WHEN NEW.kind IN ('Recommends', 'Suggests')
            AND NOT EXISTS (
            SELECT 1 FROM dependencies
            WHERE target_id = NEW.target_id AND package_id = NEW.package_id
                AND kind IN ('Recommends', 'Suggests')
                AND (position, alternative) <> (NEW.position, NEW.alternative)) BEGIN
        UPDATE names SET wishing = wishing + 1
            WHERE id = NEW.target_id;
        END;
        CREATE TRIGGER "needing_old" AFTER DELETE ON "dependencies" WHEN OLD.kind IN ('Depends', 'Pre-Depends')
            AND NOT EXISTS (
            SELECT 1 FROM dependencies
            WHERE target_id = OLD.target_id AND package_id = OLD.package_id
                AND kind IN ('Depends', 'Pre-Depends')
                AND (position, alternative) <> (OLD.position, OLD.alternative)) BEGIN
        UPDATE names SET needing = needing - 1
            WHERE id = OLD.target_id;
        END;
        CREATE TRIGGER "wishing_old" AFTER DELETE ON "dependencies" WHEN OLD.kind IN ('Recommends', 'Suggests')
            AND NOT EXISTS (
            SELECT 1 FROM dependencies
            WHERE target_id = OLD.target_id AND package_id = OLD.package_id
                AND kind IN ('Recommends', 'Suggests')
                AND (position, alternative) <> (OLD.position, OLD.alternative)) BEGIN
        UPDATE names SET wishing = wishing - 1
            WHERE id = OLD.target_id;
        END;
        """

    /// In this order: a connection of the example's pool has these settings.
    package static let settings = """
        PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192; PRAGMA synchronous = NORMAL
        """
    package static let walSettings = "PRAGMA journal_mode = WAL; " + settings

    package static let upsertPackage = {
        let update = """
            DO UPDATE SET version = excluded.version, state = excluded.state, section_id = excluded.section_id,
                maintainer_id = excluded.maintainer_id, installed_size = excluded.installed_size,
                download_size = excluded.download_size, summary = excluded.summary, description = excluded.description,
                import_id = max(import_id, excluded.import_id), revision = revision + 1
            """
        return """
            INSERT INTO packages (name_id, architecture, version, state, section_id, maintainer_id,
                installed_size, download_size, summary, description, import_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name_id, architecture) WHERE state <> 'available' \(update)
            ON CONFLICT (name_id, architecture, version) WHERE state = 'available' \(update)
            RETURNING id, revision
            """
    }()
    package static let insertDependency = """
        INSERT INTO dependencies (package_id, position, alternative, kind, target_id, qualifier, relation, version,
            architectures, profiles) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    package static let updateImport = "UPDATE imports SET packages = ?, rows = ?, bytes_read = ? WHERE id = ?"
    package static let insertImport = "INSERT INTO imports (source) VALUES ('bench')"

    package static func search(_ table: String) -> String { "SELECT id FROM \(table) WHERE name = ?" }
    package static func insert(_ table: String) -> String { "INSERT INTO \(table) (name) VALUES (?)" }

    /// Of the counts that triggers keep, of the links, and of the index of the search.
    package static let checksum = """
        SELECT packages + installed_size + names * 3 + dependencies * 5
            + (SELECT sum(id * (needing * 7 + wishing)) FROM names)
            + (SELECT sum(name_id * 11 + section_id * 13 + maintainer_id * 17) FROM packages)
            + (SELECT sum(package_id * 19 + position + alternative + length(version)) FROM dependencies)
            + (SELECT sum(rowid) FROM package_search WHERE package_search MATCH 'w1') FROM totals
        """
}

import Quarry

extension CatalogSchema {
    /// Counts that triggers keep, so that no lookup has to count rows: `totals` has one row for the catalogue, sections
    /// count their packages, and names the packages that need or wish for them.
    static func createCounts(in db: Database) throws {
        try createTotals(in: db)
        try createSectionCounts(in: db)
        try createDemand(in: db)
        try recount(db)
    }

    /// Counts the existing rows. Has no effect on a file that lacks one of the tables.
    static func recount(_ db: Database) throws {
        let tables = ["totals", "sections", "names", "packages", "dependencies"]
        guard try tables.allSatisfy({ try db.tableExists($0) }) else { return }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO totals (id, packages, available, installed_size, names, dependencies)
                    SELECT 1, count(*), count(*) FILTER (WHERE state = 'available'), ifnull(sum(installed_size), 0),
                        (SELECT count(*) FROM names), (SELECT count(*) FROM dependencies)
                    FROM packages;
                UPDATE sections SET (packages, installed_size) = (
                    SELECT count(*), ifnull(sum(installed_size), 0) FROM packages WHERE section_id = sections.id);
                UPDATE names SET (needing, wishing) = (
                    SELECT count(DISTINCT package_id) FILTER (WHERE kind IN ('Depends', 'Pre-Depends')),
                        count(DISTINCT package_id) FILTER (WHERE kind IN ('Recommends', 'Suggests'))
                    FROM dependencies WHERE target_id = names.id)
                """)
    }

    private static func createTotals(in db: Database) throws {
        try db.create(table: "totals", options: .strict) { t in
            t.primaryKey("id", .integer).check { $0 == 1 }
            for column in ["packages", "available", "installed_size", "names", "dependencies"] {
                t.column(column, .integer).notNull()
            }
        }
        for (event, row, sign) in [(TriggerEvent.Change.insert, "NEW", "+"), (.delete, "OLD", "-")] {
            for table in ["names", "dependencies"] {
                try db.create(
                    trigger: "totals_\(table)_\(row)".lowercased(), on: table, .after(event),
                    body: "UPDATE totals SET \(sql: table) = \(sql: table) \(sql: sign) 1")
            }
            try db.create(
                trigger: "totals_packages_\(row)".lowercased(), on: "packages", .after(event),
                body: """
                    UPDATE totals SET packages = packages \(sql: sign) 1,
                        available = available \(sql: sign) (\(sql: row).state = 'available'),
                        installed_size = installed_size \(sql: sign) ifnull(\(sql: row).installed_size, 0)
                    """)
        }
        try db.create(
            trigger: "totals_packages_update", on: "packages", .after(.update(of: ["state", "installed_size"])),
            when: "OLD.state <> NEW.state OR OLD.installed_size IS NOT NEW.installed_size",
            body: """
                UPDATE totals SET available = available - (OLD.state = 'available') + (NEW.state = 'available'),
                    installed_size = installed_size - ifnull(OLD.installed_size, 0) + ifnull(NEW.installed_size, 0)
                """)
    }

    /// The index has the packages of each section in the order of their sizes.
    private static func createSectionCounts(in db: Database) throws {
        try db.create(index: "packages_by_size", on: "packages", columns: ["section_id", "installed_size"])
        try db.drop(index: "packages_on_section_id")
        try db.alter(table: "sections") { t in
            for column in ["packages", "installed_size"] { t.add(column: column, .integer).notNull().defaults(to: 0) }
        }
        func change(_ row: String, _ sign: String) -> SQL {
            """
            UPDATE sections SET packages = packages \(sql: sign) 1,
                installed_size = installed_size \(sql: sign) ifnull(\(sql: row).installed_size, 0)
                WHERE id = \(sql: row).section_id
            """
        }
        try db.create(trigger: "sections_new", on: "packages", .after(.insert), body: change("NEW", "+"))
        try db.create(trigger: "sections_old", on: "packages", .after(.delete), body: change("OLD", "-"))
        try db.create(
            trigger: "sections_update", on: "packages", .after(.update(of: ["section_id", "installed_size"])),
            when: "OLD.section_id IS NOT NEW.section_id OR OLD.installed_size IS NOT NEW.installed_size",
            body: "\(change("OLD", "-")); \(change("NEW", "+"))")
    }

    /// A package may name another in several entries and counts once. Dependencies are never updated.
    private static func createDemand(in db: Database) throws {
        try db.alter(table: "names") { t in
            for column in ["needing", "wishing"] { t.add(column: column, .integer).notNull().defaults(to: 0) }
        }
        // Finds the entries of one package that name another.
        try db.create(
            index: "dependencies_by_target", on: "dependencies", columns: ["target_id", "package_id", "kind"])
        try db.drop(index: "dependencies_on_target_id")
        try db.create(index: "names_in_demand", on: "names", columns: ["needing"])
        for (event, row, sign) in [(TriggerEvent.Change.insert, "NEW", "+"), (.delete, "OLD", "-")] {
            for (column, kinds) in [("needing", "'Depends', 'Pre-Depends'"), ("wishing", "'Recommends', 'Suggests'")] {
                try db.create(
                    trigger: "\(column)_\(row)".lowercased(), on: "dependencies", .after(event),
                    when: """
                        \(sql: row).kind IN (\(sql: kinds)) AND NOT EXISTS (
                            SELECT 1 FROM dependencies
                            WHERE target_id = \(sql: row).target_id AND package_id = \(sql: row).package_id
                                AND kind IN (\(sql: kinds))
                                AND (position, alternative) <> (\(sql: row).position, \(sql: row).alternative))
                        """,
                    body: """
                        UPDATE names SET \(sql: column) = \(sql: column) \(sql: sign) 1
                            WHERE id = \(sql: row).target_id
                        """)
            }
        }
    }
}

import Quarry

/// Migrates the file, and says each migration that this process has committed, and `done` when all are applied.
///
/// Migration `n` makes a table `t<n>` with `n` rows, gives the one before it another column, and writes `n` down.
func migrate(path: String, kind: DatabaseKind, count: Int) throws {
    var migrator = DatabaseMigrator()
    for number in 1...count {
        let isFirst = number == 1
        migrator.registerMigration(
            "v\(number)", foreignKeyChecks: number % 3 == 0 ? .immediate : .deferred, checksum: "\(number)"
        ) { db in
            if isFirst { try db.execute(sql: "CREATE TABLE last (n INTEGER); INSERT INTO last VALUES (0)") }
            let last = try Int.fetchOne(db, sql: "SELECT n FROM last")
            guard last == number - 1 else { throw Wrong("v\(number) runs after \(last ?? -1)") }
            try db.create(table: "t\(number)") { t in
                t.primaryKey("id", .integer)
                t.column("b", .blob).indexed()
            }
            for id in 1...number {
                try db.execute(
                    sql: "INSERT INTO t\(number) VALUES (?, randomblob(?))", arguments: [id, (number * 7919) % 2000])
            }
            if !isFirst {
                try db.rebuild(table: "t\(number - 1)") { t in
                    t.primaryKey("id", .integer)
                    t.column("b", .blob)
                    t.column("c", .integer).notNull().defaults(to: number)
                }
            }
            try db.execute(sql: "UPDATE last SET n = ?", arguments: [number])
            db.afterNextTransaction { _ in say("v\(number)") }
        }
    }
    let writer = try kind.open(path)
    say("ready")
    waitForStart()
    try migrator.migrate(writer)
    guard try writer.read(migrator.hasCompletedMigrations) else { throw Wrong("not all are applied") }
    say("done")
    try writer.close()
}

public import Quarry
public import QuarryTestSupport

extension DatabaseWriter {
    /// Makes a table of rows that have a page each, and are numbered from 1.
    public func makePages(_ count: Int) throws {
        try write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
                    WITH c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < ?)
                    INSERT INTO t SELECT n, randomblob(3900) FROM c;
                    """, arguments: [count])
        }
    }

    /// Runs `body` while another connection holds the lock of the file, until the step is reached.
    public func whileLocked(_ body: (_ mayEnd: Step) async throws -> Void) async throws {
        let (isLocked, mayEnd) = (Step("the lock is held"), Step("the lock may go"))
        // Connections that close at the same moment may both leave the log.
        let mayClose = Step("this database is closed")
        let lock = OwnThread { [path] in
            let other = try DatabaseQueue(path: path)
            try other.write { db in
                try db.execute(sql: "UPDATE t SET b = 1 WHERE a = 1")
                isLocked.reach()
                try mayEnd.wait()
            }
            try mayClose.wait()
            try other.close()
        }
        try await isLocked.reached()
        defer { for step in [mayEnd, mayClose] { step.reach() } }
        try await body(mayEnd)
        for step in [mayEnd, mayClose] { step.reach() }
        try await lock.value
    }

    public func insertPage() throws {
        try write { db in try db.execute(sql: "INSERT INTO t (b) VALUES (randomblob(3900))") }
    }
}

/// The contents of a database: for each table the sum of its rows, and the problems that an integrity check finds.
public func contents(ofFile path: String) throws -> [String] {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try contents(of: queue)
}

public func contents(of reader: any DatabaseReader) throws -> [String] { try reader.read { db in try contents(db) } }

public func rowCount(of reader: any DatabaseReader) throws -> Int {
    try reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? -1 }
}

private func contents(_ db: Database) throws -> [String] {
    let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'grdb_commit_number' ORDER BY name")
    return try tables.map { table in
        let row = try Row.fetchOne(
            db, sql: "SELECT COUNT(*), TOTAL(a), TOTAL(unicode(hex(b))) FROM \(table)")
        return "\(table): \(row?.description ?? "")"
    } + String.fetchAll(db, sql: "PRAGMA integrity_check")
}

import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import Testing

/// Runs the same accesses on a local database and on a cluster.
struct PoolComparison {
    var schema = ClusterFixture.schema

    /// Expects the same results, errors and rows, in a transaction and outside.
    func expectSame(
        _ name: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: (Database) throws -> String
    ) throws {
        for inTransaction in [true, false] {
            let queue = try DatabaseQueue()
            try queue.write { db in try db.execute(sql: schema) }
            let fixture = try ClusterFixture(schema: schema)
            func run(_ writer: some DatabaseWriter) -> String {
                outcome { inTransaction ? try writer.write(body) : try writer.writeWithoutTransaction(body) }
            }
            let (local, remote) = (run(queue), run(fixture.cluster))
            let name = "\(name), \(inTransaction ? "in a transaction" : "without a transaction")"
            #expect(remote == local, "\(name)", sourceLocation: sourceLocation)
            let tables = try queue.read { db in
                try String.fetchAll(
                    db,
                    sql: """
                        SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
                        ORDER BY name
                        """)
            }
            for table in tables {
                let sql = "SELECT * FROM \(table.quotedDatabaseIdentifier)"
                let local = try queue.read { db in rows(db, sql) }
                let remote = try fixture.cluster.read { db in rows(db, sql) }
                #expect(remote == local, "\(name): \(table)", sourceLocation: sourceLocation)
            }
            #expect(fixture.nodes.aborts == [], "\(name)", sourceLocation: sourceLocation)
        }
    }

    /// Expects that statements have the same outcomes, one by one.
    func expectSame(_ statements: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expectSame(statements.joined(separator: "; "), sourceLocation: sourceLocation) { db in
            let outcomes = statements.map { sql in
                let first = sql.prefix(6).uppercased()
                let result =
                    first == "SELECT" || first == "PRAGMA"
                    ? rows(db, sql)
                    : outcome {
                        try db.execute(sql: sql)
                        return "done"
                    }
                return "\(result) \(db.isInsideTransaction)"
            }
            if db.isInsideTransaction, statements.contains("BEGIN") { try db.execute(sql: "ROLLBACK") }
            return outcomes.joined(separator: "\n")
        }
    }
}

/// The result, or the code, the message and the SQL of the error.
func outcome(_ body: () throws -> String) -> String {
    do {
        return try body()
    } catch let error as DatabaseError {
        return "error \(error.extendedResultCode): \(error.message ?? "") [\(error.sql ?? "")]"
    } catch {
        return "error \(error)"
    }
}

/// The rows of a query, or its error.
func rows(_ db: Database, _ sql: String, _ arguments: StatementArguments = StatementArguments()) -> String {
    outcome {
        try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in "\(row)" }.joined(separator: "|")
    }
}

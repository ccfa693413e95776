import Foundation
import Quarry
import QuarryCluster
import Testing

/// Random accesses have the same rows, values and errors on a cluster as on a queue.
///
/// `QUARRY_CLUSTER_REQUESTS` is the number of steps, `QUARRY_CLUSTER_SEED` repeats a run.
@Suite("A queue as the model of a cluster", .serialized, .threeNodes, .timeLimit(.minutes(60))) struct ModelTests {
    let nodes: NodeGroup

    init() throws { nodes = try #require(NodeGroup.current) }

    enum Access: CaseIterable {
        case read, write, undone, bare
    }

    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team(id) ON DELETE CASCADE, name TEXT NOT NULL,
            score INTEGER CHECK (score >= 0), rating REAL DEFAULT 0.5);
        CREATE INDEX player_team ON player(teamId);
        CREATE TABLE pair (k PRIMARY KEY, v);
        CREATE TABLE badge (code TEXT PRIMARY KEY, level INTEGER NOT NULL) STRICT, WITHOUT ROWID
        """

    @Test func accessesHaveTheSameResults() throws {
        let stepCount = environmentNumber("QUARRY_CLUSTER_REQUESTS", default: 300)
        let seed = UInt64(environmentNumber("QUARRY_CLUSTER_SEED", default: Int.random(in: 0 ... .max)))
        print("QUARRY_CLUSTER_SEED=\(seed)")
        var generator = ModelGenerator(random: SeededGenerator(seed: seed))
        let (queue, cluster) = (try DatabaseQueue(), try nodes.open("model"))
        for database in [queue, cluster] as [any DatabaseWriter] {
            try database.write { db in try db.execute(sql: Self.schema) }
        }
        var (count, accessCount, errorCount, differenceCount) = (0, 0, 0, 0)
        while count < stepCount, differenceCount < 5 {
            let access = generator.random.pick(Access.allCases)
            let steps = (0..<generator.random.number(1...5)).map { _ in
                access == .read || generator.random.oneIn(2) ? generator.read() : generator.write()
            }
            count += steps.count
            accessCount += 1
            let (expected, actual) = (Self.run(access, steps, queue), Self.run(access, steps, cluster))
            errorCount += expected.count { $0.hasPrefix("error") }
            let content =
                accessCount.isMultiple(of: 50) ? (try Self.content(queue), try Self.content(cluster)) : ("", "")
            if expected != actual || content.0 != content.1 {
                differenceCount += 1
                let differences = zip(expected, actual).filter { $0 != $1 }
                    .map { "queue:   \($0)\ncluster: \($1)" }.joined(separator: "\n")
                Issue.record(
                    """
                    access \(accessCount) of seed \(seed): \(access) \(steps.map(\.name))
                    \(differences)\(content.0 == content.1 ? "" : "\n\(content.0)\n\(content.1)")
                    """)
            }
        }
        #expect(try Self.content(queue) == Self.content(cluster))
        print("\(count) steps in \(accessCount) accesses, \(errorCount) errors, \(differenceCount) differences")
    }

    /// The result of each step, then that of the access.
    private static func run(_ access: Access, _ steps: [ModelStep], _ database: any DatabaseWriter) -> [String] {
        struct Stop: Error {}
        var results: [String] = []
        let body = { (db: Database) in
            for step in steps {
                // A failed step leaves the access as it is, but for `.write`, which it ends.
                do {
                    let text = try step.run(db)
                    let count = step.isChange ? db.changesCount : 0
                    results.append("\(text) (\(count), \(db.isInsideTransaction))")
                } catch {
                    results.append("error of \(step.name): \(describe(error)) \(db.isInsideTransaction)")
                    if access == .write { throw error }
                }
            }
            if access == .undone { throw Stop() }
        }
        do {
            switch access {
            case .read: try database.read(body)
            case .write, .undone: try database.write(body)
            case .bare: try database.writeWithoutTransaction(body)
            }
            results.append("ended")
        } catch {
            results.append("error: \(describe(error))")
        }
        return results
    }

    private static func describe(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(type(of: error)) \(error)" }
        return "\(error.extendedResultCode) \(error.message ?? "") \(error.sql ?? "")"
    }

    /// All rows of all tables but the library's own.
    private static func content(_ database: any DatabaseWriter) throws -> String {
        try database.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'quarry%' ORDER BY name"
            )
            return try tables.map { table in
                "\(table)\n" + rows(try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)"))
            }.joined(separator: "\n")
        }
    }
}

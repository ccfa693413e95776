import Quarry
import QuarryCluster
import QuarryClusterTestSupport
import QuarryClusterWire
import Testing

/// Another client changes the schema between two requests of an access.
@Suite("Races of the schema of a cluster", .timeLimit(.minutes(5))) struct ClusterSchemaRaceTests {
    private static let changes = [
        "ALTER TABLE player ADD COLUMN x DEFAULT 4", "ALTER TABLE player RENAME COLUMN score TO points",
        "ALTER TABLE player DROP COLUMN score", "CREATE INDEX scores ON player (score)", "CREATE TABLE team (a)",
        // The same names in another order.
        """
        DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY, score, photo, name);
        INSERT INTO player (id, name, score) VALUES (1, 'Arthur', 300)
        """,
        "ALTER TABLE player RENAME TO old; CREATE VIEW player AS SELECT id, score AS name, name AS score, photo FROM old",
        "DROP TABLE player",
    ]

    /// Lets the change happen just before a request is executed, or just before its answer is sent.
    private func plan(_ change: String, at number: Int, _ phase: RequestInfo.Phase, _ nodes: EmulatedCluster) {
        let counter = Counter()
        nodes.faults.onRequest = { [weak nodes] request in
            guard request.phase == phase, counter.next() == number else { return .none }
            // It fails while the access has the lock: then the change follows the access.
            try? nodes?.execute(change)
            return .none
        }
    }

    /// The names that the rows of a schema have, as the node itself tells them.
    private func row(_ values: [String: String]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    private func fetch(_ db: Database, isCached: Bool) throws -> String {
        let sql = "SELECT * FROM player"
        let statement = isCached ? try db.cachedStatement(sql: sql) : try db.makeStatement(sql: sql)
        return try Row.fetchAll(statement).map { row in
            self.row(
                Dictionary(uniqueKeysWithValues: row.map { name, value in (name, "\(value)") }))
        }.joined(separator: "|")
    }

    /// The rows that a local database has before and after the change.
    private func expected(_ change: String) throws -> [String] {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try db.execute(sql: ClusterFixture.schema)
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 300)")
            let before = try fetch(db, isCached: false)
            try db.execute(sql: change)
            return [before, (try? fetch(db, isCached: false)) ?? "no such table"]
        }
    }

    @Test(arguments: changes, [true, false]) func reads(_ change: String, isCached: Bool) throws {
        let expected = try expected(change)
        for number in 1...4 {
            for phase in [RequestInfo.Phase.received, .executed] {
                let name = "\(change) at \(number), \(phase)"
                let fixture = try ClusterFixture()
                let cluster = fixture.cluster
                try cluster.write { db in
                    try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 300)")
                }
                // The node has prepared the statement.
                for _ in 1...3 { _ = try cluster.read { db in try fetch(db, isCached: isCached) } }
                plan(change, at: number, phase, fixture.nodes)
                func attempt() -> String {
                    do {
                        return try cluster.read { db in
                            let first = try fetch(db, isCached: isCached)
                            let second = try fetch(db, isCached: isCached)
                            #expect(first == second, "\(name)")
                            return second
                        }
                    } catch let error as DatabaseError {
                        return error.message?.hasPrefix("no such table") == true
                            ? "no such table" : "error \(error.resultCode)"
                    } catch {
                        return "\(error)"
                    }
                }
                let first = attempt()
                #expect(
                    expected.contains(first) || first == "error \(ResultCode.SQLITE_SCHEMA)" || isOld(first, expected),
                    "\(name): \(first)")
                fixture.nodes.faults.clear()
                try? fixture.nodes.execute(change)
                let later = [attempt(), attempt(), attempt()]
                #expect(
                    later[0] == expected[1] || later[0] == "error \(ResultCode.SQLITE_SCHEMA)"
                        || isOld(later[0], expected), "\(name): \(later)")
                #expect(later.dropFirst() == [expected[1], expected[1]], "\(name)")
                #expect(fixture.nodes.aborts == [], "\(name)")
            }
        }
    }

    /// A column that was added is left out once.
    private func isOld(_ row: String, _ expected: [String]) -> Bool {
        row == expected[0] && expected[1].hasPrefix(expected[0])
    }

    @Test(arguments: changes, [true, false]) func writes(_ change: String, isCached: Bool) throws {
        for number in 1...7 {
            let name = "\(change) at \(number)"
            let fixture = try ClusterFixture()
            let cluster = fixture.cluster
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Arthur', 300)")
            }
            func attempt() -> String {
                do {
                    return try cluster.write { db in
                        let sql = "UPDATE player SET score = score + 1 WHERE name = ? RETURNING name, score"
                        let statement = isCached ? try db.cachedStatement(sql: sql) : try db.makeStatement(sql: sql)
                        let row = try Row.fetchOne(statement, arguments: ["Arthur"])
                        try db.execute(sql: "UPDATE player SET name = name")
                        return row.map { "\($0)" } ?? "no row"
                    }
                } catch let error as DatabaseError {
                    return "error \(error.resultCode): \(error.message ?? "")"
                } catch {
                    return "\(error)"
                }
            }
            for _ in 1...3 { _ = attempt() }
            plan(change, at: number, .received, fixture.nodes)
            let first = attempt()
            fixture.nodes.faults.clear()
            try? fixture.nodes.execute(change)
            let kept = try? fixture.nodes.query("SELECT score FROM player").first?.first
            let isKept = kept == .integer(304)
            let (second, third) = (attempt(), attempt())
            for (result, count) in [(first, 304), (second, isKept ? 305 : 304)] {
                // The new table has a row of its own.
                let counts = change.contains("DROP TABLE") ? [count, 301, 302] : [count]
                #expect(
                    counts.contains { result == "[name:\"Arthur\" score:\($0)]" } || result.hasPrefix("error"),
                    "\(name): \(result)")
            }
            switch change {
            case _ where change.contains("INDEX") || change.contains("TABLE team") || change.contains("ADD"):
                #expect(first.hasPrefix("[") && second.hasPrefix("[") && third.hasPrefix("["), "\(name): \(first)")
            case _ where change.contains("RENAME COLUMN") || change.contains("DROP COLUMN"):
                #expect(third == "error \(ResultCode.SQLITE_ERROR): no such column: score", "\(name): \(third)")
            case "DROP TABLE player":
                #expect(third == "error \(ResultCode.SQLITE_ERROR): no such table: player", "\(name): \(third)")
            case _ where change.contains("VIEW"):
                #expect(
                    third.hasPrefix("error \(ResultCode.SQLITE_ERROR): cannot modify player because it is a view"),
                    "\(name): \(third)")
            default: break
            }
            #expect(fixture.nodes.aborts == [], "\(name)")
        }
    }
}

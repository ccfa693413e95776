import Foundation
import Quarry
import QuarryChangesets
import QuarryTestSupport
import Testing

@Suite struct ChangesetsSamples {
    let dbQueue = try! Self.make()
    let otherQueue = try! Self.make()

    static func make() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.makeScoredPlayers(["Arthur": 100, "Barbara": 1000]) }
        return queue
    }

    func rows(_ queue: DatabaseQueue) throws -> [Row] {
        try queue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY id") }
    }

    @Test func recording() throws {
        let before = try rows(dbQueue)
        let recorded = try dbQueue.write { db in
            try db.recordChangeset {
                try db.execute(sql: "UPDATE player SET score = 1100 WHERE id = 2")
                try db.execute(sql: "INSERT INTO player VALUES (3, 'Craig', 500)")
            }
        }
        for change in recorded.changeset {
            print(change)
        }
        // update player(2, _, 1000) to (_, _, 1100)
        // insert player(3, "Craig", 500)
        #expect(
            Set(recorded.changeset.map(\.description)) == [
                "update player(2, _, 1000) to (_, _, 1100)", "insert player(3, \"Craig\", 500)",
            ])
        try apply(recorded.changeset.data)
        try dbQueue.write { db in
            _ = try db.apply(recorded.changeset.inverted())
        }
        #expect(try rows(dbQueue) == before)
    }

    private func apply(_ received: Data) throws {
        let changeset = try Changeset(data: received)
        let applied = try otherQueue.write { db in
            try db.apply(changeset) { conflict in
                switch conflict.kind {
                case .data, .conflict: .replace
                case .notFound, .constraint: .omit
                case .foreignKey: .abort
                }
            }
        }
        print(applied.conflictCount)  // 0
        #expect(applied.conflictCount == 0)
        #expect(try rows(otherQueue).count == 3)
    }

    @Test func comparing() throws {
        try dbQueue.writeWithoutTransaction { db in
            try db.execute(
                sql:
                    "ATTACH ':memory:' AS yesterday; CREATE TABLE yesterday.player (id INTEGER PRIMARY KEY, name, score)"
            )
        }
        let changeset = try dbQueue.read { db in
            try db.changeset(from: "yesterday", to: "main", tables: ["player"])
        }
        #expect(changeset.allSatisfy { $0.kind == .insert })
        #expect(changeset.count { _ in true } == 2)
    }

    @Test func changesOnBothSides() throws {
        let (client, server) = (dbQueue, otherQueue)
        func change(_ queue: DatabaseQueue, _ sql: String) throws -> Changeset {
            try queue.write { db in try db.recordChangeset { try db.execute(sql: sql) }.changeset }
        }
        let local = try change(client, "UPDATE player SET score = 1; INSERT INTO player VALUES (3, 'Craig', 500)")
        let remote = try change(server, "UPDATE player SET score = 2 WHERE id = 1")
        let applied = try client.write { db in
            try db.apply(remote) { conflict in .replace }
        }
        let rebased = try local.rebased(on: applied.rebaseInformation)
        try server.write { db in _ = try db.apply(rebased) }
        let expected = try rows(client)
        #expect(try rows(server) == expected)
        #expect(expected.map { $0["score"] } == [2, 1, 500])
    }
}

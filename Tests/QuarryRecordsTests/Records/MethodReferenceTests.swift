import Quarry
import QuarryFixtures
import QuarryTestSupport
import Testing

/// Methods that take a connection alone are passed to an access as they are.
@Suite struct MethodReferenceTests {
    private struct Player: Codable, Hashable, FetchableRecord, PersistableRecord {
        var id: Int
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in try db.makePlayers("Arthur", "Barbara") }
    }

    @Test func ofATable() throws {
        #expect(try queue.read(Player.fetchAll) == [Player(id: 1), Player(id: 2)])
        #expect(try queue.read(Player.fetchSet) == [Player(id: 1), Player(id: 2)])
        #expect(try queue.read(Player.fetchOne) == Player(id: 1))
        #expect(try queue.read(Player.fetchCount) == 2)
        #expect(try queue.write(Player.deleteAll) == 2)
    }

    @Test func ofARecord() throws {
        let player = Player(id: 3)
        #expect(try !queue.read(player.exists))
        try queue.write(player.upsert)
        #expect(try queue.read(player.exists))
        #expect(try queue.write(player.delete))
    }

    @Test func ofARequest() throws {
        let request = Player.filter(Column("id") > 1)
        #expect(try queue.read(request.fetchAll) == [Player(id: 2)])
        #expect(try queue.read(request.fetchCount) == 1)
        #expect(try queue.write(request.deleteAll) == 1)
    }
}

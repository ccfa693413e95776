import Quarry
import QuarryTestSupport
import Testing

@Suite struct ObservingValuesSamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in try db.makePlayers("Arthur", "Barbara") }
    }

    @Test func observing() async throws {
        let print = { @Sendable (_: Any) in }
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
        }
        for try await count in observation.values(in: dbPool) {
            print("\(count) players")
            if count == 2 { break }
        }

        let cancellable = observation.start(in: dbPool, scheduling: .task) { error in
            print("failed: \(error)")
        } onChange: { count in
            print("\(count) players")
        }
        cancellable.cancel()

        let titles = observation.removeDuplicates().map { count in "\(count) players" }
        for try await title in titles.values(in: dbPool) {
            #expect(title == "2 players")
            break
        }

        let calm = observation.throttle(for: .milliseconds(200))
        for try await count in calm.values(in: dbPool) {
            #expect(count == 2)
            break
        }

        let shared = observation.shared(in: dbPool, scheduling: .task)
        let first = shared.start(onError: { print($0) }, onChange: { print("first: \($0)") })
        let second = shared.start(onError: { print($0) }, onChange: { print("second: \($0)") })
        first.cancel()
        second.cancel()
    }
}

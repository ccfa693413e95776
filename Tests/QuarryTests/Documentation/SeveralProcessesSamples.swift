import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Several processes".
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct SeveralProcessesSamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool
    let other: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in
            try db.makePlayers("Arthur")
            try db.execute(sql: "CREATE TABLE feed (position INTEGER); INSERT INTO feed VALUES (0)")
        }
        other = try DatabaseQueue(path: dbPool.path)
    }

    @Test func observing() async throws {
        let print = { @Sendable (_: Any) in }
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")!
        }
        let task = Task { [dbPool] in
            for try await count in observation.values(in: dbPool) {
                print("\(count) players")  // also after an import by another process
                if count == 2 { break }
            }
        }
        try await other.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')") }
        try await task.value
    }

    /// A copy that follows the table.
    private final class Index: Sendable {
        let calls = Recorded<[String]>([])
        func update(_ changes: DatabaseChanges) { calls.update { $0.append("update \(changes)") } }
        func rebuild() { calls.update { $0.append("rebuild") } }
    }

    @Test func commits() async throws {
        let index = Index()
        let task = Task { [dbPool] in
            for await commit in dbPool.commits {
                switch commit.source {
                case .database: index.update(commit.changes)
                case .other, .missed: index.rebuild()
                }
            }
        }
        try await until("it follows others") {
            try other.write { db in try db.execute(sql: "UPDATE feed SET position = position + 1") }
            return index.calls.value.last == "rebuild"
        }
        try await dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
        try await until("it follows this pool") { index.calls.value.contains("update player(*)") }
        task.cancel()
    }

    @Test func configuring() throws {
        var config = Configuration()
        config.otherProcesses = .polled(every: 0.5)  // seconds
        let queue = try DatabaseQueue(path: folder.file("other.sqlite"), configuration: config)
        #expect(queue.configuration.otherProcesses == .polled(every: 0.5))
    }

    @Test func numbers() async throws {
        let path = folder.file("players.sqlite")
        var config = Configuration()
        config.commitNumbers = .stored
        let dbPool = try DatabasePool(path: path, configuration: config)
        let otherPool = try DatabasePool(path: path, configuration: config)
        let (_, number) = try await dbPool.writeWithCommitNumber { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Craig')")
        }
        // In another process, which has received the number:
        try await otherPool.waitForCommit(number)
        let names = try await otherPool.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM player")
        }
        #expect(names == ["Arthur", "Craig"] && number.rawValue == 1)
    }
}

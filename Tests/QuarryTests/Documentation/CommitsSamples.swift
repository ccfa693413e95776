import Quarry
import QuarryTestSupport
import Testing

/// The code of the article "Commits".
@Suite struct CommitsSamples {
    let folder: TemporaryFolder
    let dbPool: DatabasePool

    init() throws {
        folder = try TemporaryFolder()
        dbPool = try DatabasePool(path: folder.file("players.sqlite"))
        try dbPool.write { db in try db.makePlayers() }
    }

    private final class Search: Sendable {
        let log = Recorded<[String]>([])

        func index(_ key: RowKey) { log.update { $0.append("+\(key)") } }
        func remove(_ key: RowKey) { log.update { $0.append("-\(key)") } }
        func removeAll() { log.update { $0.append("all") } }
    }

    @Test func commits() async throws {
        let (cache, search, requestID) = (Search(), Search(), 7)
        let tables = Task { [dbPool] in
            for await commit in dbPool.commits {
                if commit.changes.containsChange(in: "player") { cache.removeAll() }
            }
        }
        let keys = Task { [dbPool] in
            for await commit in dbPool.commits(keys: true) {
                for (key, change) in commit.changes.changedKeys(in: "player") ?? [:] {
                    switch change {
                    case .inserted, .updated: search.index(key)
                    case .deleted: search.remove(key)
                    }
                }
            }
        }
        var origins = dbPool.commits.makeAsyncIterator()
        try await until("both tasks read") {
            try dbPool.write { db in try db.execute(sql: "REPLACE INTO player (id) VALUES (100)") }
            return !cache.log.value.isEmpty && !search.log.value.isEmpty
        }
        try await dbPool.write { db in try db.execute(sql: "DELETE FROM player") }
        try await dbPool.write { db in
            db.commitOrigin = "import"
            db.commitUserInfo = requestID
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
        }
        let (_, number) = try await dbPool.writeWithCommitNumber { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
        }
        try await dbPool.waitForCommit(number)  // elsewhere
        while let commit = await origins.next(), commit.origin != "import" {}
        try await until("the index is current") { search.log.value.suffix(2) == ["+1", "+2"] }
        try dbPool.close()
        await tables.value
        await keys.value
    }
}

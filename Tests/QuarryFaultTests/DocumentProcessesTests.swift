import Quarry
import QuarryDocuments
import QuarryTestSupport
import Testing

/// Two processes change the documents of one file. A follower of one of them keeps a copy: changes whose keys are
/// unknown make it read all documents again, and the copy ends as the store.
@Suite("Documents of two processes", .timeLimit(.minutes(3 * TestTime.factor))) struct DocumentProcessesTests {
    private static let rounds = 60
    private let store = DocumentStore("document")

    @Test(arguments: ["pool", "walQueue"]) func aFollowerSeesBoth(kind: String) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        let numbers = store.collection("numbers", of: Int.self)
        var configuration = Configuration()
        configuration.journalMode = .wal
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: path) : try DatabaseQueue(path: path, configuration: configuration)
        try await writer.write { [store] db in try store.create(in: db) }

        struct Copy: Sendable {
            var documents: [String: Int] = [:]
            var knownCount = 0
            var unknownCount = 0
        }
        let copy = Recorded(Copy())
        let commits = writer.commits(keys: true)
        let iterator = commits.makeAsyncIterator()
        let follower = Task { [store] in
            var iterator = iterator
            while let commit = await iterator.next(isolation: nil) {
                let changes = store.changes(in: commit)
                if commit.source == .other, !changes.didClear("numbers") {
                    Issue.record("the keys of another process's commit can't be known: \(commit)")
                }
                if let keys = changes.changedKeys(in: "numbers") {
                    for key in keys.keys {
                        let value = try await writer.read { db in try numbers.get(db, key: key) }
                        copy.update { $0.documents[key] = value }
                    }
                    copy.update { $0.knownCount += 1 }
                } else {
                    let all = try await writer.read { db in try numbers.all().fetchAll(db) }
                    copy.update { copy in
                        copy.documents = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0.object) })
                        copy.unknownCount += 1
                    }
                }
            }
        }

        let isReady = Step("the other process has opened the file")
        let other = OwnThread {
            let child = try ChildProcess(["change-documents-beside-others", path, kind, "other", "\(Self.rounds)"])
            guard try child.readLine() == "ready" else { throw Step.NeverReached("the other process") }
            isReady.reach()
            child.closeInput()
            return try child.wait()
        }
        try await isReady.reached()
        for round in 1...Self.rounds {
            try await writer.write { db in
                let key = "own \(round % 7)"
                if round % 5 == 0 { try numbers.remove(db, key: key) } else { try numbers.set(db, key: key, round) }
            }
        }
        let exit = try await other.value
        #expect(exit.errors == "" && exit.status == .code(0) && exit.lines == ["done"])
        let expected = try await writer.read { db in try numbers.all().fetchAll(db) }
        #expect(Set(expected.map { $0.key.prefix(3) }) == ["own", "oth"])
        try await until("the copy has all documents") {
            copy.value.documents == Dictionary(uniqueKeysWithValues: expected.map { ($0.key, $0.object) })
        }
        #expect(copy.value.unknownCount > 0)
        follower.cancel()
        _ = await follower.result
        try await onOwnThread { try writer.close() }
    }
}

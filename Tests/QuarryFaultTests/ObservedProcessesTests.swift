import Quarry
import QuarryTestSupport
import Testing

/// Two processes on one file: an observation follows the commits of the other.
@Suite(.timeLimit(.minutes(3 * TestTime.factor))) struct ObservedProcessesTests {
    @Test(arguments: ["pool", "walQueue"]) func commitsOfAnotherProcess(_ kind: String) async throws {
        let folder = try TemporaryFolder(isFast: true)
        let path = folder.file("db")
        var configuration = Configuration()
        configuration.journalMode = .wal
        let writer: any DatabaseWriter =
            kind == "pool"
            ? try DatabasePool(path: path) : try DatabaseQueue(path: path, configuration: configuration)
        try await writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE counter (name TEXT PRIMARY KEY, n INTEGER NOT NULL);
                    CREATE TABLE own (n INTEGER); INSERT INTO own VALUES (0);
                    """)
        }
        let values = Recorded<[[Int]]>([])
        let errors = Recorded<[any Error]>([])
        let cancellable = ValueObservation.tracking { db in
            [
                try Int.fetchOne(db, sql: "SELECT n FROM own") ?? -1,
                try Int.fetchOne(db, sql: "SELECT n FROM counter WHERE name = 'all'") ?? 0,
            ]
        }.start(
            in: writer, scheduling: .task, onError: { error in errors.update { $0.append(error) } },
            onChange: { value in values.update { $0.append(value) } })
        try await until("the first value") { values.value == [[0, 0]] }

        // The other process commits alone.
        #expect(try await run(path, kind, "first") == ["\(Self.rounds * 5)"])
        try await until("it is seen") { values.value.last == [0, Self.rounds * 5] }
        try await writer.write { db in try db.execute(sql: "UPDATE own SET n = n + 1") }
        try await until("both are seen") { values.value.last == [1, Self.rounds * 5] }

        // Both commit at the same time.
        let other = Task { try await run(path, kind, "second") }
        for _ in 0..<100 { try await writer.write { db in try db.execute(sql: "UPDATE own SET n = n + 1") } }
        #expect(try await other.value == ["\(Self.rounds * 5)"])
        try await until("all are seen") { values.value.last == [101, 2 * Self.rounds * 5] }
        for (older, newer) in zip(values.value, values.value.dropFirst()) {
            #expect(zip(older, newer).allSatisfy { $0 <= $1 }, "\(older), \(newer)")
        }
        #expect(errors.value.isEmpty)
        cancellable.cancel()
        try await onOwnThread { try writer.close() }
    }

    private static let rounds = 8

    /// Lets another process count.
    private func run(_ path: String, _ kind: String, _ name: String) async throws -> [String] {
        try await onOwnThread(within: 170) {
            let child = try ChildProcess(["count", path, kind, name, "\(Self.rounds)"])
            guard try child.readLine() == "ready" else { throw Step.NeverReached("the other process") }
            child.closeInput()
            let exit = try child.wait()
            #expect(exit.errors == "" && exit.status == .code(0))
            return exit.lines
        }
    }
}

import Foundation
import Quarry
import QuarryIncrementalWrites
import Synchronization
import Testing

@testable import PackageCatalog

/// An import lets others read and write between its steps.
@Suite(.timeLimit(.minutes(2))) struct ImportStepsTests {
    /// Others wait for a step, and time is no reason to commit.
    private static let pace = IncrementalWritePace(maximumHold: .seconds(600))

    private enum Kind: CaseIterable {
        case memory
        case pool

        func open(in folder: borrowing TemporaryFolder) async throws -> Catalog {
            switch self {
            case .memory: try await Catalog.inMemory()
            case .pool: try await Catalog.open(path: folder.file("c.sqlite"))
            }
        }
    }

    /// In the middle of the second step another write asks for the connection: it gets it after that step.
    @Test(arguments: Kind.allCases) private func anotherWriteBetweenTwoSteps(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let catalog = try await kind.open(in: folder)
        let other = Received<Task<[String], any Error>>()
        let middle = MiddleOfImport(package: 26) {
            let task = Task {
                try await catalog.database.write { db in
                    try db.execute(sql: "INSERT INTO imports (source) VALUES ('another')")
                    return try Row.fetchAll(
                        db, sql: "SELECT count(*), max(id), (SELECT count(*) FROM dependencies) FROM packages"
                    ).map { "\($0)" }
                }
            }
            other.set(task)
            try spin { catalog.database.statistics.writer.waiters == 1 }
        }
        catalog.database.add(transactionObserver: middle)
        let result = try await catalog.importText(stanzas(60), batchSize: 60, pace: Self.pace)
        try middle.check()
        let seen = try await other.value?.value
        #expect(seen == ["[count(*):40 max(id):40 (SELECT count(*) FROM dependencies):39]"])
        #expect(result.packages == 60 && result.transactions == 2)
        #expect(try await catalog.counts().packages == 60)
        #expect(try await catalog.rows("SELECT packages FROM imports WHERE source = 'status'") == ["60"])
        try await catalog.close()
    }

    /// The rows whose ids the import knows are deleted in between: it doesn't rely on them.
    @Test(arguments: Kind.allCases) private func anotherWriteDeletesEverything(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let catalog = try await kind.open(in: folder)
        let other = Received<Task<Void, any Error>>()
        let middle = MiddleOfImport(package: 26) {
            let task = Task {
                try await catalog.database.write { db in
                    try db.execute(sql: "DELETE FROM packages; DELETE FROM names; DELETE FROM sections")
                }
            }
            other.set(task)
            try spin { catalog.database.statistics.writer.waiters == 1 }
        }
        catalog.database.add(transactionObserver: middle)
        let result = try await catalog.importText(stanzas(60), batchSize: 60, pace: Self.pace)
        try middle.check()
        try await other.value?.value
        #expect(result.packages == 60)
        let packages = """
            SELECT count(*) FROM packages JOIN names ON names.id = name_id JOIN sections ON sections.id = section_id
            """
        #expect(try await catalog.rows(packages) == ["20"])
        #expect(try await catalog.rows("PRAGMA foreign_key_check").isEmpty)
        #expect(try await catalog.miscounts().isEmpty)
        try await catalog.close()
    }

    /// A pool's readers wait for no step: they see what was committed before.
    @Test func aReadDuringAStep() async throws {
        let folder = try TemporaryFolder()
        let catalog = try await Catalog.open(path: folder.file("c.sqlite"))
        try await catalog.importText(stanzas(5), name: "before")
        let seen = Received<Int>()
        let middle = MiddleOfImport(package: 26) {
            Task {
                let counts = try await catalog.counts()
                seen.set(counts.packages)
            }
            try spin { seen.value != nil }
        }
        catalog.database.add(transactionObserver: middle)
        try await catalog.importText(stanzas(60), batchSize: 60, pace: Self.pace)
        try middle.check()
        #expect(seen.value == 5)
        try await catalog.close()
    }

    /// Another import removes what the first one had stored and the file no longer has, and what no package needs.
    @Test func anImportAfterAnInterruptedOne() async throws {
        let catalog = try await Catalog.inMemory()
        try await catalog.importText(stanzas(30))
        let task = Task {
            let source = TextSource(stanzas(100, version: "2.0"))
            return try await Importer(catalog: catalog, batchSize: 10).run([source]) { event in
                if case .stored(let progress) = event, progress.packages == 40 {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // Readers see the packages that it stored, and those of before.
        #expect(try await catalog.counts().packages == 70)
        #expect(try await catalog.miscounts().isEmpty)
        let result = try await catalog.importText(stanzas(50, version: "3.0"))
        #expect((result.added, result.updated, result.removed) == (50, 0, 70))
        #expect(try await catalog.rows("SELECT DISTINCT version FROM packages") == ["3.0"])
        #expect(try await catalog.miscounts().isEmpty)
        #expect(try await catalog.rows("SELECT count(*) FROM imports") == ["1"])
    }

    /// A source that runs something before its text comes.
    private struct LateSource: ControlFileSource {
        let name = "late"
        let byteCount: Int? = nil
        let before: @Sendable () async throws -> Void

        func read(_ consume: (ControlFileBlock) async throws -> Void) async throws {
            try await before()
            try await TextSource("Package: late\n").read(consume)
        }
    }

    /// The import that ends removes records of imports without packages, but not that of the one that has just begun.
    @Test func anImportThatEndsWhileAnotherBegins() async throws {
        let catalog = try await Catalog.inMemory()
        let late = LateSource { try await catalog.importText(stanzas(3), name: "early") }
        let result = try await Importer(catalog: catalog).run([late]) { _ in }
        #expect(result.added == 1)
        #expect(try await catalog.rows("SELECT source FROM imports ORDER BY source") == ["early", "late"])
    }

    /// The process is killed while it imports.
    @Test func anImportAfterAKilledOne() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("c.sqlite")
        let run = try CatalogProcess(["--database", path, "--batch-size", "10", "-"], in: folder)
        try run.input.fileHandleForWriting.write(contentsOf: Data((stanzas(25) + "\n").utf8))
        // 10 packages or 20: progress that comes within two seconds isn't shown.
        try await run.says("0 packages")
        kill(run.process.processIdentifier, SIGKILL)
        #expect(await run.status() == SIGKILL)
        try run.input.fileHandleForWriting.close()
        let kept = try #require(try packages(in: path))
        #expect(kept == 10 || kept == 20)
        let catalog = try await Catalog.open(path: path)
        #expect(try await catalog.miscounts().isEmpty)
        let result = try await catalog.importText(stanzas(8), name: "-")
        #expect((result.added, result.updated, result.removed) == (0, 8, kept - 8))
        #expect(try await catalog.miscounts().isEmpty)
        #expect(try await catalog.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try await catalog.rows("PRAGMA foreign_key_check").isEmpty)
        try await catalog.close()
    }
}

/// Acts in the middle of a step: when a certain package has been inserted, before its dependencies.
private final class MiddleOfImport: TransactionObserver, Sendable {
    private let package: Int64
    private let action: @Sendable () throws -> Void
    private let outcome = Received<Result<Void, any Error>>()

    init(package: Int64, action: @escaping @Sendable () throws -> Void) {
        self.package = package
        self.action = action
    }

    /// - throws: the error of the action; an error if it hasn't run.
    func check() throws { try #require(outcome.value).get() }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind == .insert(tableName: "packages") }

    func databaseDidChange(with event: DatabaseEvent) {
        guard event.rowID == package, outcome.value == nil else { return }
        outcome.set(Result { try action() })
    }

    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

/// A value that another task or thread gives.
private final class Received<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    var value: Value? { state.withLock(\.self) }
    func set(_ value: Value) { state.withLock { $0 = value } }
}

/// Waits on a thread, for at most a minute.
private func spin(until condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        try #require(ContinuousClock.now < end)
        sched_yield()
    }
}

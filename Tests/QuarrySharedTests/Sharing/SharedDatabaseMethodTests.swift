import Foundation
import Quarry
import QuarryExpectations
import QuarryFixtures
import QuarryRecovery
import QuarryTestSupport
import Testing

@testable import QuarryAccess
@testable import QuarryShared

/// The methods of a pool that the protocols of readers and writers don't have.
private protocol PoolMethods: DatabaseWriter {
    func makeSnapshot(label: String?, fileID: StaticString, line: UInt) throws -> DatabaseSnapshot
    func makeSnapshotAsync(label: String?, fileID: StaticString, line: UInt) async throws -> DatabaseSnapshot
    func makeSnapshotPool(label: String?, fileID: StaticString, line: UInt) throws -> DatabaseSnapshotPool
    func makeSnapshotPoolAsync(label: String?, fileID: StaticString, line: UInt) async throws -> DatabaseSnapshotPool
    func makeStableReader(
        keys: Bool, bufferingAtMost limit: Int, label: String?, fileID: StaticString, line: UInt
    ) throws -> StableReader
    func makeStableReader(
        keys: Bool, bufferingAtMost limit: Int, label: String?, fileID: StaticString, line: UInt
    ) async throws -> StableReader
    func makeStableReaders(
        count: Int, keys: Bool, bufferingAtMost limit: Int, label: String?, fileID: StaticString, line: UInt
    ) throws -> [StableReader]
    func writeInTransaction(
        _ kind: Database.TransactionKind?, _ updates: (Database) throws -> Database.TransactionCompletion
    ) throws
    func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
    func releaseMemory()
    func releaseMemoryAsync() async
    func releaseMemoryEventually()
    func invalidateReadOnlyConnections()
}

extension DatabasePool: PoolMethods {}
extension SharedDatabase: PoolMethods {}

/// Shared databases have the methods of pools, and these do the same.
@Suite(.timeLimit(.minutes(2 * TestTime.factor))) struct SharedDatabaseMethodTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isFast: true) }

    private enum Kind: CaseIterable {
        case pool, shared, closed
    }

    /// - parameter kind: of a closed database, each method is the first access after closing.
    private func make(_ kind: Kind) throws -> any PoolMethods {
        let path = folder.file("a.sqlite")
        switch kind {
        case .pool: return try DatabasePool(path: path)
        case .shared, .closed: return SharedDatabase(path: path)
        }
    }

    private func closeIf(_ kind: Kind, _ database: any PoolMethods) throws {
        if kind == .closed { try database.close() }
    }

    /// Each public function of `DatabasePool` is a function of `SharedDatabase`, but for `open(path:)`.
    @Test func allMethods() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        var pool: [String: String] = [:]
        var shared: Set<String> = []
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            guard ["DatabasePool", "SharedDatabase", "ForwardingReader"].contains(where: text.contains) else {
                continue
            }
            var type = ""
            for line in text.split(separator: "\n") {
                guard !line.hasPrefix("     "), !line.hasPrefix("    ///") else { continue }
                if let match = line.firstMatch(of: #/^(?:public final class|extension) (\w+)/#) {
                    type = String(match.1)
                } else if line.hasPrefix("}") {
                    type = ""
                }
                guard let name = line.firstMatch(of: #/^    public (?:static )?func (\w+)/#)?.1 else { continue }
                switch type {
                case "DatabasePool": pool[String(name)] = file.lastPathComponent
                case "SharedDatabase", "ForwardingReader", "ForwardingWriter": shared.insert(String(name))
                default: break
                }
            }
        }
        #expect(pool["makeSnapshot"] == "DatabasePool+Snapshots.swift" && shared.contains("read"))
        for (name, file) in pool.sorted(by: { $0.key < $1.key }) {
            #expect(shared.contains(name), "SharedDatabase lacks \(name), which is in \(file)")
        }
    }

    /// Snapshots see one commit, and outlive the closing of a shared database.
    @Test(arguments: Kind.allCases) private func snapshots(_ kind: Kind) async throws {
        let database = try make(kind)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)") }
        try closeIf(kind, database)
        let snapshots: [any DatabaseSnapshotReader] = [
            try database.makeSnapshot(label: nil, fileID: #fileID, line: #line),
            try await database.makeSnapshotAsync(label: nil, fileID: #fileID, line: #line),
            try database.makeSnapshotPool(label: nil, fileID: #fileID, line: #line),
            try await database.makeSnapshotPoolAsync(label: nil, fileID: #fileID, line: #line),
        ]
        try await database.write { db in try db.execute(sql: "DELETE FROM t") }
        try closeIf(kind, database)
        for snapshot in snapshots {
            #expect(try await snapshot.read { db in try db.values() } == [1])
            try snapshot.close()
        }
        #expect(try await database.read { db in try db.values() } == [])
    }

    /// The connections of a snapshot pool refuse a window by their label.
    @Test func windowBesideSnapshotPool() throws {
        let database = SharedDatabase(path: folder.file("a.sqlite"))
        let snapshot = try database.makeSnapshotPool(label: "a report")
        expectError(.SQLITE_BUSY, "unable to close \(database.path): “a report” reads it") {
            try database.withClosedDatabase { _ in }
        }
        try snapshot.close()
        try database.withClosedDatabase { _ in }
    }

    /// Stable readers tell the commits, also those of connections that were opened since.
    @Test(arguments: Kind.allCases) private func stableReaders(_ kind: Kind) async throws {
        let database = try make(kind)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)") }
        try closeIf(kind, database)
        var readers = try database.makeStableReaders(
            count: 2, keys: false, bufferingAtMost: 100, label: nil, fileID: #fileID, line: #line)
        readers += [
            try await database.makeStableReader(
                keys: true, bufferingAtMost: 100, label: nil, fileID: #fileID, line: #line),
            try await database.makeStableReader(
                keys: true, bufferingAtMost: 100, label: nil, fileID: #fileID, line: #line),
        ]
        try closeIf(kind, database)
        try await database.write { db in try db.execute(sql: "INSERT INTO t VALUES (7)") }
        for reader in readers {
            #expect(try await reader.read { db in try db.values() } == [])
            let commits = try await reader.advance()
            #expect(commits.contains { $0.changes.containsChange(in: "t") })
            #expect(try await reader.read { db in try db.values() } == [7])
            try reader.close()
        }
    }

    /// Transactions of a kind, rolled back and committed.
    @Test(arguments: Kind.allCases) private func transactions(_ kind: Kind) throws {
        let database = try make(kind)
        try database.makeTable(1)
        try closeIf(kind, database)
        for transaction in [nil, .deferred, .immediate, .exclusive] as [Database.TransactionKind?] {
            try database.writeInTransaction(transaction) { db in
                #expect(db.isInsideTransaction)
                try db.insert(2)
                return .rollback
            }
        }
        try database.writeInTransaction(.exclusive) { db in
            try db.insert(3)
            return .commit
        }
        #expect(try database.read { db in try db.values() } == [1, 3])
    }

    /// A concurrent read sees the last commit, and closing waits for it.
    @Test(arguments: Kind.allCases) private func concurrentReads(_ kind: Kind) async throws {
        let database = try make(kind)
        try database.makeTable(1)
        try closeIf(kind, database)
        let hasWritten = Step("the later write has ended")
        let isRead = Step("the read has ended")
        let values = Recorded<[Int]?>(nil)
        try await database.writeWithoutTransaction { db in
            database.asyncConcurrentRead { result in
                try? hasWritten.wait()
                let found = try? result.get().values()
                values.update { $0 = found }
                isRead.reach()
            }
            try db.insert(2)
        }
        #expect(try await database.read { db in try db.values() } == [1, 2])
        let closing = Task.detached { try await database.closeAsync() }
        hasWritten.reach()
        try await closing.value
        #expect(isRead.isReached && values.value == [1])
        let outside = Recorded<ResultCode?>(nil)
        database.asyncConcurrentRead { result in
            guard case .failure(let error as DatabaseError) = result else { return }
            outside.update { $0 = error.resultCode }
        }
        #expect(outside.value == .SQLITE_MISUSE)
    }

    /// Memory is released, and readers are invalidated; a closed shared database stays closed.
    @Test(arguments: Kind.allCases) private func memory(_ kind: Kind) async throws {
        let database = try make(kind)
        try database.makeTable(1)
        let uses: [() async throws -> Void] = [
            { database.releaseMemory() }, { await database.releaseMemoryAsync() },
            { database.releaseMemoryEventually() }, { database.invalidateReadOnlyConnections() },
        ]
        for use in uses {
            #expect(try await database.read { db in try db.values() } == [1])
            let readers = try #require(database.groupReader?.readers.group)
            #expect(readers.connectionCount == 1)
            try closeIf(kind, database)
            try await use()
            #expect(readers.connectionCount == 0)
            if kind == .closed { #expect(try folder.openFiles.isEmpty) }
        }
        #expect(try await database.read { db in try db.values() } == [1])
        try await database.flush()
    }

    /// A shared database is the source and the destination of backups and restorations.
    @Test func backups() async throws {
        let database = SharedDatabase(path: folder.file("a.sqlite"))
        try database.makeTable(1)
        try database.close()
        try await database.backup(toFile: folder.file("1.sqlite"))
        try await database.closeAsync()
        try await database.backup(toFile: folder.file("2.sqlite"))
        let other = SharedDatabase(path: folder.file("b.sqlite"))
        try database.backup(to: other)
        #expect(try await other.read { db in try db.values() } == [1])
        try await database.write { db in try db.insert(2) }
        try await database.backupAsync(to: other)
        #expect(try await other.read { db in try db.values() } == [1, 2])
        try other.close()
        let alias = SharedDatabase(path: folder.path + "/./a.sqlite")
        expectError(.SQLITE_MISUSE) { try database.backup(to: alias) }
        for (name, isAsync) in [("1.sqlite", false), ("2.sqlite", true)] {
            try await database.write { db in try db.insert(3) }
            try database.close()
            let path = folder.file(name)
            let restore: () throws -> Void = { try database.restore(from: path) }
            if isAsync { try await database.restore(from: path) } else { try restore() }
            #expect(try await alias.read { db in try db.values() } == [1])
        }
        expectError(.SQLITE_MISUSE) { try database.restore(from: alias.path) }
        try await other.restore(from: folder.file("1.sqlite"))
        #expect(try await other.read { db in try db.values() } == [1])
    }
}

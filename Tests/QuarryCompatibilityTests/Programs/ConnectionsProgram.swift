import Foundation

#if GRDB_PROGRAMS
import GRDB
#else
import Quarry
#endif

/// Queues and pools, synchronous and asynchronous accesses, snapshots, backups and dumps.
enum ConnectionsProgram: Program {
    static func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("programs-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Configuration()
        configuration.label = "library"
        configuration.maximumReaderCount = 3
        configuration.busyMode = .timeout(1)
        configuration.foreignKeysEnabled = true
        configuration.publicStatementArguments = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = -1000")
        }
        let pool = try DatabasePool(path: folder.appendingPathComponent("db.sqlite").path, configuration: configuration)
        let repository = Repository(writer: pool)
        try await repository.prepare()
        print(try await repository.add("bread"), try await repository.add("wine"), try await repository.count())
        print(
            try await pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } ?? "none",
            pool.configuration.label ?? "none")
        print(try await pool.read { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") } ?? -1)
        do {
            _ = try await repository.add("bread")
        } catch let error as DatabaseError {
            print(error)
        }
        do {
            try await pool.read { try $0.execute(sql: "DELETE FROM item") }
        } catch let error as DatabaseError {
            print(error.resultCode == .SQLITE_READONLY)
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { try await pool.read { try Item.fetchCount($0) } }
            }
            print(try await group.reduce(0, +))
        }
        try await synchronous(pool, folder: folder)

        // The rest of an asynchronous program.
        let name = try await pool.writeWithoutTransaction { db in
            try Item(name: "salt").insert(db)
            return try String.fetchOne(db, sql: "SELECT MAX(name) FROM item")
        }
        print(name ?? "none", try await pool.unsafeRead { try Item.fetchCount($0) })
        try await pool.barrierWriteWithoutTransaction { try $0.execute(sql: "DELETE FROM item WHERE name = 'salt'") }
        let queue = try DatabaseQueue()
        try pool.backup(to: queue)
        print(try await queue.read { try Item.order(Column("name")).fetchAll($0) }.map(\.name))
        try await queue.erase()
        print(try await queue.read { try $0.tableExists("item") })
        try await pool.vacuum()
        let cancelled = Task {
            try await pool.write { _ = try Item.deleteAll($0) }
        }
        cancelled.cancel()
        _ = await cancelled.result
        try pool.close()
        do {
            _ = try await pool.read { try Item.fetchCount($0) }
        } catch let error as DatabaseError {
            print(error.resultCode == .SQLITE_MISUSE, error.message ?? "")
        }
    }

    private static func synchronous(_ pool: DatabasePool, folder: URL) async throws {
        try accesses(pool)
        try copies(pool, folder: folder)
        try dumps(pool)
    }

    private static func accesses(_ pool: DatabasePool) throws {
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in
            _ = try Item.deleteOne(db, key: "wine")
            print(
                "outside the transaction", try pool.read { try Item.fetchCount($0) }, "inside", try Item.fetchCount(db))
        }
        print(
            "snapshot", try snapshot.read { try Item.fetchCount($0) }, "now", try pool.read { try Item.fetchCount($0) })
        let (first, second) = try pool.read { db in
            try pool.write { db in try Item(name: "salt").insert(db) }
            let first = try Item.fetchCount(db)
            try pool.write { db in _ = try Item.deleteOne(db, key: "salt") }
            return (first, try Item.fetchCount(db))
        }
        print("committed before the first statement of a read", first, "after it", second)
        try pool.writeInTransaction(.immediate) { db in
            try Item(name: "oil").insert(db)
            return .rollback
        }
        print(
            try pool.unsafeReentrantWrite { db in
                try pool.unsafeReentrantWrite { inner in try Item(name: "cheese").insert(inner) }
                return try Item.fetchCount(db)
            })
        let done = DispatchSemaphore(value: 0)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE item SET amount = 2")
            pool.asyncConcurrentRead { result in
                print(
                    "concurrent",
                    (try? result.get()).flatMap { try? Int.fetchOne($0, sql: "SELECT SUM(amount) FROM item") } ?? -1)
                done.signal()
            }
            done.wait()
        }
        pool.asyncRead { result in
            print("asyncRead", (try? Item.fetchCount(result.get())) ?? -1)
            done.signal()
        }
        done.wait()
        pool.asyncWrite(
            { try Item(name: "olives").insert($0) },
            completion: { db, result in
                print("asyncWrite", (try? result.get()) != nil, (try? Item.fetchCount(db)) ?? -1)
                done.signal()
            })
        done.wait()
        let reader: any DatabaseReader = pool
        print(try AnyDatabaseReader(reader).read { try Item.fetchCount($0) }, reader.configuration.maximumReaderCount)
        pool.releaseMemory()
        try pool.writeWithoutTransaction { print(try $0.checkpoint(.passive).walFrameCount >= 0) }
    }

    private static func copies(_ pool: DatabasePool, folder: URL) throws {
        let copyPath = folder.appendingPathComponent("copy.sqlite").path
        let copy = try DatabaseQueue(path: copyPath)
        try pool.backup(to: copy, pagesPerStep: 1) { progress in
            if progress.isCompleted { print("copied", progress.remainingPageCount) }
        }
        try copy.close()
        var readonly = Configuration()
        readonly.readonly = true
        let reading = try DatabaseQueue(path: copyPath, configuration: readonly)
        print(try reading.read { try Item.fetchCount($0) })
        do {
            try reading.write { _ = try Item.deleteAll($0) }
        } catch DatabaseError.SQLITE_READONLY {
            print("read only")
        }
        let inMemory = try DatabaseQueue.inMemoryCopy(fromPath: copyPath)
        print(try inMemory.write { try Item.deleteAll($0) }, try reading.read { try Item.fetchCount($0) })
        try pool.vacuum(into: folder.appendingPathComponent("vacuumed.sqlite").path)
        print(
            try DatabaseQueue(path: folder.appendingPathComponent("vacuumed.sqlite").path).read {
                try Item.fetchCount($0)
            })
        let shared = try DatabaseQueue(named: "shared \(UUID())")
        print(shared.path.hasPrefix("file:"), try DatabaseQueue().path)
    }

    private static func dumps(_ reader: some DatabaseReader) throws {
        let formats: [any DumpFormat] = [
            .debug(), .debug(header: true), .json(), .line(), .list(header: true, separator: ", "),
            .quote(header: true),
        ]
        for format in formats {
            let stream = Lines()
            try reader.dumpRequest(Item.order(Column("name")), format: format, to: stream)
            print(stream.text)
        }
        let stream = Lines()
        try reader.dumpTables(["item", "pair"], tableHeader: .always, to: stream)
        try reader.dumpSQL("SELECT 1 AS a; SELECT NULL, 'x'", format: .list(), to: stream)
        try reader.dumpSchema(to: stream)
        try reader.dumpContent(format: .quote(), to: stream)
        print(stream.text)
    }
}

/// Gathers what is dumped.
private final class Lines: TextOutputStream {
    private(set) var text = ""

    func write(_ string: String) {
        text += string
    }
}

private struct Repository {
    let writer: any DatabaseWriter

    func prepare() async throws {
        try await writer.write { db in
            try db.create(table: "item") { t in
                t.primaryKey("name", .text)
                t.column("amount", .double).notNull().defaults(to: 1)
            }
            try db.create(table: "pair") { t in
                t.column("a", .integer)
                t.column("b", .blob)
            }
            try db.execute(sql: "INSERT INTO pair VALUES (NULL, x'0061FF'), (NULL, 'text')")
        }
    }

    func add(_ name: String) async throws -> String {
        try await writer.write { try Item(name: name).inserted($0).name }
    }

    func count() async throws -> Int {
        try await writer.read(Item.fetchCount)
    }
}

private struct Item: Codable, FetchableRecord, PersistableRecord {
    var name: String
    var amount = 1.0
}

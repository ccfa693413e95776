import ArgumentParser
import Foundation
import Quarry
import QuarryShared
import Synchronization

/// Measures a folder of many databases of which few are open.
@main
struct QuarryTenants: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarry-tenants", abstract: "Measure a database for each tenant, of which a few are open.")

    @Option(help: "The number of databases.")
    var tenants = 10_000

    @Option(help: "The number of databases that are open at most.")
    var open = 100

    @Option(help: "The number of tasks.")
    var tasks = 64

    @Option(help: "Seconds for each figure.")
    var seconds = 5.0

    @Option(help: "A folder on the disk to measure.")
    var folder = FileManager.default.temporaryDirectory.path

    func run() async throws {
        let path = folder + "/quarry-tenants-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);
                    INSERT INTO item WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100)
                        SELECT i, 'item ' || i, i / 3.0 FROM c
                    """)
        }
        migrator.registerMigration("v2") { db in try db.execute(sql: "CREATE INDEX item_name ON item (name)") }
        var configuration = Quarry.Configuration()
        configuration.maximumReaderCount = 2
        let directory = try DatabaseDirectory(
            path: path, maximumOpenCount: open, configuration: configuration, migrator: migrator)

        let start = now()
        try await eachTask { task in
            for tenant in stride(from: task, to: tenants, by: tasks) { try await read(directory, tenant) }
        }
        let creation = Double(now() - start) / 1e9
        print("created \(tenants) databases in \(String(format: "%.1f", creation)) s; \(ProcessUse())")

        try singleOpenings(directory, path, configuration, migrator)
        try await measure("the same \(open) databases, reads", directory) { Int.random(in: 0..<open) }
        try await measure("nine of ten reads in \(open / 2) databases", directory) {
            Int.random(in: 0..<10) > 0 ? Int.random(in: 0..<(open / 2)) : Int.random(in: 0..<tenants)
        }
        try await measure("reads everywhere", directory) { Int.random(in: 0..<tenants) }
        try await measure("writes everywhere", directory, writes: true) { Int.random(in: 0..<tenants) }
        let handles = try (0..<tenants).map { try directory.database(named: "\($0)") }
        print("with an object for each database: \(ProcessUse()), \(handles.count) objects")
        try await measure("reads everywhere, objects kept", directory) { handles.indices.randomElement() ?? 0 }
        try await directory.closeAsync()
        print("all closed: \(ProcessUse())")
    }

    private func read(_ directory: DatabaseDirectory, _ tenant: Int) async throws {
        try await directory.database(named: "\(tenant)").read { db in
            guard try String.fetchOne(db, sql: "SELECT name FROM item WHERE id = 50") == "item 50" else {
                throw ValidationError("\(tenant) is empty")
            }
        }
    }

    /// Opens, reads and closes one database after the other, as pools and in the directory.
    private func singleOpenings(
        _ directory: DatabaseDirectory, _ path: String, _ configuration: Quarry.Configuration,
        _ migrator: DatabaseMigrator
    ) throws {
        let count = min(500, tenants)
        func median(_ body: (Int) throws -> Void) rethrows -> Double {
            var times: [UInt64] = []
            for index in 0..<count {
                let start = now()
                try body(index)
                times.append(now() - start)
            }
            return Double(times.sorted()[count / 2]) / 1e3
        }
        let pool = try median { index in
            let pool = try DatabasePool(path: "\(path)/\(index).sqlite", configuration: configuration)
            try pool.read { db in _ = try Int.fetchOne(db, sql: "SELECT id FROM item WHERE id = 50") }
            try pool.close()
        }
        let migrated = try median { index in
            let pool = try DatabasePool(path: "\(path)/\(index).sqlite", configuration: configuration)
            try migrator.migrate(pool)
            try pool.read { db in _ = try Int.fetchOne(db, sql: "SELECT id FROM item WHERE id = 50") }
            try pool.close()
        }
        let single = try DatabaseDirectory(
            path: path, maximumOpenCount: 1, configuration: configuration, migrator: migrator)
        try directory.close()
        let inDirectory = try median { index in
            try single.database(named: "\(index)").read { db in
                _ = try Int.fetchOne(db, sql: "SELECT id FROM item WHERE id = 50")
            }
        }
        try single.close()
        print(
            String(
                format: "open, read, close, us: a pool %.0f; a pool and its migrator %.0f; a place in a directory %.0f",
                pool, migrated, inDirectory))
    }

    private func measure(
        _ name: String, _ directory: DatabaseDirectory, writes: Bool = false,
        tenant: @escaping @Sendable () -> Int
    ) async throws {
        let before = directory.statistics
        let start = now()
        let end = start + UInt64(seconds * 1e9)
        let durations = Mutex<[UInt64]>([])
        let most = Mutex(ProcessUse())
        try await eachTask { task in
            var own: [UInt64] = []
            while true {
                let begin = now()
                if begin >= end { break }
                if writes {
                    try await directory.database(named: "\(tenant())").write { db in
                        try db.execute(sql: "UPDATE item SET price = price + 1 WHERE id = 50")
                    }
                } else {
                    try await read(directory, tenant())
                }
                own.append(now() - begin)
                if task == 0, own.count % 16 == 0 {
                    let use = ProcessUse()
                    most.withLock { $0.keepMaximum(use) }
                }
            }
            durations.withLock { $0 += own }
        }
        let sorted = durations.withLock { $0.sorted() }
        let opened = directory.statistics.openedCount - before.openedCount
        let rate = Double(sorted.count) / (Double(now() - start) / 1e9)
        print(
            String(
                format: "%@: %.0f a second, %.1f %% of them open a database; median %.2f ms, p99 %.2f ms; at most %@",
                name, rate, 100 * Double(opened) / Double(max(1, sorted.count)), Double(sorted[sorted.count / 2]) / 1e6,
                Double(sorted[sorted.count * 99 / 100]) / 1e6, most.withLock { "\($0)" }))
    }

    private func eachTask(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks { group.addTask { try await body(task) } }
            try await group.waitForAll()
        }
    }
}

private func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The descriptors, threads and memory of the process.
struct ProcessUse: CustomStringConvertible {
    var descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    var threads = ProcessUse.status("Threads:")
    var kilobytes = ProcessUse.status("VmRSS:")

    mutating func keepMaximum(_ other: ProcessUse) {
        descriptors = max(descriptors, other.descriptors)
        threads = max(threads, other.threads)
        kilobytes = max(kilobytes, other.kilobytes)
    }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(kilobytes / 1024) MB" }
}

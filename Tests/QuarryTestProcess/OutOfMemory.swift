import CFaultMalloc
import Foundation
import Quarry

/// Runs a small workload again and again: the nth allocation of SQLite fails, for each n of a distance that there is.
///
/// Each failure must be told as one of memory, or have no effect; nothing may stay allocated.
func runOutOfMemory(folder: String, encoding: String, isSticky: Bool, from first: Int64, each stride: Int64) throws {
    let code = fault_malloc_install()
    guard code == 0 else { fail("SQLite doesn't take the allocator: \(code)") }
    var number = 0
    func path() -> String {
        number += 1
        return "\(folder)/\(number).sqlite"
    }
    func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }
    func inUse() -> (bytes: Int64, blocks: Int64) {
        (fault_malloc_bytes_in_use(), fault_malloc_blocks_in_use())
    }

    // SQLite allocates once what it keeps for good.
    for _ in 0..<2 {
        let path = path()
        var workload = MemoryWorkload(path: path, encoding: encoding)
        try workload.run()
        remove(path)
    }
    let before = inUse()
    var nth = first - stride
    var told = 0
    /// An opening that fails once gives memory back, tries again, and succeeds.
    var reopened = 0
    var wasReached = true
    while wasReached {
        nth += stride
        let path = path()
        var workload = MemoryWorkload(path: path, encoding: encoding)
        fault_malloc_arm(nth, isSticky ? 1 : 0)
        var thrown: (any Error)?
        do { try workload.run() } catch { thrown = error }
        wasReached = fault_malloc_failures() > 0
        fault_malloc_disarm()
        if let thrown {
            guard let error = thrown as? DatabaseError,
                error.resultCode == .SQLITE_NOMEM || error.extendedResultCode == .SQLITE_IOERR_NOMEM,
                error.message?.contains("out of memory") == true || error.resultCode == .SQLITE_IOERR
            else { throw Wrong("allocation \(nth), while \(workload.step): \(thrown)") }
            guard wasReached else { throw Wrong("allocation \(nth), of which there are fewer: \(error)") }
            told += 1
        } else if workload.failedStep?.hasPrefix("opening") ?? false {
            reopened += 1
        }
        do { try workload.checkUsable() } catch {
            throw Wrong("allocation \(nth), after \(workload.step): not usable: \(error)")
        }
        workload.end()
        remove(path)
        let after = inUse()
        guard after == before else {
            throw Wrong("allocation \(nth), while \(workload.step): in use before: \(before), afterwards: \(after)")
        }
    }
    say("\(nth) allocations, \(told) errors, \(reopened) reopened")
}

/// Opens, creates, inserts, reads, calls functions, rolls back, copies, and closes.
struct MemoryWorkload {
    let path: String
    let encoding: String
    private(set) var step = "nothing" {
        didSet { if failedStep == nil, fault_malloc_failures() > 0 { failedStep = oldValue } }
    }
    /// The step in which memory ran out, once that has ended.
    private(set) var failedStep: String?
    private var queue: DatabaseQueue?
    private var pool: DatabasePool?

    init(path: String, encoding: String) {
        self.path = path
        self.encoding = encoding
    }

    mutating func run() throws {
        step = "opening a queue"
        var configuration = Configuration()
        // A checkpoint of the library's would run on another thread: it would take the failing allocation, or keep the
        // pool open when the blocks in use are counted.
        configuration.wal = .unmanaged
        configuration.prepareDatabase { [encoding] db in
            try db.execute(sql: "PRAGMA encoding = '\(encoding)'")
            db.add(
                function: DatabaseFunction("size", argumentCount: 1) { values in
                    switch values[0].storage {
                    case .blob(let bytes): bytes.count
                    case .string(let text): text.utf8.count
                    case .null: nil
                    default: -1
                    }
                })
            db.add(
                collation: DatabaseCollation("reversed") { left, right in
                    left == right ? .orderedSame : left < right ? .orderedDescending : .orderedAscending
                })
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        self.queue = queue

        step = "writing"
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE reversed, b BLOB)")
            for (name, bytes) in Self.rows {
                try db.execute(sql: "INSERT INTO t (name, b) VALUES (?, ?)", arguments: [name, bytes])
            }
        }

        step = "reading"
        try queue.read { db in
            try expect(String.fetchAll(db, sql: "SELECT name FROM t ORDER BY id"), Self.rows.map(\.0))
            try expect(String?.fetchAll(db, sql: "SELECT name FROM t ORDER BY id"), Self.rows.map(\.0))
            try expect(String.fetchOne(db, sql: "SELECT name FROM t WHERE id = 2"), Self.rows[1].0)
            try expect(String.fetchOne(db, sql: "SELECT 'Zoë' || name FROM t WHERE id = 1"), "Zoë" + Self.rows[0].0)
            try expect(
                DatabaseValue.fetchOne(db, sql: "SELECT name FROM t WHERE id = 2"), Self.rows[1].0.databaseValue)
            let rows = try Row.fetchAll(db, sql: "SELECT id, name, b, zeroblob(5000) AS z FROM t ORDER BY id")
            try expect(rows.map { $0["name"] as String }, Self.rows.map(\.0))
            try expect(rows.map { $0["b"] as [UInt8] }, Self.rows.map(\.1))
            try expect(rows.map { ($0["z"] as [UInt8]).count }, [5000, 5000, 5000])
            try expect([UInt8].fetchOne(db, sql: "SELECT zeroblob(3000)")?.count, 3000)
            let cursor = try Row.fetchCursor(db, sql: "SELECT name, b FROM t ORDER BY name")
            var names: [String?] = []
            while let row = try cursor.next() { names.append(row[0]) }
            try expect(names, Self.rows.map(\.0).sorted(by: >))
        }

        step = "calling functions"
        try queue.read { db in
            try expect(Int.fetchOne(db, sql: "SELECT size(zeroblob(2000))"), 2000)
            try expect(Int.fetchOne(db, sql: "SELECT size(name) FROM t WHERE id = 1"), Self.rows[0].0.utf8.count)
            try expect(Int.fetchOne(db, sql: "SELECT size(b) FROM t WHERE id = 1"), Self.rows[0].1.count)
        }

        step = "rolling back"
        try queue.inTransaction { db in
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM t WHERE id = 1")
                return .rollback
            }
            try db.execute(sql: "UPDATE t SET name = name || '!'")
            return .rollback
        }
        try queue.read { db in try expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t"), 3) }

        step = "opening a copy"
        let copy = try DatabaseQueue()
        step = "copying"
        try queue.backup(to: copy)
        try copy.read { db in try expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t"), 3) }
        try expect(queue.read { db in try db.serialize() }.count > 0, true)
        try copy.close()

        step = "closing a queue"
        try queue.close()
        self.queue = nil

        step = "opening a pool"
        let pool = try DatabasePool(path: path, configuration: configuration)
        self.pool = pool
        step = "reading and writing in a pool"
        try pool.write { db in try db.execute(sql: "INSERT INTO t (name) VALUES ('pool')") }
        try pool.read { db in try expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t"), 4) }
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        step = "closing a pool"
        try pool.close()
        self.pool = nil
    }

    /// Connections that were open when an error came can be used afterwards.
    func checkUsable() throws {
        for writer in [queue, pool] as [(any DatabaseWriter)?] {
            guard let writer else { continue }
            // No lock is left, even before it is used again.
            if !step.hasPrefix("closing") {
                var configuration = Configuration()
                configuration.busyMode = .immediateError
                let other = try DatabaseQueue(path: path, configuration: configuration)
                try other.write { db in try db.execute(sql: "PRAGMA user_version = 1") }
                try other.close()
            }
            do {
                try writer.write { db in
                    guard !step.hasPrefix("writing") else { return }
                    try expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t").map { $0 >= 3 }, true)
                }
                try expect(
                    writer.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") }, ["ok"])
            } catch DatabaseError.SQLITE_MISUSE where step.hasPrefix("closing") {
                continue
            }
        }
    }

    /// Closes what is open.
    mutating func end() {
        queue = nil
        pool = nil
    }

    private static let rows: [(String, [UInt8])] = [
        ("Arthur", [1, 2, 3]), (String(repeating: "Bärbel ", count: 200), [UInt8](repeating: 7, count: 3000)), ("", []),
    ]

    private func expect<T: Equatable>(_ value: T, _ expected: T) throws {
        guard value == expected else { throw Wrong("\(value) instead of \(expected)") }
    }
}

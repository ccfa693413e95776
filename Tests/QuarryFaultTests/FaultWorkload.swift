import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A fixed workload on one database: it opens, creates a schema, inserts, updates, reads, takes a checkpoint, backs up,
/// rebuilds the file, deletes, and closes.
struct FaultWorkload {
    enum Kind: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case queue
        case walQueue
        case pool
        var testDescription: String { rawValue }
    }

    /// A step, named for what it does.
    struct Step: Sendable {
        var name: String
        var run: @Sendable (inout FaultWorkload) throws -> Void
    }

    let kind: Kind
    let path: String
    let copyPath: String
    let vfs: String?
    private(set) var writer: (any DatabaseWriter)?
    private(set) var copy: DatabaseQueue?

    init(_ kind: Kind, folder: String, vfs: String? = nil) {
        self.kind = kind
        self.vfs = vfs
        path = folder + "/db"
        copyPath = folder + "/copy"
    }

    mutating func open() throws {
        var configuration = Configuration()
        configuration.vfs = vfs
        configuration.synchronous = .full
        // Pages are written before the commit.
        configuration.cacheSize = 8192
        if kind == .walQueue { configuration.journalMode = .wal }
        writer =
            kind == .pool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    func write(_ updates: (Database) throws -> Void) throws { try writer?.write(updates) }

    static let steps = [
        Step(name: "open") { try $0.open() },
        Step(name: "schema") { workload in
            try workload.write { db in
                try db.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER, b BLOB)")
                try db.execute(sql: "CREATE INDEX aByN ON a (n)")
                try db.execute(sql: "CREATE TABLE b (k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID")
            }
        },
        Step(name: "inserts") { workload in
            try workload.write { db in
                for n in 1...24 {
                    try db.execute(sql: "INSERT INTO a (n, b) VALUES (?, zeroblob(900))", arguments: [n])
                    try db.execute(sql: "INSERT INTO b VALUES (?, ?)", arguments: ["key \(n)", n])
                }
            }
        },
        Step(name: "updates") { workload in
            try workload.write { db in
                try db.execute(sql: "UPDATE a SET n = n + 100, b = zeroblob(1000) WHERE id % 2 = 0")
                try db.execute(sql: "UPDATE b SET v = v * 2")
            }
        },
        Step(name: "reads") { workload in
            let values = try workload.writer?.read { db in
                try Int.fetchAll(db, sql: "SELECT n FROM a WHERE length(b) > 0 ORDER BY id")
            }
            guard values == (1...24).map({ $0 % 2 == 0 ? $0 + 100 : $0 }) else { throw Wrong("read: \(values ?? [])") }
        },
        Step(name: "checkpoint") { workload in
            try workload.writer?.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        },
        Step(name: "backup") { workload in
            var configuration = Configuration()
            configuration.vfs = workload.vfs
            let copy = try DatabaseQueue(path: workload.copyPath, configuration: configuration)
            workload.copy = copy
            try workload.writer?.backup(to: copy)
            try copy.close()
        },
        Step(name: "delete") { workload in
            try workload.write { db in
                try db.execute(sql: "DELETE FROM a WHERE id > 12")
                try db.execute(sql: "DELETE FROM b WHERE v > 10")
            }
        },
        Step(name: "vacuum") { try $0.writer?.vacuum() },
        Step(name: "close") { try $0.writer?.close() },
    ]

    /// The content of the database: its schema, and sums of its tables.
    static func state(_ db: Database) throws -> [String] {
        var state = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        guard !state.isEmpty else { return [] }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT COUNT(*), SUM(n), SUM(id), SUM(length(b)), (SELECT SUM(v) FROM b), (SELECT COUNT(*) FROM b)
                FROM a
                """)
        state.append(row?.description ?? "")
        return state
    }

    /// The state before the first step and after each.
    static func states(_ kind: Kind) throws -> [[String]] {
        let folder = try TemporaryFolder(isFast: true)
        var workload = FaultWorkload(kind, folder: folder.path)
        var states: [[String]] = [[]]
        for step in steps {
            try step.run(&workload)
            states.append(step.name == "close" ? states.last! : try workload.writer?.read(state) ?? [])
        }
        return states
    }

    struct Wrong: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }
}

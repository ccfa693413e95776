import Quarry
import QuarryCore
import QuarryShared
import QuarryTestSupport
import Testing

extension UnderLoad {
    /// Databases that are closed and served again, all the time, beside accesses inside accesses: no access has the
    /// connection of another, none fails without a reason, and each acknowledged write is in the database.
    @Suite struct SharedClosingTests {
        @Test func closingAndServingAgain() async throws {
            let output = try ProcessOutput()
            let seed = StressLength.seed(of: "SharedClosingTests")
            await #expect(processExitsWith: .success) {
                [seed = seed as UInt64, path = output.path as String] in
                ProcessOutput.go(to: path)
                do {
                    try await SharedClosingRun(seed: seed).run()
                } catch {
                    Issue.record("seed \(seed): \(error)")
                }
            }
            try output.show()
        }
    }
}

final class SharedClosingRun: Sendable {
    /// The databases that are closed and served again.
    private enum Kind: CaseIterable {
        case shared
        /// As `shared`, with a grace period, in which accesses that come are refused.
        case sharedWithGrace
        /// A pool whose closing fails, because a statement is left.
        case pool
        /// Two databases with one place.
        case directory
    }

    private enum Use: CaseIterable {
        case writeInRead, readInWrite, snapshotInRead, write, read, barrier, reentrantWrite
    }

    private static let accessCount = 200

    private let seed: UInt64
    private let faults = Recorded<[String]>([])
    private let counts = Recorded<[String: Int]>([:])
    /// The number of accesses that have ended.
    private let endCount = Recorded(0)
    /// The use of each thread and task.
    private let states = Recorded<[Int: String]>([:])

    init(seed: UInt64) { self.seed = seed }

    func run() async throws {
        Watchdog.start("SharedClosingTests, seed \(seed)") { [states] in "\(states.value)" }
        var generator = SeededGenerator(seed: seed)
        let end = StressLength.end(ofPart: 1)
        repeat {
            for kind in Kind.allCases where faults.value.isEmpty { try await round(kind, generator.next()) }
        } while SystemClock.monotonicNanoseconds() < end && faults.value.isEmpty
        print("SharedClosingTests: \(counts.value.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        if !faults.value.isEmpty { Issue.record("seed \(seed):\n\(faults.value.prefix(20).joined(separator: "\n"))") }
    }

    private func round(_ kind: Kind, _ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder(isFast: true)
        var configuration = Configuration()
        configuration.maximumReaderCount = Int.random(in: 1...4, using: &generator)
        configuration.asyncExecution = [.automatic, .inline, .offloaded].randomElement(using: &generator)!
        let directory = try DatabaseDirectory(path: folder.path, maximumOpenCount: 1, configuration: configuration)
        let databases: [any DatabaseWriter] =
            switch kind {
            case .shared, .sharedWithGrace:
                [SharedDatabase(path: folder.file("a.sqlite"), configuration: configuration)]
            case .pool: [try DatabasePool(path: folder.file("a.sqlite"), configuration: configuration)]
            case .directory: [try directory.database(named: "a"), try directory.database(named: "b")]
            }
        for database in databases {
            try await database.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        }
        let left = try await kind == .pool ? onOwnThread { try LeftStatement(databases[0]) } : nil
        let acknowledged = databases.map { _ in Recorded<Set<Int>>([]) }
        let isOver = Recorded(false)
        let threads = (0..<Int.random(in: 1...3, using: &generator)).map { index in
            OwnThread("thread \(index)") { self.use(databases, acknowledged, kind, seed, index) }
        }
        let tasks = (4..<6).map { index in Task { await self.useAsync(databases, acknowledged, kind, seed, index) } }
        let closer = OwnThread("a closer") {
            var generator = SeededGenerator(seed: seed, index: 6)
            while !isOver.value {
                let count = self.endCount.value
                self.attempt(6, "close", kind, isClosing: true) { try self.close(databases, kind, &generator) }
                // Two that close a pool in turns would let no access run.
                try spin(until: "an access ends") { self.endCount.value != count || isOver.value }
            }
        }
        let asyncCloser = Task {
            var generator = SeededGenerator(seed: seed, index: 7)
            while !isOver.value {
                let count = self.endCount.value
                await self.attemptAsync(7, "close", kind, isClosing: true) {
                    try await self.closeAsync(databases, kind, Int.random(in: 0..<4, using: &generator))
                }
                try await until("an access ends") { self.endCount.value != count || isOver.value }
            }
        }
        for thread in threads { try await thread.value(within: .infinity) }
        for task in tasks { await task.value }
        isOver.update { $0 = true }
        try await closer.value(within: .infinity)
        try await asyncCloser.value
        for (database, acknowledged) in zip(databases, acknowledged) {
            let rows = try await database.read { db in try Set(Int.fetchAll(db, sql: "SELECT id FROM t")) }
            let difference = rows.symmetricDifference(acknowledged.value)
            if !difference.isEmpty { faults.update { $0.append("\(kind): rows \(difference.sorted().prefix(10))") } }
        }
        try await onOwnThread { left?.remove() }
    }

    // MARK: - Closing

    private func close(
        _ databases: [any DatabaseWriter], _ kind: Kind, _ generator: inout SeededGenerator
    ) throws {
        let database = databases.randomElement(using: &generator)!
        let number = Int.random(in: 0..<4, using: &generator)
        guard let shared = database as? SharedDatabase else {
            return try number == 0 ? database.close(gracePeriod: .seconds(600)) : database.close()
        }
        switch number {
        case 0: try shared.close()
        case 1: try shared.withClosedDatabase { files in _ = try files.sizes() }
        case 2 where kind == .sharedWithGrace: try shared.close(gracePeriod: .seconds(600))
        default: try shared.blockade().end()
        }
    }

    private func closeAsync(_ databases: [any DatabaseWriter], _ kind: Kind, _ number: Int) async throws {
        guard let shared = databases[number % databases.count] as? SharedDatabase else {
            return try await databases[0].closeAsync()
        }
        switch number {
        case 0: try await shared.closeAsync()
        case 1: try await shared.withClosedDatabase { files in _ = try files.sizes() }
        case 2 where kind == .sharedWithGrace: try await shared.close(gracePeriod: .seconds(600))
        default: try await shared.blockade().end()
        }
    }

    // MARK: - Accesses

    private func use(
        _ databases: [any DatabaseWriter], _ acknowledged: [Recorded<Set<Int>>], _ kind: Kind, _ seed: UInt64,
        _ index: Int
    ) {
        var generator = SeededGenerator(seed: seed, index: index)
        for number in 0..<Self.accessCount where faults.value.isEmpty {
            let id = index * 1_000_000 + number
            let place = Int.random(in: 0..<databases.count, using: &generator)
            let (database, ids) = (databases[place], acknowledged[place])
            // Half of them are of the kind that has found the fault.
            let use = generator.isOne(in: 2) ? Use.writeInRead : Use.allCases.randomElement(using: &generator)!
            attempt(index, "\(use)", kind) {
                switch use {
                case .writeInRead:
                    try database.read { _ in
                        try Self.insert(id, database)
                        ids.update { _ = $0.insert(id) }
                    }
                case .reentrantWrite:
                    try database.read { _ in
                        try database.unsafeReentrantWrite { db in try Self.insert(id, db) }
                        ids.update { _ = $0.insert(id) }
                    }
                case .readInWrite:
                    try database.write { db in
                        try Self.insert(id, db)
                        try database.read { db in _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                    }
                    ids.update { _ = $0.insert(id) }
                case .snapshotInRead:
                    try database.read { _ in try Self.readSnapshot(of: database) }
                case .write:
                    try Self.insert(id, database)
                    ids.update { _ = $0.insert(id) }
                case .read: try database.read { db in _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                case .barrier:
                    try database.barrierWriteWithoutTransaction { db in try Self.insert(id, db) }
                    ids.update { _ = $0.insert(id) }
                }
            }
        }
        states.update { $0[index] = nil }
    }

    private func useAsync(
        _ databases: [any DatabaseWriter], _ acknowledged: [Recorded<Set<Int>>], _ kind: Kind, _ seed: UInt64,
        _ index: Int
    ) async {
        var generator = SeededGenerator(seed: seed, index: index)
        for number in 0..<Self.accessCount where faults.value.isEmpty {
            let id = index * 1_000_000 + number
            let place = Int.random(in: 0..<databases.count, using: &generator)
            let (database, ids) = (databases[place], acknowledged[place])
            let use = Int.random(in: 0..<4, using: &generator)
            await attemptAsync(index, "async \(use)", kind) {
                switch use {
                case 0: _ = try await database.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
                case 1:
                    try await database.barrierWriteWithoutTransaction { db in try Self.insert(id, db) }
                    ids.update { _ = $0.insert(id) }
                default:
                    try await database.write { db in try Self.insert(id, db) }
                    ids.update { _ = $0.insert(id) }
                }
            }
        }
        states.update { $0[index] = nil }
    }

    private static func insert(_ id: Int, _ database: any DatabaseWriter) throws {
        try database.write { db in try insert(id, db) }
    }

    private static func insert(_ id: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [id])
    }

    private static func readSnapshot(of database: any DatabaseWriter) throws {
        let snapshot =
            try (database as? SharedDatabase)?.makeSnapshot() ?? (database as? DatabasePool)?.makeSnapshot()
        try snapshot?.read { db in _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        try snapshot?.close()
    }

    // MARK: - Results

    private func attempt(
        _ index: Int, _ name: String, _ kind: Kind, isClosing: Bool = false, _ body: () throws -> Void
    ) {
        states.update { $0[index] = "\(kind) \(name)" }
        defer { if !isClosing { endCount.update { $0 += 1 } } }
        do {
            try body()
            count("\(name) ok")
        } catch {
            note(error, name, kind, isClosing)
        }
    }

    private func attemptAsync(
        _ index: Int, _ name: String, _ kind: Kind, isClosing: Bool = false, _ body: () async throws -> Void
    ) async {
        states.update { $0[index] = "\(kind) \(name)" }
        defer { if !isClosing { endCount.update { $0 += 1 } } }
        do {
            try await body()
            count("\(name) ok")
        } catch {
            note(error, name, kind, isClosing)
        }
    }

    private func count(_ name: String) { counts.update { $0[name, default: 0] += 1 } }

    /// An error that the documentation names is counted, any other is a fault.
    private func note(_ error: any Error, _ name: String, _ kind: Kind, _ isClosing: Bool) {
        let message = (error as? DatabaseError)?.message ?? "\(error)"
        var expected = ["deadlock: "]
        if kind == .sharedWithGrace || kind == .pool { expected.append("Connection is closing") }
        // Snapshots have connections of their own.
        if isClosing { expected.append("unable to close ") }
        guard let reason = expected.first(where: { message.hasPrefix($0) }) else {
            return faults.update { $0.append("\(kind), \(name): \(error)") }
        }
        count("\(isClosing ? "close" : "access"): \(reason)")
    }
}

/// A statement that is left, so that its connection can't be closed.
private final class LeftStatement: @unchecked Sendable {
    // Sendable: it is made, and released, while no access runs.
    private var statement: Statement?

    init(_ database: any DatabaseWriter) throws {
        statement = try database.write { db in try db.makeStatement(sql: "SELECT 1") }
    }

    func remove() { statement = nil }
}

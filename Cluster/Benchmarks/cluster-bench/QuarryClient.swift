import ClusterNode
import Foundation
import Quarry
import QuarryCluster
import Synchronization

/// Quarry at the nodes.
final class QuarryClient: BenchClient {
    let cluster: DatabaseCluster

    static let lookup = "SELECT id, name, score FROM player WHERE id = ?"
    static let rows = "SELECT id, name, score FROM player LIMIT 1000"
    static let update = "UPDATE player SET score = score + 1 WHERE id = ?"

    /// - parameter relayPorts: the ports of this machine by which the nodes are reached; nil to connect to them.
    init(_ addresses: [ClusterNode.NodeAddress], relayPorts: [UInt16]? = nil) throws {
        var configuration = ClusterConfiguration()
        configuration.retriesWrites = true
        // A busy machine must not end a measurement.
        configuration.connectTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        if let relayPorts {
            let ports = Dictionary(uniqueKeysWithValues: zip(addresses.map(\.description), relayPorts))
            configuration.connect = { address, _ in
                try LoopbackSocket.connected(to: ports[address.description] ?? address.port)
            }
        }
        cluster = try DatabaseCluster(
            nodes: addresses.map(\.description), name: "app", configuration: configuration)
    }

    func createTable() throws {
        try cluster.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL) STRICT;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                    INSERT INTO player SELECT i, 'Player ' || i, i % 100 FROM n
                    """)
        }
    }

    func times(_ operation: Operation, _ count: Int) throws -> [UInt64] {
        try (0..<count).map { number in
            let start = DispatchTime.now().uptimeNanoseconds
            try run(operation, number)
            return DispatchTime.now().uptimeNanoseconds - start
        }
    }

    private func run(_ operation: Operation, _ number: Int) throws {
        switch operation {
        case .lookup: try cluster.read { db in try lookUp(number + 1, db) }
        case .lookups: try cluster.read { db in for id in 1...10 { try lookUp(number + id, db) } }
        case .rows:
            let total = try cluster.read { db in
                var (count, total) = (0, 0)
                let rows = try Row.fetchCursor(db, sql: Self.rows)
                while let row = try rows.next() {
                    let name: String = row[1]
                    let score: Int = row[2]
                    count += 1
                    total += name.utf8.count + score
                }
                return count == 1_000 ? total : 0
            }
            if total == 0 { throw BenchFailure("The query doesn't have 1,000 rows.") }
        case .statement: try cluster.writeWithoutTransaction { db in try update(number + 1, db) }
        case .write: try cluster.write { db in try update(number + 1, db) }
        case .writes: try cluster.write { db in for id in 1...10 { try update(number + id, db) } }
        }
    }

    private func lookUp(_ id: Int, _ db: Database) throws {
        guard let row = try Row.fetchOne(db, sql: Self.lookup, arguments: [id]), row[0] == id else {
            throw BenchFailure("Player \(id) is missing.")
        }
    }

    private func update(_ id: Int, _ db: Database) throws {
        try db.execute(sql: Self.update, arguments: [id])
    }

    /// Tasks that write `count` rows each.
    ///
    /// - returns: the nanoseconds of the whole, and of each write.
    func concurrentTimes(_ writerCount: Int, _ count: Int) async throws -> [UInt64] {
        let cluster = cluster
        let start = DispatchTime.now().uptimeNanoseconds
        let times = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for writer in 1...writerCount {
                group.addTask {
                    var times: [UInt64] = []
                    for _ in 0..<count {
                        let start = DispatchTime.now().uptimeNanoseconds
                        try await cluster.write { db in try db.execute(sql: Self.update, arguments: [writer]) }
                        times.append(DispatchTime.now().uptimeNanoseconds - start)
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return [DispatchTime.now().uptimeNanoseconds - start] + times
    }

    /// The longest time between two acknowledged writes of some tasks, while `body` runs.
    func longestGap(_ writerCount: Int, while body: () throws -> Void) async throws -> UInt64 {
        let cluster = cluster
        let log = AcknowledgementLog()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 1...writerCount {
                group.addTask {
                    while !log.isEnding {
                        try await cluster.write { db in try db.execute(sql: Self.update, arguments: [writer]) }
                        log.note()
                    }
                }
            }
            defer { log.end() }
            log.wait(100)
            log.beginMeasuring()
            try body()
            log.wait(20)
            let gap = log.longestGap
            log.end()
            try await group.waitForAll()
            return gap
        }
    }
}

/// A measurement that can't go on.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// When writes were acknowledged.
private final class AcknowledgementLog: Sendable {
    private struct State {
        var count = 0
        var last = DispatchTime.now().uptimeNanoseconds
        var longestGap: UInt64 = 0
        var isEnding = false
    }

    private let state = Mutex(State())

    var isEnding: Bool { state.withLock { $0.isEnding } }
    var longestGap: UInt64 { state.withLock { $0.longestGap } }

    func end() { state.withLock { $0.isEnding = true } }
    func beginMeasuring() { state.withLock { $0.longestGap = 0 } }

    func note() {
        state.withLock { state in
            let now = DispatchTime.now().uptimeNanoseconds
            state.longestGap = max(state.longestGap, now - state.last)
            state.last = now
            state.count += 1
        }
    }

    /// Waits for a number of further acknowledgements.
    func wait(_ count: Int) {
        let end = state.withLock { $0.count } + count
        while state.withLock({ $0.count }) < end { poll(nil, 0, 1) }
    }
}

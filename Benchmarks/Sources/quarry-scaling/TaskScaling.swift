import BenchSupport
import Foundation
import Quarry
import Synchronization

/// Many tasks on one pool at once.
enum TaskScaling {
    static let counts = [1, 10, 100, 1_000, 10_000]

    private static let variants = [
        "automatic": "reads, automatic",
        "offloaded": "reads, offloaded",
        "write": "writes",
    ]

    static func figures(scale: Double, report: (String) -> Void) throws -> [Figure] {
        let names = ["automatic", "offloaded", "write"].compactMap { variants[$0] }
        let x = Figure.Axis.log("tasks at once")
        let none = "no access, the task's turn alone"
        var time = Figure(
            "tasks-time", "Time of an access to one pool", x: x, y: .log("microseconds"), series: names + [none])
        var threads = Figure(
            "tasks-threads", "Threads of the process", x: x, y: .linear("threads, at most"),
            series: ["before the accesses"] + names)
        var memory = Figure(
            "tasks-memory", "Memory of the process", x: x, y: .linear("resident megabytes, at most"),
            series: ["the tasks alone"] + names)
        for count in counts {
            report("\(count) tasks, \(none)")
            let turn = try Measurement(.tasks, "none", count).runInProcess(scale: scale)
            time.add(none, Double(count), turn["nanoseconds"].or(0) / 1_000)
            for (variant, name) in variants.sorted(by: { $0.key < $1.key }) {
                report("\(count) tasks, \(name)")
                let result = try Measurement(.tasks, variant, count).runInProcess(scale: scale)
                time.add(name, Double(count), result["nanoseconds"].or(0) / 1_000)
                threads.add(name, Double(count), result["threads"].or(0))
                memory.add(name, Double(count), result["residentBytes"].or(0) / 1e6)
                if variant == "automatic" {
                    threads.add("before the accesses", Double(count), result["threadsBefore"].or(0))
                    memory.add("the tasks alone", Double(count), result["residentBytesBefore"].or(0) / 1e6)
                }
            }
        }
        return [time, threads, memory]
    }

    /// All tasks exist and wait when the first access begins. Each performs its share of the accesses.
    static func measure(_ variant: String, tasks: Int, scale: Double) throws -> [String: Double] {
        let fixtures = try Fixtures(scale: 0.01) { path, _, players, _ in
            try DatabaseQueue(path: path).write { db in
                try db.execute(sql: "CREATE TABLE player(id INTEGER PRIMARY KEY, score INTEGER NOT NULL)")
                for id in 1...players {
                    try db.execute(sql: "INSERT INTO player VALUES (?, 0)", arguments: [id])
                }
            }
        }
        defer { fixtures.remove() }
        var configuration = Configuration()
        configuration.asyncExecution = variant == "offloaded" ? .offloaded : .automatic
        let pool = try DatabasePool(path: fixtures.readPath, configuration: configuration)
        let writes = variant == "write"
        let accesses = Int(Double(writes ? 20_000 : 100_000) * scale)
        let share = max(1, accesses / tasks)
        let meter = ProcessMeter()
        defer { meter.stop() }

        let keys = fixtures.playerCount
        let access: @Sendable (Int) async throws -> Void = { number in
            let key = number % keys + 1
            if writes {
                try await pool.write { db in
                    try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = ?", arguments: [key])
                }
            } else if variant != "none" {
                _ = try await pool.read { db in
                    try Int.fetchOne(db, sql: "SELECT score FROM player WHERE id = ?", arguments: [key])
                }
            }
        }
        let (times, before) = try waitFor {
            // Statements are compiled and threads are started before the clock starts.
            for number in 0..<2_000 { try await access(number) }
            var times: [Double] = []
            var before = ProcessMeter.Reading()
            for _ in 0..<3 {
                let round = try await run(tasks: tasks, share: share, meter, access)
                times.append(round.nanoseconds)
                if times.count == 1 { before = round.before }
            }
            return (times, before)
        }
        let peak = meter.takePeak()
        if writes {
            let expected = 2_000 + 3 * tasks * share
            let sum = try pool.read { try Int.fetchOne($0, sql: "SELECT sum(score) FROM player") ?? 0 }
            guard sum == expected else {
                throw BenchError.checksumChanged(row: "writes", peer: .quarry, from: expected, to: sum)
            }
        }
        try pool.close()
        return [
            "nanoseconds": times.median / Double(tasks * share),
            "threads": peak.threads,
            "residentBytes": peak.residentBytes,
            "threadsBefore": before.threads,
            "residentBytesBefore": before.residentBytes,
        ]
    }

    private static func run(
        tasks: Int, share: Int, _ meter: ProcessMeter, _ access: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> (nanoseconds: Double, before: ProcessMeter.Reading) {
        let gate = Gate()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    await gate.pass()
                    for number in 0..<share {
                        try await access(task * share + number)
                        // A task that finds all at once would keep its thread, and the others wouldn't run.
                        await Task.yield()
                    }
                }
            }
            while gate.waiterCount < tasks { await Task.yield() }
            let before = meter.takePeak()
            let start = ContinuousClock.now
            gate.open()
            try await group.waitForAll()
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9, before)
        }
    }
}

/// Holds tasks back until all have arrived.
private final class Gate: Sendable {
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    var waiterCount: Int { waiters.withLock { $0.count } }

    func pass() async {
        await withCheckedContinuation { waiter in waiters.withLock { $0.append(waiter) } }
    }

    func open() {
        for waiter in waiters.withLock({ $0 }) { waiter.resume() }
    }
}

extension Double? {
    func or(_ value: Double) -> Double { self ?? value }
}

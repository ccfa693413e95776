import BenchSupport
import CSQLiteBench
import Foundation
import Quarry

/// One value of a thousand to a hundred million bytes.
enum ValueScaling {
    static let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    static func figures(scale: Double, report: (String) -> Void) throws -> [Figure] {
        let x = Figure.Axis.log("bytes of the value")
        let y = Figure.Axis.log("milliseconds a megabyte")
        var read = Figure(
            "value-read", "Time to read one value", x: x, y: y,
            series: ["C, copied into Data", "Data", "String"])
        var write = Figure(
            "value-write", "Time to write one value, with its transaction", x: x, y: y,
            series: ["C", "Data", "String"])
        for size in sizes.map({ max(1_000, Int(Double($0) * scale)) }) {
            report("a value of \(size) bytes")
            let times = try measure(size: size, bytes: Int(400_000_000 * scale))
            for name in read.series.map(\.name) {
                read.add(name, Double(size), times["read " + name].or(0) / Double(size))
            }
            for name in write.series.map(\.name) {
                write.add(name, Double(size), times["write " + name].or(0) / Double(size))
            }
        }
        return [read, write]
    }

    /// The median times in nanoseconds.
    ///
    /// - parameter bytes: how many bytes each way moves at least, while that takes no more than 2,000 repetitions.
    private static func measure(size: Int, bytes: Int) throws -> [String: Double] {
        let fixtures = try Fixtures(scale: 0.01) { path, _, _, _ in
            try DatabaseQueue(path: path).write { db in
                try db.execute(sql: "CREATE TABLE document(id INTEGER PRIMARY KEY, content)")
                try db.execute(sql: "INSERT INTO document VALUES (1, zeroblob(10)), (2, 'a')")
            }
        }
        defer { fixtures.remove() }
        let queue = try DatabaseQueue(path: fixtures.readPath)
        let c = try CConnection(fixtures.readPath)
        let data = Data(repeating: 97, count: size)
        let text = String(repeating: "a", count: size)
        let update = "UPDATE document SET content = ? WHERE id = ?"
        let select = "SELECT content FROM document WHERE id = ?"
        let ways: [(String, () throws -> Int)] = [
            ("write C", { try c.write(data) }),
            (
                "write Data",
                {
                    try queue.write {
                        try $0.execute(sql: update, arguments: [data, 1])
                        return size
                    }
                }
            ),
            (
                "write String",
                {
                    try queue.write {
                        try $0.execute(sql: update, arguments: [text, 2])
                        return size
                    }
                }
            ),
            ("read C, copied into Data", { try c.read().count }),
            ("read Data", { try queue.read { try Data.fetchOne($0, sql: select, arguments: [1])?.count ?? 0 } }),
            (
                "read String",
                { try queue.read { try String.fetchOne($0, sql: select, arguments: [2])?.utf8.count ?? 0 } }
            ),
        ]
        let rounds = 5
        let repetitions = min(2_000, max(1, bytes / size / rounds))
        var times: [String: [Double]] = [:]
        for round in 0...rounds {
            for (name, body) in ways {
                var sum = 0
                let time = try nanoseconds {
                    for _ in 0..<repetitions { sum += try body() }
                }
                guard sum == repetitions * size else {
                    throw BenchError.checksumChanged(row: name, peer: .quarry, from: repetitions * size, to: sum)
                }
                // The first round warms up.
                if round > 0 { times[name, default: []].append(time / Double(repetitions)) }
            }
        }
        return times.mapValues(\.median)
    }
}

/// The same through the C API: statements prepared once.
private final class CConnection {
    private let handle: OpaquePointer
    private var statements: [OpaquePointer] = []

    init(_ path: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let handle
        else { throw BenchError.noResult }
        self.handle = handle
        for sql in [
            "BEGIN IMMEDIATE TRANSACTION", "BEGIN DEFERRED TRANSACTION", "COMMIT TRANSACTION",
            "UPDATE document SET content = ? WHERE id = 1", "SELECT content FROM document WHERE id = 1",
        ] {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
                throw BenchError.noResult
            }
            statements.append(statement)
        }
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func write(_ data: Data) throws -> Int {
        try run(statements[0])
        try data.withUnsafeBytes { bytes in
            // The bytes stay where they are until the statement has run.
            guard sqlite3_bind_blob64(statements[3], 1, bytes.baseAddress, UInt64(bytes.count), nil) == SQLITE_OK else {
                throw BenchError.noResult
            }
            try run(statements[3])
        }
        sqlite3_clear_bindings(statements[3])
        try run(statements[2])
        return data.count
    }

    func read() throws -> Data {
        try run(statements[1])
        guard sqlite3_step(statements[4]) == SQLITE_ROW, let bytes = sqlite3_column_blob(statements[4], 0) else {
            throw BenchError.noResult
        }
        let data = Data(bytes: bytes, count: Int(sqlite3_column_bytes(statements[4], 0)))
        sqlite3_reset(statements[4])
        try run(statements[2])
        return data
    }

    private func run(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchError.noResult }
        sqlite3_reset(statement)
    }
}

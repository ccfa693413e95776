import Foundation
import Quarry
import QuarryCluster

/// Any answers of a node: accesses end in bounded time, throw errors of databases alone, and close their connections. A
/// node that answers rightly again is used again.
enum Sessions {
    /// The longest time for all accesses of an input, in seconds. Their own limits add up to less.
    private static let limit = 30.0

    static func check(_ bytes: [UInt8]) throws {
        let node = FaultyNode(moves: bytes)
        let start = DispatchTime.now().uptimeNanoseconds
        var configuration = ClusterConfiguration()
        configuration.database.maximumReaderCount = 1
        configuration.connectTimeout = .milliseconds(100)
        configuration.statementTimeout = .milliseconds(25)
        configuration.settlementTimeout = .milliseconds(100)
        configuration.connect = { _, _ in try node.connect() }
        func open() throws -> DatabaseCluster {
            try DatabaseCluster(nodes: ["127.0.0.1:9001"], name: "app", configuration: configuration)
        }
        var cluster: DatabaseCluster?
        try attempt(bytes) { cluster = try open() }
        if let cluster {
            for access in accesses { try attempt(bytes) { try access(cluster) } }
        }
        node.answersRightly()
        // A busy machine may exceed the limits of a right answer.
        try succeed("open, after the node has answered rightly again", bytes) { cluster = try cluster ?? open() }
        guard let cluster else { return }
        for access in accesses {
            try succeed("access, after the node has answered rightly again", bytes) { try access(cluster) }
        }
        try attempt(bytes) { try cluster.close() }
        guard node.waitUntilDisconnected(seconds: limit) else {
            throw Violation("a connection is open after the end of its database: \(bytes)")
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        if seconds > limit { throw Violation("the accesses took \(seconds) seconds: \(bytes)") }
    }

    /// Queries whose rows are read, left unread, or returned by a change, and writes.
    private static let accesses: [@Sendable (DatabaseCluster) throws -> Void] = [
        { cluster in
            try cluster.read { db in
                let rows = try Row.fetchAll(db, sql: "SELECT * FROM player WHERE id > ?", arguments: [0])
                for row in rows { for (name, value) in row { _ = "\(name) \(value)" } }
            }
        },
        { cluster in
            try cluster.write { db in
                try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Arthur", 1])
                try db.execute(sql: "UPDATE player SET score = score + 1")
            }
        },
        { cluster in
            try cluster.write { db in
                _ = try Row.fetchAll(db, sql: "INSERT INTO player (name, score) VALUES ('Barbara', 2) RETURNING id")
            }
        },
        { cluster in
            try cluster.read { db in
                for _ in 0..<3 {
                    let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player WHERE id > ?", arguments: [0])
                    _ = try rows.next()
                }
            }
        },
        { cluster in
            try cluster.write { db in try db.execute(sql: "CREATE INDEX IF NOT EXISTS byName ON player (name)") }
        },
    ]

    /// Runs an access that may fail.
    private static func attempt(_ input: [UInt8], _ body: () throws -> Void) throws {
        do {
            try body()
        } catch is DatabaseError {
            return
        } catch {
            throw Violation("\(type(of: error)) is thrown, \(error): \(input)")
        }
    }

    /// Runs an access that succeeds now, or at one of some more attempts.
    private static func succeed(_ subject: String, _ input: [UInt8], _ body: () throws -> Void) throws {
        var failure: DatabaseError?
        for _ in 0..<40 {
            do {
                return try body()
            } catch let error as DatabaseError {
                failure = error
            } catch {
                throw Violation("\(subject): \(type(of: error)) is thrown, \(error): \(input)")
            }
        }
        if let failure { throw Violation("\(subject): \(failure), for \(input)") }
    }

    /// How a node answers. The folder Corpus/sessions has findings, and inputs that reach much code.
    static var seeds: [[UInt8]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Corpus/sessions")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.sorted { $0.path < $1.path }.compactMap { try? [UInt8](Data(contentsOf: $0)) }
    }
}

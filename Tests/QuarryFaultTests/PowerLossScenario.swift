import Foundation
import Quarry
import QuarryTestSupport
import Testing

/// A database whose power goes.
struct PowerLossScenario: CustomTestStringConvertible, Sendable {
    var isPool = false
    var journal: String
    var synchronous: Configuration.SynchronousMode
    /// How many acknowledged commits, the last ones, may be missing.
    var mayLose = 0
    var testDescription: String { "\(isPool ? "pool" : "queue"), \(journal), \(synchronous.rawValue)" }

    /// The scenarios in which what was acknowledged lasts.
    static let durable = [
        // Without a sync of the folder, the journal may be there again, and take the last commit back:
        // https://www.sqlite.org/pragma.html#pragma_synchronous
        PowerLossScenario(journal: "DELETE", synchronous: .full, mayLose: 1),
        PowerLossScenario(journal: "DELETE", synchronous: .extra),
        PowerLossScenario(journal: "TRUNCATE", synchronous: .full),
        PowerLossScenario(journal: "PERSIST", synchronous: .full),
        PowerLossScenario(journal: "WAL", synchronous: .full),
        PowerLossScenario(isPool: true, journal: "WAL", synchronous: .full),
    ]

    /// The scenarios in which the last commits may be missing, and nothing else.
    static let consistent = [
        PowerLossScenario(journal: "WAL", synchronous: .normal, mayLose: .max),
        PowerLossScenario(isPool: true, journal: "WAL", synchronous: .normal, mayLose: .max),
    ]

    /// The settings of the database that is recorded. Its pages are written before the commit.
    ///
    /// - parameter checkpointSize: the pages of the log after which a commit makes a checkpoint.
    func configuration(_ vfs: RecordingVFS, checkpointSize: Int) -> Configuration {
        var configuration = Configuration()
        configuration.vfs = vfs.name
        configuration.synchronous = synchronous
        configuration.cacheSize = 8192
        configuration.prepareDatabase { db in
            if !isPool { try db.execute(sql: "PRAGMA journal_mode = \(journal)") }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointSize)")
        }
        return configuration
    }

    func open(_ path: String, _ configuration: Configuration = Configuration()) throws -> any DatabaseWriter {
        isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }
}

/// A database that isn't as it must be.
struct PowerLossDamage: Error, CustomStringConvertible {
    var description: String
}

extension PowerLoss {
    /// Writes the files, as they may be found, into a new folder that replaces the last.
    func writeSurvivors(to folder: String, using generator: inout SeededGenerator) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, bytes) in survivors(using: &generator) {
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
    }
}

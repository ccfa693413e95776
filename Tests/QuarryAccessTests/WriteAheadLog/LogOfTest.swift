import Foundation
import Quarry
import QuarryFixtures
import QuarryTestSupport

@testable import QuarryAccess

/// A pool or queue whose log is looked at when the test says so, and the events that it has told.
struct LogOfTest: Sendable {
    /// The kinds of databases that have a log.
    static let kinds: [WriterKind] = [.pool, .walQueue]

    let folder: TemporaryFolder
    let writer: any GroupWriter & DatabaseWriter
    let events: Recorded<[WALEvent]>

    /// - parameter change: of settings by which each tick runs a checkpoint.
    /// - parameter clock: one that doesn't tick, by default.
    init(
        _ kind: WriterKind = .pool, clock: IdleClock = IdleClock(seconds: 1e6),
        _ change: (inout Configuration) throws -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder(isFast: true)
        let events = Recorded<[WALEvent]>([])
        self.events = events
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.wal.idleDelay = 0
        configuration.wal.staleReaders = .report(after: 0)
        configuration.maintenance = .off
        configuration.logClock = clock
        configuration.onWALEvent { event in events.update { $0.append(event) } }
        try change(&configuration)
        let path = folder.file("db")
        writer =
            kind == .pool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try writer.write { db in try db.execute(sql: "CREATE TABLE page (a)") }
    }

    var pool: DatabasePool { writer as! DatabasePool }

    var keeper: LogKeeper? { writer.core.logKeeper }

    /// The bytes of the file of the log.
    var fileSize: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.file("db-wal"))
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Writes a row of some kilobytes.
    func write(kilobytes: Int = 1) throws {
        try writer.write { db in
            try db.execute(sql: "INSERT INTO page VALUES (zeroblob(?))", arguments: [kilobytes * 1024])
        }
    }

    /// Lets the clock tick until there was a number of checkpoints in all. An access of the library may have the
    /// writer's connection at a tick: then it isn't idle.
    @discardableResult
    func checkpoint(count: Int) async throws -> WALCheckpoint {
        keeper?.readerDidEnd()
        try await until("checkpoint \(count)") {
            _ = keeper?.tick()
            return checkpoints.count >= count
        }
        return checkpoints[count - 1]
    }

    var checkpoints: [WALCheckpoint] {
        events.value.compactMap { if case .checkpoint(let checkpoint) = $0 { checkpoint } else { nil } }
    }

    var staleReaders: [WALReader] {
        events.value.compactMap { if case .staleReader(let reader) = $0 { reader } else { nil } }
    }

    var endedReaders: [WALReader] {
        events.value.compactMap { if case .readerWasEnded(let reader) = $0 { reader } else { nil } }
    }
}

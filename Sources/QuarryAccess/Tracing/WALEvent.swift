import QuarryCore

/// An event in the life of a write-ahead log.
///
/// ```swift
/// config.onWALEvent { event in
///     switch event {
///     case .checkpoint(let checkpoint): metrics.record(checkpoint.duration)
///     default: logger.warning("\(event)")
///     }
/// }
/// ```
///
/// See `Configuration.onWALEvent(_:)`.
public enum WALEvent: Sendable {
    /// The library has run a checkpoint.
    case checkpoint(WALCheckpoint)

    /// The log is larger than `Configuration.wal.sizeLimit`, because readers use it. The oldest reader comes first;
    /// there is none if the readers belong to other processes.
    case logIsLarge(bytes: Int, readers: [WALReader])

    /// A reader is older than `Configuration.wal.staleReaders` allows, and keeps the log from being emptied. It is
    /// reported once. A backup is a reader, too.
    case staleReader(WALReader)

    /// A stale reader was ended: its reads throw `SQLITE_ABORT`. A backup never is.
    case readerWasEnded(WALReader)

    /// Another process has the file open, and this version of SQLite has a bug by which a file can be corrupted when
    /// one connection runs a checkpoint while another begins the log anew:
    /// <https://www.sqlite.org/wal.html#walresetbug>. Reported once.
    case otherProcessMayCorrupt(processID: Int, sqliteVersion: String)

    /// The library has done the work of `Configuration.maintenance`.
    case maintenance(Duration)

    /// A checkpoint or a maintenance has failed. It is tried again later.
    case failed(any Error)
}

/// A checkpoint that the library has run.
public struct WALCheckpoint: Sendable {
    /// The reason for a checkpoint.
    public enum Reason: String, Sendable, Hashable {
        /// There was no commit for `Configuration.wal.idleDelay`.
        case idle
        /// A commit was in the log alone for `Configuration.wal.ageLimit`.
        case age
        /// The log was larger than `Configuration.wal.sizeLimit`.
        case size
        /// The program has called `maintain(for:)`.
        case requested
    }

    /// The reason.
    public let reason: Reason

    /// The bytes of the log's pages after the checkpoint; 0 if it was emptied.
    public let bytes: Int

    /// The bytes of those pages that are in the database file.
    public let copiedBytes: Int

    /// The time that it has taken, including the wait for readers.
    public let duration: Duration

    /// Whether the next commit begins the log anew.
    public let isEmptied: Bool
}

/// A reader that may keep a write-ahead log from being emptied.
public struct WALReader: Sendable {
    /// The kind of a reader.
    public enum Kind: String, Sendable, Hashable {
        /// A `DatabaseSnapshot` or a `DatabaseSnapshotPool`.
        case snapshot
        /// A `StableReader`.
        case stableReader
        /// A read of a pool that hasn't ended.
        case read
        /// A backup, also one that reads through a snapshot or a stable reader.
        case backup
    }

    /// The kind.
    public let kind: Kind

    /// The label that its maker has given it: that of `makeSnapshot`, or `Database.accessLabel`. By default, a snapshot
    /// or stable reader has the place in the source where it was made; a read has none. A backup of the database itself
    /// has the path of its file.
    public let label: String?

    /// The time since it began to read its state, at least: the beginning of a read is noticed within a second.
    public let age: Duration
}

extension WALReader: CustomStringConvertible {
    /// `the snapshot "Reports.swift:12", which is 61.5 seconds old`
    public var description: String {
        let name =
            switch kind {
            case .snapshot: "snapshot"
            case .stableReader: "stable reader"
            case .read: "read"
            case .backup: "backup"
            }
        let label = label.map { " \"\($0)\"" } ?? ""
        return "the \(name)\(label), which is \(age.tenthsOfSeconds) seconds old"
    }
}

extension Duration {
    /// Seconds, with one digit after the point.
    fileprivate var tenthsOfSeconds: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The state of a write-ahead log.
///
/// ```swift
/// if let log = dbPool.walStatistics { print(log.bytes, log.oldestReader ?? "no reader") }
/// ```
///
/// See `DatabaseReader.walStatistics`.
public struct WALStatistics: Sendable {
    /// The bytes of the log's pages after the last commit.
    public internal(set) var bytes = 0

    /// The number of commits that this queue or pool has written to the log.
    public internal(set) var commitCount = 0

    /// The number of checkpoints that the library has run, SQLite's automatic ones not counted.
    public internal(set) var checkpointCount = 0

    /// The number of those that have emptied the log.
    public internal(set) var emptyingCount = 0

    /// The number of checkpoints and maintenances that have failed.
    public internal(set) var failureCount = 0

    /// The number of maintenances.
    public internal(set) var maintenanceCount = 0

    /// The number of readers that were ended.
    public internal(set) var endedReaderCount = 0

    /// The last checkpoint that the library has run.
    public internal(set) var lastCheckpoint: WALCheckpoint?

    /// The oldest reader of this pool that is known: snapshots, stable readers, backups, and reads that have run for
    /// more than a second.
    public internal(set) var oldestReader: WALReader?
}

import QuarryCore

extension Configuration {
    /// How the write-ahead log of a database is kept small: <https://www.sqlite.org/wal.html>.
    ///
    /// ```swift
    /// var config = Configuration()
    /// config.wal.sizeLimit = 16 << 20        // 16 MiB
    /// config.wal.staleReaders = .end(after: 300)
    /// ```
    ///
    /// The log holds the commits that aren't in the database file yet. A *checkpoint* copies them into it. Once all are
    /// copied, and no reader uses the log any more, the next commit begins the log anew. All checkpoints run on the
    /// connection that writes, between two writes.
    public struct WriteAheadLog: Sendable {
        /// The default settings.
        public init() {}

        /// SQLite's automatic checkpoints alone: nothing below applies, except `networkFileSystems`.
        ///
        /// ```swift
        /// config.wal = .unmanaged
        /// ```
        public static var unmanaged: WriteAheadLog {
            var settings = WriteAheadLog()
            settings.isManaged = false
            return settings
        }

        /// False for SQLite's automatic checkpoints alone.
        private(set) var isManaged = true

        /// The bytes of the log from which a checkpoint waits for running reads to end, so that the log begins anew.
        ///
        /// ```swift
        /// config.wal.sizeLimit = 16 << 20
        /// ```
        ///
        /// After such a checkpoint the file is cut to this size:
        /// <https://www.sqlite.org/pragma.html#pragma_journal_size_limit>.
        public var sizeLimit = 64 << 20

        /// The seconds for which a commit may be in the log alone, while others follow it; nil for no limit.
        public var ageLimit: Double? = 60

        /// The seconds without a commit after which everything is copied into the database file; nil for never.
        public var idleDelay: Double? = 1

        /// The seconds for which writes wait, at most, while a log that is larger than `sizeLimit` waits for running
        /// reads to end. 0: writes never wait for reads.
        public var readerWait = 0.1

        /// The treatment of readers that keep the log from being emptied for long.
        public var staleReaders = StaleReaders.report(after: 60)

        /// The treatment of readers that keep the log from being emptied for long: snapshots, stable readers, and
        /// reads that don't end. Backups are reported, and never ended.
        ///
        /// ```swift
        /// config.wal.staleReaders = .end(after: 300)
        /// ```
        public enum StaleReaders: Sendable, Hashable {
            /// They aren't looked for.
            case ignore
            /// `onWALEvent` is told of a reader that is older than a number of seconds.
            case report(after: Double)
            /// As `report`, and the reader is ended: its reads throw `SQLITE_ABORT`, with a message that says so.
            case end(after: Double)

            /// Seconds; nil if readers aren't looked for.
            var age: Double? {
                switch self {
                case .ignore: nil
                case .report(let age), .end(let age): age
                }
            }
        }

        /// Whether a database in WAL mode may be on a network file system.
        public var networkFileSystems = NetworkFileSystems.refused

        /// Whether a database in WAL mode may be on a network file system, where the connections of several machines
        /// would corrupt it: <https://www.sqlite.org/wal.html#noshm>.
        public enum NetworkFileSystems: Sendable, Hashable {
            /// Opening throws `SQLITE_CANTOPEN`.
            case refused
            /// For a file that one machine uses.
            case allowed
        }
    }

    /// The work that keeps a file in order: done by the library when the database is idle, between two writes.
    ///
    /// ```swift
    /// config.maintenance.interval = 6 * 3600
    /// config.maintenance.analyzes = true
    /// ```
    ///
    /// It needs a log that is managed (`wal`). See `DatabaseWriter.maintain(for:)` to do it when the program wants.
    public struct Maintenance: Sendable {
        /// The default settings.
        public init() {}

        /// No maintenance.
        ///
        /// ```swift
        /// config.maintenance = .off
        /// ```
        public static var off: Maintenance {
            var settings = Maintenance()
            settings.interval = nil
            return settings
        }

        /// The seconds from one maintenance to the next, at least; nil for none.
        public var interval: Double? = 3_600

        /// The seconds that a maintenance may take. Statements that take longer are interrupted.
        public var timeBudget = 0.1

        /// Whether unused pages are removed, in a file whose auto-vacuum mode is incremental:
        /// <https://www.sqlite.org/pragma.html#pragma_incremental_vacuum>.
        public var vacuumsIncrementally = true

        /// Whether the statistics of tables that need it are updated:
        /// <https://www.sqlite.org/pragma.html#pragma_optimize>.
        public var optimizes = true

        /// Whether the statistics of all tables are updated: <https://www.sqlite.org/lang_analyze.html>.
        public var analyzes = false
    }

    /// Tells what happens to the write-ahead log: checkpoints, and the readers that hold it back.
    ///
    /// ```swift
    /// config.onWALEvent { event in
    ///     if case .staleReader(let reader) = event { logger.warning("\(reader)") }
    /// }
    /// ```
    ///
    /// The closure runs on a thread of the library, which has no connection meanwhile.
    ///
    /// - parameter handler: replaces an earlier one.
    public mutating func onWALEvent(_ handler: @escaping @Sendable (WALEvent) -> Void) {
        settings[WALEventHandler.self] = WALEventHandler(receive: handler)
    }

    /// Set by `onWALEvent`.
    var walEventHandler: (@Sendable (WALEvent) -> Void)? { settings[WALEventHandler.self]?.receive }
}

private struct WALEventHandler: Sendable {
    let receive: @Sendable (WALEvent) -> Void
}

extension Configuration.WriteAheadLog {
    /// Throws for invalid numbers.
    func check() throws {
        guard sizeLimit >= 0 else { throw misuse("sizeLimit must be at least 0, not \(sizeLimit)") }
        for (seconds, name) in [
            (ageLimit, "ageLimit"), (idleDelay, "idleDelay"), (readerWait, "readerWait"),
            (staleReaders.age, "staleReaders"),
        ] {
            guard let seconds, !(seconds >= 0) else { continue }
            throw misuse("\(name) must be a number of seconds, not \(seconds)")
        }
    }

    private func misuse(_ message: String) -> DatabaseError {
        DatabaseError.misuse("Configuration.wal.\(message)")
    }
}

extension Configuration.Maintenance {
    /// Throws for invalid numbers.
    func check() throws {
        for (seconds, name) in [(interval, "interval"), (timeBudget, "timeBudget")] {
            guard let seconds, !(seconds >= 0) else { continue }
            throw DatabaseError.misuse("Configuration.maintenance.\(name) must be a number of seconds, not \(seconds)")
        }
    }
}

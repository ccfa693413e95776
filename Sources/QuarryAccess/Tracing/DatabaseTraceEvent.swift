public import QuarryCore

/// Something that has happened in a database, as a `DatabaseTracer` receives it.
///
/// ```swift
/// func receive(_ event: DatabaseTraceEvent) {
///     switch event {
///     case .access(let access): metrics.record(access.hold)
///     case .failure(let failure) where failure.severity >= .error: logger.error("\(failure.error)")
///     default: break
///     }
/// }
/// ```
///
/// Later versions may add cases: a `switch` needs a `default`.
public enum DatabaseTraceEvent: Sendable {
    /// An access has ended.
    case access(Access)

    /// A statement has ended.
    case statement(Statement)

    /// A statement has taken longer than `DatabaseTracing.Options.slowStatementThreshold`.
    case slowStatement(SlowStatement)

    /// A connection was opened.
    case connectionOpened(ConnectionOpening)

    /// A connection was closed.
    case connectionClosed(Connection)

    /// The library has run a checkpoint.
    case checkpoint(Checkpoint)

    /// An access waits for a connection for longer than `DatabaseTracing.Options.waitThreshold`, and goes on waiting.
    case wait(Wait)

    /// A synchronous access has blocked a thread on which tasks run.
    case blockedThread(BlockedThread)

    /// An error was made: it is thrown to the program, even if the program ignores it.
    case failure(Failure)
}

extension DatabaseTraceEvent {
    /// A database.
    public struct Source: Sendable, Hashable {
        /// `Configuration.label`.
        public let label: String?

        /// The path of the file; `:memory:` or a URI in memory.
        public let path: String

        /// The label, or the path.
        public var name: String { label ?? path }

        package init(label: String?, path: String) {
            self.label = label
            self.path = path
        }
    }

    /// A connection of a database.
    public struct Connection: Sendable, Hashable {
        /// The use of a connection.
        public enum Role: String, Sendable, Hashable {
            /// The writer of a pool, or the connection of a queue.
            case writer
            /// A reader of a pool.
            case reader
            /// A connection of a snapshot.
            case snapshot
        }

        /// The database.
        public let database: Source

        /// The use of the connection.
        public let role: Role

        /// The number of the connection, counted from 1 in this process.
        public let number: Int
    }

    /// A time, as clocks on walls show it.
    public struct Timestamp: Sendable, Hashable {
        /// Nanoseconds since 1970-01-01 00:00:00 UTC.
        public let nanosecondsSinceEpoch: UInt64
    }

    /// How an access uses its connection.
    public enum AccessKind: String, Sendable, Hashable {
        /// `read`: a transaction that can't write.
        case read
        /// `write`: a transaction that is committed.
        case write
        /// `unsafeRead`, `writeWithoutTransaction`, `inTransaction` and the like: the closure begins its own
        /// transactions.
        case withoutTransaction
        /// `barrierWriteWithoutTransaction` and the like: no other access runs at the same time.
        case exclusive
    }

    /// The requester of an access.
    public enum Origin: String, Sendable, Hashable {
        /// The program.
        case program
        /// The library: an observation that fetches, a checkpoint.
        case library
    }

    /// An access that is about to wait for its connection.
    public struct AccessBeginning: Sendable {
        /// The number of the access, different for each traced access of the process.
        public let id: Int
        /// The database.
        public let database: Source
        /// The use of the connection.
        public let role: Connection.Role
        /// How the access uses the connection.
        public let kind: AccessKind
        /// The requester.
        public let origin: Origin
        /// Whether the access suspends its task instead of blocking its thread.
        public let isAsynchronous: Bool
        /// The time.
        public let start: Timestamp
    }

    /// An access that has ended.
    public struct Access: Sendable {
        /// How an access ended.
        public enum Outcome: Sendable {
            /// Its closure has returned a value.
            case value
            /// It has thrown an error. A `DatabaseError` is changed as `Failure.error` is.
            case error(any Error)
            /// It has thrown `CancellationError`.
            case cancelled
        }

        /// How the access began: its number, kind, origin and start.
        public let beginning: AccessBeginning
        /// The connection; nil if the access didn't get one.
        public let connection: Connection?
        /// The name that the access has given itself, `Database.accessLabel`.
        public let label: String?
        /// The time until the access had its connection.
        public let wait: Duration
        /// The time for which the access had the connection.
        public let hold: Duration
        /// The number of statements that have begun; 0 unless a tracer asks for statements.
        public let statementCount: Int
        /// How the access ended.
        public let outcome: Outcome
        /// The value that the tracer has returned from `accessWillBegin`.
        public internal(set) var context: (any Sendable)?

        /// The database.
        public var database: Source { beginning.database }
    }

    /// A statement that has ended.
    public struct Statement: Sendable {
        /// The connection.
        public let connection: Connection
        /// The number of the access, `AccessBeginning.id`.
        public let accessID: Int
        /// The name that the access has given itself before the event was delivered.
        public internal(set) var label: String?
        /// The SQL, changed by `DatabaseTracing.Options.redaction`.
        public internal(set) var sql: String
        /// The SQL with its arguments; nil unless `Configuration.publicStatementArguments` is true.
        public let expandedSQL: String?
        /// When the statement began.
        public let start: Timestamp
        /// The time from its beginning to its end, including the time that the program has taken between its rows.
        public let duration: Duration
        /// The number of rows that it has returned.
        public let rowCount: Int
        /// The number of steps in full scans of tables, without an index.
        public let fullScanStepCount: Int
        /// The number of sorts.
        public let sortCount: Int
        /// The number of rows that were put into indexes made for this execution alone.
        public let automaticIndexRowCount: Int
        /// The number of operations of SQLite's virtual machine.
        public let virtualMachineStepCount: Int
        /// How often SQLite has prepared the statement again, because the schema had changed.
        public let repreparationCount: Int
        /// The code of its error; nil if it succeeded.
        public internal(set) var errorCode: ResultCode?
        /// The value that the tracer has returned from `accessWillBegin`.
        public internal(set) var context: (any Sendable)?

        /// The database.
        public var database: Source { connection.database }
    }

    /// A statement that was slow.
    public struct SlowStatement: Sendable {
        /// The statement.
        public internal(set) var statement: Statement
        /// SQLite's plan for it; nil if there was no way to ask: the access was cancelled or has left a transaction
        /// open, the statement defines the schema, or there are many slow statements in one access.
        public let plan: QueryPlan?
    }

    /// A connection that was opened.
    public struct ConnectionOpening: Sendable {
        /// The connection.
        public let connection: Connection
        /// The time that opening it took.
        public let duration: Duration
    }

    /// A checkpoint that the library has run.
    public struct Checkpoint: Sendable {
        /// The database.
        public let database: Source
        /// The checkpoint.
        public let checkpoint: WALCheckpoint
    }

    /// The access that has a connection.
    public struct Holder: Sendable {
        /// The connection.
        public let connection: Connection
        /// The number of the access, `AccessBeginning.id`; nil if it began before the tracer was added.
        public let accessID: Int?
        /// The name that the access has given itself, `Database.accessLabel`.
        public let label: String?
        /// The time for which it has had the connection; nil if it began before the tracer was added.
        public let hold: Duration?
        /// The SQL that it runs or, if none runs, that it has run last; nil if that isn't known.
        public internal(set) var sql: String?
        /// Whether that SQL runs.
        public let isRunning: Bool
    }

    /// An access that waits for a connection.
    public struct Wait: Sendable {
        /// The waiting access.
        public let access: AccessBeginning
        /// The time for which it has waited.
        public let waited: Duration
        /// The accesses that have the connections for which it waits: one for a writer.
        public internal(set) var holders: [Holder]
        /// The number of accesses that wait, including this one.
        public let waiterCount: Int
        /// The value that the tracer has returned from `accessWillBegin`.
        public internal(set) var context: (any Sendable)?

        /// The database.
        public var database: Source { access.database }
    }

    /// A synchronous access that has blocked a thread on which tasks run.
    public struct BlockedThread: Sendable {
        /// The access.
        public let access: AccessBeginning
        /// The time for which the thread was blocked.
        public let waited: Duration
        /// The value that the tracer has returned from `accessWillBegin`.
        public internal(set) var context: (any Sendable)?

        /// The database.
        public var database: Source { access.database }
    }

    /// The severity of an error.
    public enum Severity: Int, Sendable, Hashable, Comparable {
        /// Expected: an access was cancelled or interrupted.
        case debug
        /// Nothing was lost, and the library goes on: a notice of SQLite's, a lock that the library tries again, a
        /// change that a constraint has refused.
        case notice
        /// The library's own work has failed, and is tried again.
        case warning
        /// The program's work has failed.
        case error
        /// The file or the disk is damaged or full: `SQLITE_CORRUPT`, `SQLITE_NOTADB`, `SQLITE_IOERR`, `SQLITE_FULL`.
        case critical

        public static func < (lhs: Severity, rhs: Severity) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// An error.
    public struct Failure: Sendable {
        /// The database.
        public let database: Source
        /// The connection; nil if the access had none.
        public let connection: Connection?
        /// The number of the access, `AccessBeginning.id`; nil outside of accesses.
        public let accessID: Int?
        /// The name that the access has given itself, `Database.accessLabel`.
        public let label: String?
        /// The severity.
        public let severity: Severity
        /// The error. Its SQL is changed by `DatabaseTracing.Options.redaction`, and it has no arguments unless
        /// `Configuration.publicStatementArguments` is true.
        public internal(set) var error: DatabaseError
        /// The value that the tracer has returned from `accessWillBegin`.
        public internal(set) var context: (any Sendable)?
    }
}

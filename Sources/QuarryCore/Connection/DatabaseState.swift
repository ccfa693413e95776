/// The objects that follow the statements and the transactions of a connection.
struct ConnectionWatchers {
    /// Watches changes and transactions, while they are asked for.
    var monitor: (any ConnectionMonitor)?

    /// The region that statements read, while it is asked for.
    var readRegion: ReadRegion?

    /// Decides which statements may be prepared, while SQL of users runs.
    var statementPolicy: (any StatementPolicy)?

    /// The column that is being written through an open blob.
    var writtenBlobColumn: String?

    var accessRecorder: AccessRecorder?

    /// The origin of the commit that the open transaction, or the next one, will make.
    var commitNote: CommitNote?

    /// The number of the last commit, if the file keeps it.
    var storedCommitNumber: StoredCommitNumber?

    /// Follows the access, while it is traced.
    var tracer: (any AccessTracer)?
}

/// A connection's knowledge of its schema.
struct SchemaMemory {
    /// Tells when cached facts about the schema have to be read again.
    var clock = SchemaClock()

    /// Whether a database has been attached. If so, a new table may hide a table that kept statements read.
    var hasAttached = false

    /// Counts the changes by other connections that `noteForeignSchemaChanges` has noticed.
    var foreignSchemaChangeCount = 0

    /// The states of the schemas that `noteForeignSchemaChanges` has last seen.
    var seenSchemas = Database.SeenSchemas()

    /// The SQL of tables and triggers as read at a value of `schemaStamp`.
    var knownDefinitions: (stamp: Int, definitions: [TableName: String?]) = (0, [:])

    /// The views; nil before the first look.
    var knownViews: KnownViews?

    /// The columns of the keys of tables, as read at a value of `schemaStamp`.
    var knownKeyColumns: (stamp: Int, columns: [TableName: KeyColumns?]) = (0, [:])
}

/// The open transaction of a connection, or the next one.
struct OpenTransaction {
    var state = TransactionStateMachine()

    /// The value of `HookSlots.rollbackCount` when the last transaction began.
    var rollbackCountAtBegin = 0

    /// The parts of the open transaction, if writes may share it.
    var parts = TransactionParts()

    /// The date of the current transaction, in seconds since the reference date.
    var seconds: Result<Double, any Error>?

    var nextHandlers: [(onCommit: (Database) -> Void, onRollback: (Database) -> Void)] = []

    /// Nil if no handlers wait.
    var handledRollback: HandledRollback?

    /// The open savepoints.
    var savepoints = SavepointStack()

    /// Whether the last access left a transaction that couldn't be rolled back. The next access begins by rolling it
    /// back.
    var rollbackIsDue = false
}

/// The times of a connection: waits, deadlines, measured accesses.
struct ConnectionClocks {
    /// Whether the time that the body of the next access takes is measured, and the time of the last one in
    /// nanoseconds.
    var timing: (isOn: Bool, runTime: UInt64) = (false, 0)

    var busy = BusyState()

    var deadlines = Deadlines()

    /// Whether a progress handler looks at the deadlines. True from the first deadline of the connection on.
    var watchesDeadlines = false
}

/// The work that runs in a connection.
struct RunningWork {
    /// The running statements, in the order in which they began.
    var statements = ActiveStatements()

    /// The number of statements in a step that run to their end in one call: a function called by one may run another.
    var depth = 0

    /// The blobs that the access has opened and not yet closed.
    var blobs: [OpenBlob] = []

    /// The backup that reads this database; nil if none does.
    weak var backup: OpenBackup?

    /// Whether a backup of this database tells of its progress.
    var isTellingOfBackup = false

    /// The client of `trace(options:_:)`.
    var traceClient: HookSlots.Client?

    /// Whether the running statements are the library's own: `trace(options:_:)` isn't told of them.
    var runsOwnStatements = false
}

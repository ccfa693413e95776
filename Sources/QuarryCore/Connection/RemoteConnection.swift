/// Runs the statements of a connection elsewhere. SQLite prepares them on a local database that has the schema alone,
/// the shadow; rows and changes are at the other end.
///
/// The thread that has the connection calls the methods, one at a time; `interrupt()` may be called from any thread.
package protocol RemoteConnection: AnyObject, Sendable {
    /// Whether changes are refused.
    var isReader: Bool { get }

    /// Whether the other end has an open transaction, or will have one with the next statement.
    var isInsideTransaction: Bool { get }

    /// The version of the schema that the other end has last told; nil before it has.
    var schemaVersion: Int64? { get }

    /// Forgets interruptions, which concern what runs, not what is about to run.
    func willCall()

    /// Runs a query, or a change with RETURNING.
    func query(
        _ sql: String, _ arguments: [DatabaseValue], isReadonly: Bool, _ call: RemoteCall
    ) throws(DatabaseError) -> any RemoteRows

    /// The rowid of the last insertion at the other end.
    var lastInsertedRowID: Int64 { get }

    /// The number of rows that the last change with RETURNING has changed.
    var lastChangesCount: Int { get }

    /// Runs a change that returns no rows.
    func execute(_ sql: String, _ arguments: [DatabaseValue], _ call: RemoteCall) throws(DatabaseError) -> RemoteResult

    /// Begins a transaction with the next statement.
    func begin(_ sql: String, _ call: RemoteCall) throws(DatabaseError)

    /// Commits the transaction. After an error, `isInsideTransaction` tells whether it is still open.
    func commit(_ sql: String, _ call: RemoteCall) throws(DatabaseError)

    /// Rolls the transaction back. If the other end can't be reached, it does so itself.
    func rollback()

    /// Runs a statement that changes a savepoint, the schema or a setting.
    func run(_ sql: String, _ call: RemoteCall) throws(DatabaseError)

    /// Turns foreign keys on or off, outside a transaction.
    func setForeignKeys(on isOn: Bool, _ call: RemoteCall) throws(DatabaseError)

    /// Asks for the version of the schema, unless the open transaction has told it.
    func learnSchemaVersion(_ call: RemoteCall) throws(DatabaseError)

    /// The schema, in the order of its creation.
    func schema(_ call: RemoteCall) throws(DatabaseError) -> [RemoteSchemaEntry]

    /// Whether statements that scan whole tables are reported.
    var reportsScans: Bool { get }

    /// A statement was prepared whose plan scans whole tables.
    func willScan(_ tables: [String], sql: String)

    /// Ends the wait of the running call, which fails with `SQLITE_INTERRUPT`.
    func interrupt()

    /// Closes the connection to the other end.
    func close()
}

/// The limits of a call.
package struct RemoteCall: Sendable {
    /// The time at which the answer is no longer waited for: nanoseconds of the monotonic clock; `UInt64.max` for
    /// never.
    package let deadline: UInt64

    /// Whether the shadow has an open transaction.
    package let isInsideTransaction: Bool
}

/// A row of `sqlite_schema`: <https://www.sqlite.org/schematab.html>.
package struct RemoteSchemaEntry: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case table, index, view, trigger
    }

    package let kind: Kind
    package let name: String
    package let sql: String

    package init(kind: Kind, name: String, sql: String) {
        self.kind = kind
        self.name = name
        self.sql = sql
    }
}

/// The state of the shadow of a remote connection's schema.
struct ShadowState {
    /// Whether the other end has told its schema. The first access asks for it: unlike the opening, it can be
    /// cancelled.
    var isKnown = false

    /// The version of the schema that the shadow has; nil if it isn't known.
    var version: Int64?

    /// Whether the shadow has changed in the open transaction: a rollback takes the change back.
    var hasOpenChange = false

    /// The error with which the other end has lost the last transaction; nil if it hasn't.
    var loss: DatabaseError?

    /// Whether a foreign key is deferred until COMMIT.
    var hasDeferredForeignKeys = false

    /// Whether the other end has run the statement that the shadow is about to run: no deadline keeps it from that.
    var follows = false
}

extension Database {
    /// Throws if the data is elsewhere, where an operation can't be done.
    ///
    /// - parameter operation: what isn't to be had, as the subject of a sentence: "a backup of a connection".
    @inline(__always)
    func checkIsLocal(_ operation: @autoclosure () -> String) throws(DatabaseError) {
        if remote != nil { throw Self.notInACluster(operation()) }
    }

    @inline(never)
    static func notInACluster(_ operation: String, sql: String? = nil) -> DatabaseError {
        DatabaseError.misuse("\(operation): not in a cluster", sql: sql)
    }

    /// Whether the data of the connection is elsewhere, in a cluster.
    package var isRemote: Bool { remote != nil }

    /// Begins a call of the other end.
    ///
    /// - parameter isOfStatement: whether the deadline of the statement that has begun applies.
    func remoteCall(
        _ remote: any RemoteConnection, isOfStatement: Bool = true
    ) throws(DatabaseError) -> RemoteCall {
        remote.willCall()
        // An interruption that came before is forgotten; the flags of a cancelled or ended access are not.
        if access.isCancelled || !access.ignoresCancellation && endError != nil {
            throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
        }
        // A passed deadline would lose the other writes, too.
        let ignoresDeadlines = access.ignoresCancellation || transaction.isShared
        let deadline = isOfStatement ? deadlines.end : deadlines.access?.end ?? .max
        return RemoteCall(
            deadline: ignoresDeadlines ? .max : deadline,
            isInsideTransaction: !ConnectionCalls.isAutocommit(pointer))
    }
}

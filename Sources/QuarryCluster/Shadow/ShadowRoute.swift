import QuarryCore
import Synchronization

/// Runs the statements of a connection to a cluster. SQLite prepares the program's SQL on the shadow, a local database
/// with the schema of the cluster and without rows, so that it tells columns, parameters, tables and mistakes. A
/// statement on virtual tables then takes its place: see `RemoteTable`.
final class ShadowRoute: StatementRoute, @unchecked Sendable {
    // Sendable: the thread that has the connection uses it, but for `isShielded` and `interrupt()`, which use an atomic
    // and the session's waker.

    /// The other end.
    let session: ClusterSession

    /// Has the virtual tables that represent the statements.
    private(set) var tables: ShadowTables?

    /// Whether the other end has told its schema.
    var isKnown = false

    /// The version of the schema that the shadow has; nil if it isn't known.
    var shadowVersion: Int64?

    /// Whether the shadow has changed in the open transaction: a rollback takes the change back.
    var hasOpenChange = false

    /// The error with which the other end has lost the last transaction; nil if it hasn't.
    var loss: DatabaseError?

    /// Whether a foreign key is deferred until COMMIT.
    var hasDeferredForeignKeys = false

    /// Whether the other end has run the statement that the shadow is about to run: no deadline keeps it from that.
    var hasRunStatement = false

    private let shield = Atomic<Bool>(false)

    /// Whether interruptions concern the other end alone: it commits, and the shadow has to follow. Until the next
    /// statement.
    var isShielded: Bool {
        get { shield.load(ordering: .relaxed) }
        set { shield.store(newValue, ordering: .relaxed) }
    }

    init(_ session: ClusterSession) { self.session = session }

    func connectionDidOpen(_ db: Database) throws {
        _ = ConnectionCalls.limit(
            db.pointer, Database.Limit.variableNumber.rawValue, CInt(RemoteTable.maximumArgumentCount))
        let tables = ShadowTables(db, self)
        try tables.addFunction()
        self.tables = tables
    }

    func interrupt() { session.interrupt() }

    func close() { session.close() }

    /// Begins a call of the other end.
    ///
    /// - parameter isOfStatement: whether the deadline of the statement that has begun applies.
    func call(_ db: Database, isOfStatement: Bool = true) throws(DatabaseError) -> RemoteCall {
        session.willCall()
        // An interruption that came before is forgotten; the flags of a cancelled or ended access are not.
        let limits = try db.limitsOfCall(isOfStatement: isOfStatement)
        return RemoteCall(deadline: limits.deadline, isInsideTransaction: limits.isInsideTransaction)
    }

    // MARK: - Preparing

    /// Makes the statement that takes the place of one that was prepared on the shadow.
    func statement(
        _ handle: consuming StatementHandle, sql: Substring, persistent: Bool, _ db: Database
    ) throws -> Statement {
        let text = String(Substring(sql.utf8.skippingSpaceAndComments.droppingTrailingSpace))
        let kind = StatementKind(sql: Substring(text).utf8)
        switch StatementDestination(kind, sql: Substring(text).utf8) {
        case .refused(let operation): throw Database.notInACluster(operation, sql: text)
        case .shadow, .both:
            return db.statement(handle, sql: sql)
        case .remote: break
        }
        let isReadonly = handle.isReadOnly
        let names = handle.columnNames
        var arguments = [text.quotedSQLText, String(RemoteTable.fingerprint(names))]
        for first in stride(from: 0, to: handle.parameterCount, by: RemoteTable.argumentsOfCall) {
            let rest = first..<min(first + RemoteTable.argumentsOfCall, handle.parameterCount)
            let parameters = rest.map { handle.parameterSQL($0 + 1) }.joined(separator: ", ")
            arguments.append("quarry_arguments(\(first), \(parameters))")
        }
        let list = arguments.joined(separator: ", ")
        let carrier: String
        let table: RemoteTable.Kind
        if names.isEmpty {
            table = .execution
            let query = "SELECT rowid FROM \(table.tableName)(\(list))"
            if case .query = kind {
                try tables?.add(.changes)
                carrier = "INSERT INTO \(RemoteTable.Kind.changes.tableName) \(query)"
            } else {
                // A PRAGMA changes no rows.
                carrier = query
            }
        } else {
            table = isReadonly ? .query(columnCount: names.count) : .returning(columnCount: names.count)
            let columns = names.enumerated().map { "c\($0.offset) AS \($0.element.quotedDatabaseIdentifier)" }
            carrier = "SELECT \(columns.joined(separator: ", ")) FROM \(table.tableName)(\(list))"
        }
        try tables?.add(table)
        try checkColumnNames(names, sql: text)
        if session.reportsScans { reportScans(text, db) }
        return try db.statement(
            carriedBy: carrier, sql: Substring(text), isReadonly: isReadonly, persistent: persistent)
    }

    /// Refuses a PRAGMA before it is prepared: SQLite carries out some of them then, even behind EXPLAIN.
    ///
    /// See <https://www.sqlite.org/pragma.html#notes>.
    func statementWillBePrepared(_ sql: Substring.UTF8View) throws(DatabaseError) {
        var rest = sql.skippingSpaceAndComments
        var words = rest.makeWordIterator()
        var word = words.next()
        if word == "EXPLAIN" {
            rest = words.rest.skippingSpaceAndComments
            word = words.next()
            if word == "QUERY", words.next() == "PLAN" {
                rest = words.rest.skippingSpaceAndComments
                word = words.next()
            }
        }
        guard word == "PRAGMA", case .refused(let operation) = RemotePragma(rest).destination else { return }
        throw Database.notInACluster(
            operation, sql: String(Substring(sql.skippingSpaceAndComments.droppingTrailingSpace)))
    }

    /// A node sends pages without end when the names of the columns fill one, of 4,096 bytes.
    private func checkColumnNames(_ names: [String], sql: String) throws(DatabaseError) {
        let size = names.reduce(16) { $0 + ($1.utf8.count + 8) / 8 * 8 }
        guard size >= 4096 else { return }
        throw DatabaseError(
            resultCode: .SQLITE_TOOBIG,
            message:
                "the names of the columns need \(size) bytes: a node has room for 4095. Name long expressions with AS.",
            sql: sql)
    }

    /// Reports the tables that the plan of a statement scans as a whole: <https://www.sqlite.org/eqp.html>.
    private func reportScans(_ sql: String, _ db: Database) {
        guard let details = try? db.lookUp("EXPLAIN QUERY PLAN \(sql)", { StatementColumns.string($0, 3) ?? "" }) else {
            return
        }
        let tables = details.compactMap { detail -> String? in
            guard detail.hasPrefix("SCAN "), !detail.contains("VIRTUAL TABLE"), detail != "SCAN CONSTANT ROW" else {
                return nil
            }
            let table = detail.dropFirst(5).split(separator: " ").first.map(String.init)
            return table?.contains("sqlite_") == true ? nil : table
        }
        if !tables.isEmpty { session.willScan(tables, sql: sql) }
    }
}

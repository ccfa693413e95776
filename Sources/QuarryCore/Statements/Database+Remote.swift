// Statements whose data is elsewhere. SQLite prepares the program's SQL on the shadow, so that it tells columns,
// parameters, tables and mistakes. A statement on virtual tables then takes its place: see `RemoteTable`.

/// Passes the statements of virtual tables to the other end.
final class RemoteTables: RemoteTableClient {
    private unowned let database: Database
    private let remote: any RemoteConnection

    var pendingArguments: [DatabaseValue] = []

    /// The names of the tables that the connection has.
    private var tables: Set<String> = []

    init(_ database: Database, _ remote: any RemoteConnection) {
        self.database = database
        self.remote = remote
    }

    /// Adds the function that all statements with arguments call.
    func addFunction() throws(DatabaseError) {
        let code = RemoteTable.addFunction(client: self, to: database.pointer)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    /// Adds a table, unless the connection has it.
    func add(_ kind: RemoteTable.Kind) throws(DatabaseError) {
        guard !tables.contains(kind.tableName) else { return }
        let code = RemoteTable.add(kind, client: self, to: database.pointer)
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        tables.insert(kind.tableName)
    }

    func rows(
        of sql: String, _ arguments: [DatabaseValue], isReadonly: Bool
    ) throws(DatabaseError) -> any RemoteRows {
        database.traceSending(sql, arguments)
        let rows = try call { call throws(DatabaseError) in
            try remote.query(sql, arguments, isReadonly: isReadonly, call)
        }
        if !isReadonly {
            database.noteRemoteChanges(remote.lastChangesCount, lastInsertedRowID: remote.lastInsertedRowID)
        }
        return rows
    }

    func execute(_ sql: String, _ arguments: [DatabaseValue]) throws(DatabaseError) -> RemoteResult {
        database.traceSending(sql, arguments)
        let result = try call { call throws(DatabaseError) in try remote.execute(sql, arguments, call) }
        // A node answers a PRAGMA with the counts of an earlier statement.
        if case .query = StatementKind(sql: Substring(sql).utf8) { return result }
        return RemoteResult(lastInsertedRowID: result.lastInsertedRowID, changesCount: 0)
    }

    private func call<T>(_ body: (RemoteCall) throws(DatabaseError) -> T) throws(DatabaseError) -> T {
        let call = try database.remoteCall(remote)
        do {
            return try body(call)
        } catch {
            if error.resultCode == .SQLITE_INTERRUPT { database.noteDeadline() }
            throw error
        }
    }
}

extension Database {
    /// Prepares a connection whose data is elsewhere. The first access copies the schema.
    func setUpRemote(_ remote: any RemoteConnection) throws {
        watchersDidChange()
        _ = ConnectionCalls.limit(pointer, Limit.variableNumber.rawValue, CInt(RemoteTable.maximumArgumentCount))
        let tables = RemoteTables(self, remote)
        try tables.addFunction()
        remoteTables = tables
        setupProgress = SetupProgress(meetsRemote: true)
    }

    /// Makes the statement that takes the place of one that was prepared on the shadow.
    func remoteStatement(
        _ handle: consuming StatementHandle, sql: Substring, persistent: Bool
    ) throws -> Statement {
        let text = String(Substring(sql.utf8.skippingSpaceAndComments.droppingTrailingSpace))
        let kind = StatementKind(sql: Substring(text).utf8)
        switch RemoteRoute(kind, sql: Substring(text).utf8) {
        case .refused(let operation): throw Self.notInACluster(operation, sql: text)
        case .shadow, .both:
            return Statement(handle, sql: sql, lifetime: lifetime, schemaStamp: schemaStamp)
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
                try remoteTables?.add(.changes)
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
        try remoteTables?.add(table)
        try checkColumnNames(names, sql: text)
        if let remote, remote.reportsScans { reportScans(text, remote) }
        return try withSQL(carrier) { bytes in
            try unnoted {
                var start = 0
                switch StatementHandle.prepare(
                    pointer, sql: bytes, from: &start, persistent: persistent, finalizer: lifetime)
                {
                case .statement(let carrier):
                    return Statement(
                        carrier, sql: sql, lifetime: lifetime, schemaStamp: schemaStamp, isReadonly: isReadonly)
                case .empty: throw DatabaseError(resultCode: .SQLITE_INTERNAL, sql: text)
                case .failure(let code): throw error(code, sql: text)
                }
            }
        }
    }

    /// Refuses a PRAGMA before it is prepared: SQLite carries out some of them then, even behind EXPLAIN.
    ///
    /// See <https://www.sqlite.org/pragma.html#notes>.
    func checkRemotePragma(_ sql: Substring.UTF8View) throws(DatabaseError) {
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
        guard word == "PRAGMA", case .refused(let operation) = RemotePragma(rest).route else { return }
        throw Self.notInACluster(operation, sql: String(Substring(sql.skippingSpaceAndComments.droppingTrailingSpace)))
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
    private func reportScans(_ sql: String, _ remote: any RemoteConnection) {
        guard let details = try? lookUp("EXPLAIN QUERY PLAN \(sql)", { StatementColumns.string($0, 3) ?? "" }) else {
            return
        }
        let tables = details.compactMap { detail -> String? in
            guard detail.hasPrefix("SCAN "), !detail.contains("VIRTUAL TABLE"), detail != "SCAN CONSTANT ROW" else {
                return nil
            }
            let table = detail.dropFirst(5).split(separator: " ").first.map(String.init)
            return table?.contains("sqlite_") == true ? nil : table
        }
        if !tables.isEmpty { remote.willScan(tables, sql: sql) }
    }

    /// Called before the first step of a statement, which a shadow can't do alone.
    func remoteWillRun(_ statement: Statement, _ remote: any RemoteConnection) throws {
        shadow.follows = false
        lifetime.shieldsShadow = false
        if remote.isReader, statement.mayChange {
            throw traced(
                DatabaseError(
                    resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database", sql: statement.sql))
        }
        do {
            try rebuildShadowIfStale(remote)
        } catch {
            noteRemoteEnd()
            throw error
        }
        // The deadline of the statement begins before its part at the other end.
        if deadlines.isSet { try deadlinesWillSee(statement) }
        let isAutocommit = ConnectionCalls.isAutocommit(pointer)
        // COMMIT would find a deferred violation of any of the writes that share the transaction.
        if shadow.hasDeferredForeignKeys { parts.hasRunOther = true }
        do {
            switch statement.kind {
            case .query: break
            case .begin:
                if isAutocommit { try beginRemotely(statement, remote) }
            case .commit:
                if !isAutocommit { try commitRemotely(statement, remote) }
            case .rollback:
                if !isAutocommit { rollBackRemotely(remote) }
            case .savepoint:
                if isAutocommit {
                    try beginRemotely(statement, remote)
                } else {
                    try remote.run(statement.sql, remoteCall(remote))
                }
            case .release:
                if savepoints.releaseCommits(statement.savepointName) {
                    try commitRemotely(statement, remote)
                } else {
                    try remote.run(statement.sql, remoteCall(remote))
                }
            case .rollbackToSavepoint:
                try remote.run(statement.sql, remoteCall(remote))
                if shadow.hasOpenChange { shadowWillRollBack() }
            case .other, .attachment:
                try otherWillRun(statement, remote)
            }
        } catch let error as DatabaseError {
            remoteDidFail(remote, error)
            noteRemoteEnd()
            throw remoteError(error, sql: statement.sql)
        }
        shadow.follows = true
    }

    /// After an error that no statement of SQLite's reports: tells of the end of the transaction, if it has ended.
    private func noteRemoteEnd() {
        if hasUntoldEnd { noteUntoldEnd() }
    }

    /// The error of a call, as the program sees it: the reason of an interruption, and of the end of a wait for a lock.
    func remoteError(_ error: DatabaseError, sql: String?) -> any Error {
        let isInterruption = error.resultCode == .SQLITE_INTERRUPT
        guard isInterruption || error.resultCode == .SQLITE_BUSY else { return traced(error.with(sql: sql)) }
        if isInterruption {
            if access.isCancelled { return CancellationError() }
            if let endError { return traced(endError.with(sql: sql)) }
        }
        noteDeadline()
        return traced((deadlines.takeError(isInterruption: isInterruption) ?? error).with(sql: sql))
    }

    private func otherWillRun(_ statement: Statement, _ remote: any RemoteConnection) throws {
        switch RemoteRoute(statement.kind, sql: Substring(statement.sql).utf8) {
        case .remote, .refused: break
        case .shadow: try knowShadow(remote)
        case .both:
            if statement.sql.lowercased().hasPrefix("pragma") {
                try remote.run(statement.sql, remoteCall(remote))
            } else {
                try checkDeclaredTypes(ofChange: statement.sql)
                try remote.run(statement.sql, remoteCall(remote))
                // The columns of a statement on virtual tables don't follow the schema.
                forgetKeptStatements()
                if !ConnectionCalls.isAutocommit(pointer) { shadow.hasOpenChange = true }
            }
        }
    }

    private func beginRemotely(_ statement: Statement, _ remote: any RemoteConnection) throws(DatabaseError) {
        shadow.loss = nil
        try remote.begin(statement.sql, remoteCall(remote))
    }

    private func commitRemotely(_ statement: Statement, _ remote: any RemoteConnection) throws(DatabaseError) {
        lifetime.shieldsShadow = true
        do {
            try remote.commit(statement.sql, remoteCall(remote))
        } catch {
            lifetime.shieldsShadow = false
            throw error
        }
        shadow.hasOpenChange = false
    }

    private func rollBackRemotely(_ remote: any RemoteConnection) {
        remote.rollback()
        if shadow.hasOpenChange { shadowWillRollBack() }
        shadow.hasOpenChange = false
    }

    /// The shadow is about to have an earlier schema.
    private func shadowWillRollBack() {
        shadow.version = nil
        forgetKeptStatements()
    }

    /// After an error: lets the transactions of both sides end together.
    func remoteDidFail(_ remote: any RemoteConnection, _ error: any Error) {
        let isAutocommit = ConnectionCalls.isAutocommit(pointer)
        if isAutocommit, remote.isInsideTransaction {
            rollBackRemotely(remote)
        } else if !isAutocommit, !remote.isInsideTransaction {
            if shadow.hasOpenChange { shadowWillRollBack() }
            shadow.hasOpenChange = false
            if let error = error as? DatabaseError, error.isOfLostTransaction { shadow.loss = error }
            runOnShadow("ROLLBACK")
        }
    }

    /// Lets SQLite count rows that were changed at the other end, as if it had run the statement with RETURNING itself.
    func noteRemoteChanges(_ count: Int, lastInsertedRowID: Int64) {
        guard (try? remoteTables?.add(.changes)) != nil else { return }
        runOnShadow(
            """
            WITH RECURSIVE changes(n) AS (
                SELECT 1 WHERE \(count) > 0 UNION ALL SELECT n + 1 FROM changes WHERE n < \(count))
            INSERT INTO \(RemoteTable.Kind.changes.tableName) SELECT \(lastInsertedRowID) FROM changes
            """)
        RemoteTable.setLastInsertedRowID(pointer, lastInsertedRowID)
    }

    /// Runs a statement on the shadow alone.
    ///
    /// - returns: whether it succeeded.
    @discardableResult
    func runOnShadow(_ sql: String) -> Bool { (try? lookUp(sql) { _ in }) != nil }

    // MARK: - Tracing

    /// Tells a tracer the program's statement with its arguments. SQLite knows that of the virtual table alone.
    fileprivate func traceSending(_ sql: String, _ arguments: [DatabaseValue]) {
        guard let tracer, tracer.showsArguments else { return }
        tracer.statementIsSent(arguments.isEmpty ? sql : expandedSQL(sql, arguments) ?? sql)
    }

    private func expandedSQL(_ sql: String, _ arguments: [DatabaseValue]) -> String? {
        withSQL(sql) { bytes in
            unnoted {
                var start = 0
                guard
                    case .statement(let statement) = StatementHandle.prepare(
                        pointer, sql: bytes, from: &start, persistent: false)
                else { return nil }
                for (index, value) in arguments.enumerated() {
                    _ = StatementBindings.bind(value, to: statement.pointer, at: CInt(index + 1))
                }
                return TracedStatementCalls.expandedSQL(statement.pointer)
            }
        }
    }

    // MARK: - Settings

    /// Runs `body` between two changes of the other end's settings; alone if the data is on this machine.
    func withRemoteSettings<T>(
        _ change: () throws -> Void, restore: () throws -> Void, _ body: () throws -> T
    ) throws -> T {
        guard remote != nil else { return try body() }
        try change()
        let result: T
        do {
            result = try body()
        } catch {
            // The first error counts.
            try? restoringSettings(restore)
            throw error
        }
        try restoringSettings(restore)
        return result
    }

    /// Turns foreign keys on or off at the other end, as on the shadow.
    func setForeignKeysRemotely(on isOn: Bool) throws {
        guard let remote else { return }
        do {
            try remote.setForeignKeys(on: isOn, remoteCall(remote))
        } catch {
            remoteDidFail(remote, error)
            throw error
        }
    }

    /// Turns the old meaning of ALTER TABLE on or off at the other end.
    func setLegacyAlterTableRemotely(on isOn: Bool) throws {
        guard let remote else { return }
        try remote.run("PRAGMA legacy_alter_table = \(isOn ? "ON" : "OFF")", remoteCall(remote))
    }
}

extension DatabaseError {
    /// Whether the other end has lost the open transaction with its connection, and nothing was kept: also dqlite's
    /// SQLITE_IOERR_NOT_LEADER.
    fileprivate var isOfLostTransaction: Bool {
        extendedResultCode == .SQLITE_ABORT_ROLLBACK || extendedResultCode.rawValue == 10_250
    }
}

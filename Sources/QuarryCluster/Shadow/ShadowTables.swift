import QuarryCore

/// Passes the statements of the virtual tables of a shadow to the other end.
final class ShadowTables: RemoteTableClient {
    private unowned let database: Database
    private unowned let route: ShadowRoute

    var pendingArguments: [DatabaseValue] = []

    /// The names of the tables that the connection has.
    private var tables: Set<String> = []

    init(_ database: Database, _ route: ShadowRoute) {
        self.database = database
        self.route = route
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
        guard !isReadonly else {
            return try call { call throws(DatabaseError) in
                try route.session.query(sql, arguments, isReadonly: true, call)
            }
        }
        let rows = try change { call throws(DatabaseError) in
            try route.session.query(sql, arguments, isReadonly: false, call)
        }
        RemoteTable.setLastInsertedRowID(database.pointer, route.session.lastInsertedRowID)
        return rows
    }

    func execute(_ sql: String, _ arguments: [DatabaseValue]) throws(DatabaseError) {
        database.traceSending(sql, arguments)
        func execute(_ call: RemoteCall) throws(DatabaseError) -> RemoteResult {
            try route.session.execute(sql, arguments, call)
        }
        guard case .query = StatementKind(sql: Substring(sql).utf8) else {
            // A node answers a PRAGMA with the counts of an earlier statement.
            _ = try call(execute)
            return
        }
        let result = try change(execute)
        route.session.changes.add(result.changesCount)
        if result.changesCount > 0 {
            RemoteTable.setLastInsertedRowID(database.pointer, result.lastInsertedRowID)
        }
    }

    /// Runs an INSERT, UPDATE or DELETE.
    private func change<T>(_ body: (RemoteCall) throws(DatabaseError) -> T) throws(DatabaseError) -> T {
        do {
            return try call(body)
        } catch {
            route.session.changes.statementDidFail()
            throw error
        }
    }

    private func call<T>(_ body: (RemoteCall) throws(DatabaseError) -> T) throws(DatabaseError) -> T {
        let call = try route.call(database)
        do {
            return try body(call)
        } catch {
            if error.resultCode == .SQLITE_INTERRUPT { database.noteDeadline() }
            throw error
        }
    }
}

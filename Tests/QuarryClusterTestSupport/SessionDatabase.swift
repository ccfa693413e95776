internal import CSQLite
internal import QuarryClusterWire

/// The SQLite connection of a session, and its prepared statements. It is used with the cluster's execution lock held.
final class SessionDatabase {
    private let pointer: OpaquePointer
    /// By their ids; a free id is used again, as in dqlite.
    private var statements: [EmulatedStatement?] = []
    /// While true, a commit becomes a rollback: dqlite doesn't replicate the commits of these requests.
    private var refusesCommits = false
    private var hasRefusedCommit = false

    init(path: String) throws(StatementFailure) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw StatementFailure(opened)
        }
        pointer = opened
        sqlite3_extended_result_codes(pointer, 1)
        let setup = "PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0"
        guard sqlite3_exec(pointer, setup, nil, nil, nil) == SQLITE_OK else { throw StatementFailure(pointer) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_commit_hook(
            pointer, { Unmanaged<SessionDatabase>.fromOpaque($0!).takeUnretainedValue().commitIsRefused() },
            context)
    }

    deinit {
        statements = []
        sqlite3_close_v2(pointer)
    }

    private func commitIsRefused() -> Int32 {
        guard refusesCommits else { return 0 }
        hasRefusedCommit = true
        return 1
    }

    /// Runs `body`, and throws `NodeAbort` if it would have committed.
    private func refusingCommits<Result>(_ sql: String, _ body: () throws -> Result) throws -> Result {
        refusesCommits = true
        hasRefusedCommit = false
        defer { refusesCommits = false }
        let result = Swift.Result(catching: body)
        if hasRefusedCommit { throw NodeAbort(reason: "a write that returns rows, outside a transaction: \(sql)") }
        return try result.get()
    }

    /// Ends all statements and the transaction.
    func rollBack() {
        // The reset of a statement with RETURNING would commit it.
        refusesCommits = true
        defer { refusesCommits = false }
        var next = sqlite3_next_stmt(pointer, nil)
        while let statement = next {
            sqlite3_reset(statement)
            next = sqlite3_next_stmt(pointer, statement)
        }
        if sqlite3_get_autocommit(pointer) == 0 { sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil) }
    }

    // MARK: Statements

    func prepare(_ sql: String) throws(StatementFailure) -> (id: UInt32, statement: EmulatedStatement) {
        guard let statement = try firstStatement(of: sql) else { throw .emptyStatement }
        if let free = statements.firstIndex(where: { $0 == nil }) {
            statements[free] = statement
            return (UInt32(free), statement)
        }
        statements.append(statement)
        return (UInt32(statements.count - 1), statement)
    }

    func statement(_ id: UInt32) throws(StatementFailure) -> EmulatedStatement {
        guard let index = Int(exactly: id), index < statements.count, let statement = statements[index] else {
            throw .noStatement
        }
        return statement
    }

    func finalize(_ id: UInt32) throws(StatementFailure) {
        _ = try statement(id)
        statements[Int(id)] = nil
    }

    /// The first statement of a text; `nil` if it has none. Returns the rest of the text in `rest`.
    private func firstStatement(
        of sql: String, rest: UnsafeMutablePointer<String>? = nil
    ) throws(StatementFailure) -> EmulatedStatement? {
        var prepared: OpaquePointer?
        let code = sql.withCString { text in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(pointer, text, -1, &prepared, &tail)
            rest?.pointee = tail.map { String(cString: $0) } ?? ""
            return code
        }
        guard code == SQLITE_OK else { throw StatementFailure(pointer) }
        return prepared.map { EmulatedStatement(owning: $0, sql: sql) }
    }

    // MARK: Execution

    /// Runs a statement that returns no rows.
    func execute(_ statement: EmulatedStatement, _ arguments: [WireValue]) throws -> Response {
        try statement.bind(arguments)
        defer { statement.reset() }
        if try statement.step() {
            // The reset would commit a statement with RETURNING.
            do {
                try refusingCommits(statement.sql) { statement.reset() }
            } catch let abort as NodeAbort {
                throw NodeAbort(reason: abort.reason, answer: .row)
            }
            throw StatementFailure.row
        }
        return .result(
            lastInsertedRowID: sqlite3_last_insert_rowid(pointer), changesCount: UInt64(sqlite3_changes(pointer)))
    }

    /// Runs the statements of a text. The arguments are those of the first one.
    func execute(_ sql: String, _ arguments: [WireValue]) throws -> Response {
        var response = Response.result(lastInsertedRowID: 0, changesCount: 0)
        var arguments = arguments
        var text = sql
        var rest = ""
        while let statement = try firstStatement(of: text, rest: &rest) {
            response = try execute(statement, arguments)
            arguments = []
            text = rest
        }
        return response
    }

    /// Begins a query.
    func query(_ statement: EmulatedStatement, _ arguments: [WireValue]) throws(StatementFailure) -> PageWriter {
        guard statement.columnCount > 0 else { throw .noColumns }
        try statement.bind(arguments)
        return PageWriter(statement)
    }

    /// Begins a query of the first statement of a text.
    func query(_ sql: String, _ arguments: [WireValue]) throws(StatementFailure) -> PageWriter {
        guard let statement = try firstStatement(of: sql) else { throw .emptyStatement }
        return try query(statement, arguments)
    }

    /// The next page of a query. The query has ended if it throws, or if no more pages follow.
    func nextPage(of query: PageWriter) throws -> (body: [UInt8], hasMore: Bool) {
        try refusingCommits(query.statement.sql) {
            do {
                let page = try query.nextPage()
                if !page.hasMore { query.statement.reset() }
                return page
            } catch {
                query.statement.reset()
                throw error
            }
        }
    }

    /// Ends a query before its last page, and undoes its writes outside a transaction.
    func end(_ query: PageWriter) {
        refusesCommits = true
        query.statement.reset()
        refusesCommits = false
    }
}

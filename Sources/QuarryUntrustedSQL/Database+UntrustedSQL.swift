import Quarry
public import QuarryCore

extension Database {
    /// Runs `body`, whose SQL comes from users: it can read what the policy allows, and do nothing else.
    ///
    /// ```swift
    /// var policy = UntrustedSQLPolicy()
    /// policy.allowTable("player")
    /// let rows = try dbPool.read { db in
    ///     try db.withUntrustedSQL(policy) { try Row.fetchAll(db, sql: sqlOfUser) }
    /// }
    /// ```
    ///
    /// SQLite asks the policy for each table, column and function of a statement, also of views, subqueries and common
    /// table expressions: <https://www.sqlite.org/c3ref/set_authorizer.html>. A statement that isn't allowed throws
    /// `SQLITE_AUTH`, "reading team.secret isn't allowed". The policy's limits and timeout apply.
    ///
    /// The policy holds for all statements of `body`, also the program's own. It ends with `body`, whatever that does:
    /// cursors of `body` end, and its statements can't run again. Outside a transaction, `body` runs in one. SQLite
    /// prepares the connection's other statements again afterwards.
    ///
    /// `DatabaseReader.fetchUntrusted` also limits the rows and bytes of the result.
    ///
    /// - parameter policy: what the SQL may do.
    /// - throws: the error of `body`; `SQLITE_AUTH`, `SQLITE_TOOBIG`, `SQLITE_INTERRUPT`; `SQLITE_MISUSE` inside
    ///   `withUntrustedSQL`, or for a policy with a wrong number.
    public func withUntrustedSQL<T>(_ policy: UntrustedSQLPolicy, _ body: () throws -> T) throws -> T {
        try checkAccess()
        try checkIsLocal("SQL from users, whose limits a node doesn't keep")
        try policy.check()
        guard !hasStatementPolicy else { throw DatabaseError.misuse("withUntrustedSQL can't be nested") }
        let deadline = AccessDeadline(.untrustedSQL, after: policy.timeout, now: clock.now)
        return try readOnly {
            // The schema can't change while the policy's knowledge of it is used, and isn't read again under its
            // limits.
            guard !isInsideTransaction else { return try run(policy, until: deadline, body) }
            try beginRead(pinned: true)
            return try finishRead { try run(policy, until: deadline, body) }
        }
    }

    private func run<T>(_ policy: UntrustedSQLPolicy, until deadline: AccessDeadline, _ body: () throws -> T) throws
        -> T
    {
        let rules = try withoutRecordingRegion {
            let rules = UntrustedSQLRules(policy: policy, catalog: try readSchemaCatalog())
            try connect(rules)
            return rules
        }
        let guardian = UntrustedSQLGuard(rules)
        return try withStatements(
            under: guardian, limits: policy.limits, until: deadline, authorizing: { guardian.answer(to: $0) }, body)
    }

    /// The number of calls of functions in a statement's program: <https://www.sqlite.org/opcode.html#Function>.
    ///
    /// SQLite doesn't ask the authorizer about each: it copies the expressions of a subquery that is merged into the
    /// outer query.
    fileprivate func functionCallCount(ofSQL sql: String) throws(LookupFailure) -> Int {
        let explain = "EXPLAIN "
        // The policy's limits are those of the statement alone: its names of operations may be longer than its values.
        let limits = [Limit.sqlLength, .length].map { limit in
            let policy = ConnectionCalls.limit(pointer, limit.rawValue, -1)
            let needed = max(Int(policy) + explain.utf8.count, 1_000)
            _ = ConnectionCalls.limit(pointer, limit.rawValue, CInt(clamping: needed))
            return (limit, policy)
        }
        defer { for (limit, policy) in limits { _ = ConnectionCalls.limit(pointer, limit.rawValue, policy) } }
        return try lookUp(explain + sql) { operation in
            ["Function", "PureFunc"].contains(StatementColumns.string(operation, 1)) ? 1 : 0
        }.reduce(0, +)
    }

    /// Lets SQLite connect to the virtual tables that may be used. It prepares statements for that which no policy
    /// allows.
    private func connect(_ rules: UntrustedSQLRules) throws {
        for table in rules.virtualTables {
            let schema = table.schema.quotedDatabaseIdentifier
            _ = try? makeStatement(sql: "SELECT 1 FROM \(schema).\(table.name.quotedDatabaseIdentifier)")
        }
        for function in rules.tableFunctions {
            _ = try? makeStatement(sql: "SELECT 1 FROM \(function.quotedDatabaseIdentifier)")
        }
    }
}

/// Applies a policy to the statements of a connection.
private final class UntrustedSQLGuard: StatementPolicy {
    private let rules: UntrustedSQLRules

    /// The first operation of the statement being prepared that isn't allowed, in words.
    private var refusal: String?

    private var allowsAll = false

    private struct WeakStatement {
        weak var statement: Statement?
    }

    private var statements: [WeakStatement] = []
    private var nextPruning = 64

    init(_ rules: UntrustedSQLRules) { self.rules = rules }

    func answer(to authorization: HookSlots.Authorization) -> HookSlots.AuthorizationAnswer {
        guard !allowsAll else { return .allow }
        let source = authorization.trigger.map { String(cString: $0) }
        guard let reason = rules.refusal(of: authorization.request, in: source) else { return .allow }
        refusal = refusal ?? reason
        return .deny
    }

    func willPrepare(_ text: UnsafeBufferPointer<UInt8>, from start: Int, sql: String) throws(DatabaseError) {
        refusal = nil
        let rest = Substring(Substring(sql).utf8.dropFirst(start)).utf8.skippingSpaceAndComments
        guard !rest.isEmpty else { return }
        switch rest.firstWord {
        case "SELECT", "WITH", "VALUES": break
        case let word: throw error("\(word ?? "this") isn't allowed: only SELECT is", sql)
        }
        if let keyword = rest.firstUnreportedJoin {
            throw error("\(keyword) isn't allowed: SQLite doesn't tell which columns are compared", sql)
        }
    }

    func didPrepare(_ statement: Statement, _ database: Database) throws {
        if statements.count == nextPruning {
            statements.removeAll { $0.statement == nil }
            nextPruning = 2 * statements.count + 64
        }
        statements.append(WeakStatement(statement: statement))
        let count: Int
        do throws(LookupFailure) {
            count = try database.functionCallCount(ofSQL: statement.sql)
        } catch {
            // The timeout, or a cancelled task, may have ended it.
            throw database.error(error.code, sql: statement.sql)
        }
        let maximum = rules.policy.maximumFunctionCallCount
        guard count > maximum else { return }
        throw DatabaseError(
            resultCode: .SQLITE_TOOBIG,
            message: """
                the statement has \(count) calls of functions, more than \(maximum) \
                (UntrustedSQLPolicy.maximumFunctionCallCount)
                """, sql: statement.sql)
    }

    func takeRefusal(_ code: ResultCode) -> DatabaseError? {
        if let refusal = refusal.take() { return error(refusal, nil) }
        guard code.primaryResultCode == .SQLITE_NOMEM else { return nil }
        return DatabaseError(
            resultCode: .SQLITE_NOMEM,
            message: """
                out of memory, or the statement needs more than \(rules.policy.maximumInstructionCount) instructions \
                (UntrustedSQLPolicy.maximumInstructionCount)
                """)
    }

    func withoutRefusals<T>(_ body: () throws -> T) rethrows -> T {
        let allowedAll = allowsAll
        allowsAll = true
        defer { allowsAll = allowedAll }
        return try body()
    }

    /// The statements that were prepared can't run any more.
    func retireStatements() {
        for statement in statements { statement.statement?.retire() }
    }

    private func error(_ message: String, _ sql: String?) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_AUTH, message: message, sql: sql)
    }
}

extension Database {
    /// Whether a policy decides which statements may be prepared.
    package var hasStatementPolicy: Bool { watchers.statementPolicy != nil }

    /// Runs `body` while a policy decides which statements may be prepared. Its statements end with it.
    ///
    /// - parameter limits: SQLite's limits meanwhile, unless those of the connection are lower.
    /// - parameter deadline: the time at which the statements of `body` fail.
    /// - parameter authorize: answers to SQLite for each table, column and function of a statement.
    package func withStatements<T>(
        under policy: any StatementPolicy, limits: [(limit: Limit, value: Int)], until deadline: AccessDeadline,
        authorizing authorize: @escaping (HookSlots.Authorization) -> HookSlots.AuthorizationAnswer,
        _ body: () throws -> T
    ) throws -> T {
        let outerStatements = Set(running.statements.newestFirst.map { ObjectIdentifier($0) })
        let outerCache = statementCache
        statementCache = StatementCache(capacity: options.statementCacheCapacity)
        watchers.statementPolicy = policy
        let client = hooks.onAuthorization(authorize)
        // The program's statements have to pass, too.
        hooks.expireStatementsUncounted()
        let outerLimits = limits.map { limit, value in
            let outer = ConnectionCalls.limit(pointer, limit.rawValue, -1)
            _ = ConnectionCalls.limit(pointer, limit.rawValue, min(outer, CInt(clamping: value)))
            return (limit, outer)
        }
        defer {
            for statement in running.statements.newestFirst
            where !outerStatements.contains(ObjectIdentifier(statement)) { statement.stopExecution(self) }
            policy.retireStatements()
            if !lifetime.isClosed {
                for (limit, outer) in outerLimits { _ = ConnectionCalls.limit(pointer, limit.rawValue, outer) }
            }
            hooks.remove(client)
            watchers.statementPolicy = nil
            // Released when the cache is no longer being changed.
            let innerCache = statementCache
            statementCache = outerCache
            _ = consume innerCache
        }
        return try ending(by: deadline) {
            // A thousand steps may call a slow function a hundred times.
            try hooks.checkingProgress(each: 20, body)
        }
    }
}

extension Statement {
    /// The statement can't run any more.
    package func retire() { activity.retire() }
}
